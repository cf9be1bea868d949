import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { runSonde, type SondeProcess, startSonde, temporaryDir, until } from '../sonde-process.ts'

/** An address of this machine that is not the one of the page. */
const STRANGER = '127.0.0.2'
const ANSWER_LIMIT_MS = 60_000

/** What a request of these bytes is answered, all of it: status, head and body. */
async function tell(host: string, port: number, bytes: string): Promise<string> {
  const signal = AbortSignal.timeout(ANSWER_LIMIT_MS)
  const socket = connect({ host, port, signal })
  let answer = ''
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString('latin1')
  })
  // A server that refuses may reset the connection.
  socket.on('error', () => undefined)
  socket.write(bytes)
  await once(socket, 'close')
  assert.ok(!signal.aborted, `not within ${ANSWER_LIMIT_MS} ms: the end of the connection`)
  return answer
}

function ask(
  host: string,
  port: number,
  start: string,
  headers: readonly string[] = ['host: gpu-17'],
): Promise<string> {
  return tell(host, port, `${[`${start} HTTP/1.1`, ...headers, 'connection: close'].join('\r\n')}\r\n\r\n`)
}

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1])

async function freePort(): Promise<number> {
  const server = createServer().listen(0)
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/** A command that listens for scrapes, and the port of its page and of its scrapes. */
async function start(t: TestContext, command: readonly string[], listen: string, scrapePort: string) {
  const env = { PROMETHEUS_PORT: scrapePort }
  const sonde = await startSonde([...command, '--only-simulated', '--listen', listen], { env })
  t.after(() => sonde.stop('SIGKILL'))
  const told = Number(/ · metrics alone on port (\d+) of all addresses · /.exec(sonde.output())?.[1])
  return { sonde, own: Number(new URL(sonde.address).port), scrapes: told }
}

/** Everything but metrics and health is not there for a stranger, however the request is spelt. */
async function assertScrapesAlone({ address }: SondeProcess, hosts: readonly string[], port: number): Promise<void> {
  for (const host of hosts) {
    for (const start of ['GET /metrics', 'GET /metrics?x=/api/v1/node', 'HEAD /metrics', 'GET /healthz', 'GET /readyz'])
      assert.equal(statusOf(await ask(host, port, start)), 200, `${start} at ${host}`)
    for (const start of [
      'GET /',
      'GET /index.html',
      'GET /api/v1/node',
      'GET //api/v1/node',
      'GET /metrics/../api/v1/node',
      'GET /metrics/',
      'GET /metrics%2f..%2fapi/v1/node',
      'GET /metrics;/../api/v1/node',
      'GET /healthz/../api/v1/node',
      'GET /healthz%00/api',
      'GET /api/v1/node?/metrics',
      'GET /api/v1/stream',
      'GET /cset/all',
      `GET ${address}/api/v1/node`,
      'POST /metrics',
      'POST /api/v1/query',
      'PUT /healthz',
      'DELETE /api/v1/simulator/scenarios/1',
      'OPTIONS /metrics',
      'PROPFIND /api/v1/node',
    ]) {
      const answer = await ask(host, port, start)
      assert.equal(statusOf(answer), 404, `${start} at ${host}: ${answer}`)
      assert.doesNotMatch(answer, /allow:/i, 'which routes there are is not told')
    }
    // Nor do headers help, which say that the request came to the page.
    const { host: named } = new URL(address)
    for (const headers of [
      [`host: ${named}`],
      ['host: localhost', 'x-forwarded-host: localhost', 'x-real-ip: 127.0.0.1'],
    ])
      assert.equal(statusOf(await ask(host, port, 'GET /api/v1/node', headers)), 404)
    assert.equal(statusOf(await ask(host, port, 'GET /metrics', ['host: a', 'host: b'])), 400)
    assert.equal(
      statusOf(await ask(host, port, 'GET /metrics', ['host: evil.example', 'sec-fetch-site: cross-site'])),
      403,
    )
    assert.equal(statusOf(await ask(host, port, 'CONNECT 127.0.0.1:22')) || 0, 0)
  }
}

test('where scrapes share the port of the page, the page stays on its address', async (t) => {
  const free = await freePort()
  const { path, remove } = temporaryDir()
  t.after(remove)
  const { sonde, own, scrapes } = await start(t, ['up', '--data-dir', path], `127.0.0.1:${free}`, `${free}`)
  assert.deepEqual([own, scrapes], [free, free])
  for (const start of ['GET /', 'GET /api/v1/node', 'GET /metrics', 'GET /healthz'])
    assert.equal(statusOf(await ask('127.0.0.1', free, start, ['host: localhost'])), 200, start)
  await assertScrapesAlone(sonde, [STRANGER, '::1'], free)
  const { code, output } = await runSonde(['agent', '--listen', ':0'], { env: { PROMETHEUS_PORT: `${free}` } })
  assert.equal(code, 1, output)
  assert.match(
    output,
    /^sonde: \S+:\d+ is in use by another program; choose another address with export\.prometheus\.scrape_port\n$/,
  )
})

test('a page that is open to all at the port of scrapes is not said to be closed', async (t) => {
  const free = await freePort()
  const { sonde, scrapes } = await start(t, ['agent'], `0.0.0.0:${free}`, `${free}`)
  assert.ok(Number.isNaN(scrapes), sonde.output())
  assert.equal(statusOf(await ask(STRANGER, free, 'GET /api/v1/node', [`host: ${STRANGER}`])), 200)
})

test('scrapes have a port of their own, which has no page on any address', async (t) => {
  const { sonde, own, scrapes } = await start(t, ['agent'], '127.0.0.1:0', '0')
  assert.notEqual(own, scrapes)
  assert.equal(statusOf(await ask('127.0.0.1', own, 'GET /api/v1/node', ['host: localhost'])), 200)
  await assertScrapesAlone(sonde, ['127.0.0.1', STRANGER, '::1'], scrapes)
  const refused = connect(own, STRANGER)
  await assert.rejects(once(refused, 'connect'), { code: 'ECONNREFUSED' }, 'the page is on its address alone')
  await until('what was refused to be counted', ANSWER_LIMIT_MS, async () =>
    /_http_refused_requests_total\{.*reason="scrape_port".*\} 0*[1-9]/.test(
      await ask(STRANGER, scrapes, 'GET /metrics'),
    ),
  )
  assert.equal(await sonde.stop(), 0, sonde.output())
})

test('who holds all connections at the port of scrapes keeps nobody out', async (t) => {
  const { path, remove } = temporaryDir()
  t.after(remove)
  writeFileSync(join(path, 'sonde.yaml'), 'limits: { connections: 4 }')
  const { scrapes } = await start(t, ['agent', '--config', join(path, 'sonde.yaml')], '127.0.0.1:0', '0')
  const slow = tell(STRANGER, scrapes, 'GET /metrics HTTP/1.1\r\nhost: a\r\n')
  const held = Array.from({ length: 3 }, () => connect(scrapes, STRANGER).on('error', () => undefined))
  t.after(() => {
    for (const socket of held) socket.destroy()
  })
  await Promise.all(held.map((socket) => once(socket, 'connect')))
  assert.equal(statusOf(await ask(STRANGER, scrapes, 'GET /healthz')), 200, 'with one more, there is still room')
  assert.equal(await slow, '', 'the connection that asked for nothing for longest was closed')
})

test('who asks too slowly at the port of scrapes is sent away', async (t) => {
  const { scrapes } = await start(t, ['agent'], '127.0.0.1:0', '0')
  // The limits of a request and of silence are the same.
  assert.match(await tell(STRANGER, scrapes, 'GET /metrics HTTP/1.1\r\nhost: a\r\n'), /^(?:HTTP\/1\.1 408 .*)?$/s)
})
