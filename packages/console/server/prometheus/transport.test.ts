import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { SondeError } from '@sonde/sdk'
import { PrometheusHistory } from './prometheus-history.ts'
import { type Asked, Transport } from './transport.ts'

async function serving(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

const ASKED: Asked = { path: '/api/v1/query', form: { query: 'up' }, limitMs: 60_000, depthOfList: 3 }
const EMPTY = '{"status":"success","data":{"resultType":"matrix","result":[]}}'

async function faultOf(asking: Promise<unknown>): Promise<SondeError> {
  const error = await asking.then(
    () => assert.fail('it was answered'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof SondeError, String(error))
  return error
}

const ANSWERS: readonly [what: string, answer: RequestListener, code: string, says: RegExp][] = [
  ['a redirect', (_q, r) => r.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(), 'QRY_BACKEND', /redirect/],
  ['a page of a proxy', (_q, r) => r.end('<html>'), 'QRY_BACKEND', /not as a Prometheus/],
  ['JSON of something else', (_q, r) => r.end('{"ok":true}'), 'QRY_BACKEND', /not as a Prometheus/],
  ['null', (_q, r) => r.end('null'), 'QRY_BACKEND', /not as a Prometheus/],
  ['an answer that breaks off', (_q, r) => r.end(EMPTY.slice(0, -3)), 'QRY_BACKEND', /not as a Prometheus/],
  [
    'a connection that is cut',
    (_q, r) => r.write(EMPTY.slice(0, 9), () => r.destroy()),
    'QRY_BACKEND',
    /cannot be asked/,
  ],
  ['no credentials', (_q, r) => r.writeHead(401).end(), 'QRY_BACKEND', /refuses \(401\)/],
  ['a fault of its own', (_q, r) => r.writeHead(500).end('x'.repeat(1 << 20)), 'QRY_BACKEND', /answers with 500/],
  [
    'too many samples',
    (_q, r) => r.writeHead(422).end('{"error":"query processing would load too many samples"}'),
    'QRY_BACKEND_LIMIT',
    /too many samples/,
  ],
  [
    'its own time limit',
    (_q, r) => r.writeHead(503).end('{"errorType":"timeout","error":"query timed out"}'),
    'QRY_BACKEND_TIMEOUT',
    /timed out/,
  ],
]
for (const [what, answer, code, says] of ANSWERS) {
  test(`${what} is ${code}`, async (t) => {
    const transport = new Transport(`http://${await serving(t, answer)}`)
    const error = await faultOf(transport.ask(ASKED, () => undefined))
    assert.equal(error.code, code)
    assert.match(error.message, says)
  })
}

test('an answer without end is given up, and not kept meanwhile', async (t) => {
  const element = `{"metric":{},"values":[[1,"${'1'.repeat(50_000)}"]]},`.repeat(20)
  const host = await serving(t, (_request, answer) => {
    answer.write('{"status":"success","data":{"result":[')
    const more = () => {
      while (!answer.destroyed && answer.write(element));
      if (!answer.destroyed) answer.once('drain', more)
    }
    more()
  })
  const error = await faultOf(new Transport(`http://${host}`).ask(ASKED, () => undefined))
  assert.equal(error.code, 'QRY_BACKEND_LIMIT')
})

test('a server that does not answer is given up in time', async (t) => {
  const transport = new Transport(`http://${await serving(t, () => undefined)}`)
  assert.equal((await faultOf(transport.ask({ ...ASKED, limitMs: 20 }, () => undefined))).code, 'QRY_BACKEND_TIMEOUT')
})

test('a server that failed three times is not asked, and the answer says when to come back', async (t) => {
  let asked = 0
  const host = await serving(t, (_request, answer) => {
    asked++
    answer.writeHead(500).end()
  })
  const transport = new Transport(`http://${host}`)
  for (let i = 0; i < 3; i++) await faultOf(transport.ask(ASKED, () => undefined))
  const error = await faultOf(transport.ask(ASKED, () => undefined))
  assert.equal(error.code, 'QRY_BACKEND_OPEN')
  assert.equal(error.retryAfterS, 30)
  assert.equal(asked, 3)
})

test('a question that a server does not take is no failure of the server', async (t) => {
  const host = await serving(t, (_request, answer) => answer.writeHead(400).end('{"error":"parse error"}'))
  const transport = new Transport(`http://${host}`)
  for (let i = 0; i < 5; i++) assert.equal((await faultOf(transport.ask(ASKED, () => undefined))).code, 'QRY_BACKEND')
})

test('name and password are sent, and stand in no message', async (t) => {
  const seen: (string | undefined)[] = []
  const host = await serving(t, ({ headers }, answer) => {
    seen.push(headers.authorization)
    answer.writeHead(500).end()
  })
  const transport = new Transport(`http://me:s%3Acret%25@${host}/prom/`)
  const { message } = await faultOf(transport.ask(ASKED, () => undefined))
  assert.equal(seen[0], `Basic ${Buffer.from('me:s:cret%').toString('base64')}`)
  assert.equal(transport.address, `http://${host}/prom`)
  assert.doesNotMatch(message, /cret|me:/)
  const error = await faultOf(Promise.resolve().then(() => new Transport('ftp://me:secret@x')))
  assert.equal(error.code, 'QRY_BACKEND_URL')
  assert.doesNotMatch(error.message, /secret/)
})

test('all questions of a request are one request to the server, and so are those of many askers', async (t) => {
  const seen: string[] = []
  const host = await serving(t, ({ url = '' }, answer) => {
    seen.push(url)
    answer.end(url.startsWith('/api/v1/metadata') ? '{"status":"success","data":{}}' : EMPTY)
  })
  const history = new PrometheusHistory({ url: `http://${host}`, intervalMs: 15_000 })
  const queries = Array.from({ length: 36 }, (_, i) => {
    const fn = (['last', 'avg', 'rate'] as const)[i % 3] ?? 'last'
    return { metric: `m${i}`, function: fn, matchers: [], by: ['service'], aggregate: 'avg' as const }
  })
  const request = { fromMs: 0, toMs: 600_000, stepMs: 60_000, queries }
  await Promise.all(Array.from({ length: 20 }, () => history.query(request)))
  // What the server tells of its metrics, its simulated series and its agents is asked for once.
  assert.deepEqual(seen.sort(), ['/api/v1/metadata', '/api/v1/query', '/api/v1/query', '/api/v1/query_range'])
  await history.query({ ...request, toMs: 660_000 })
  assert.equal(seen.length, 5, 'what the server tells is kept')
})
