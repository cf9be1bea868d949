import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { get, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { assertStops, type SondeProcess, startSonde, temporaryDir, threadsOf, until } from '../sonde-process.ts'

async function startUp(t: TestContext): Promise<SondeProcess> {
  const dir = temporaryDir()
  const sonde = await startSonde(['up', '--data-dir', dir.path])
  t.after(async () => {
    await sonde.stop('SIGKILL')
    dir.remove()
  })
  return sonde
}

/** A live stream that was answered. */
async function openStream({ address }: SondeProcess): Promise<IncomingMessage> {
  const q = encodeURIComponent('{"queries":[{"metric":"netdev_rx_bytes_total"}]}')
  const asked = get(`${address}/api/v1/stream?q=${q}`, { agent: false }).on('error', () => undefined)
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  response.on('error', () => undefined).resume()
  return response
}

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  test(`${signal} ends it within 5 s while live streams are open`, async (t) => {
    const sonde = await startUp(t)
    const streams = await Promise.all(Array.from({ length: 5 }, () => openStream(sonde)))
    await assertStops(sonde, signal)
    for (const stream of streams) assert.ok(stream.closed || stream.destroyed || (await once(stream, 'close')))
  })
}

test('SIGTERM ends it within 5 s while a scraper does not read its answer', async (t) => {
  const sonde = await startUp(t)
  const { port } = new URL(sonde.address)
  const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined)
  await once(socket, 'connect')
  socket.pause()
  // Far more answers than the connection holds: the agent is stuck amid one of them.
  socket.write('GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(3000))
  t.after(() => socket.destroy())
  assert.equal((await fetch(`${sonde.address}/healthz`)).status, 200)
  await assertStops(sonde, 'SIGTERM')
})

test('SIGTERM lets an answer that is under way be read to its end', async (t) => {
  const sonde = await startUp(t)
  const body = '{"queries":[{"metric":"netdev_rx_bytes_total"}]}'
  const headers = { 'content-type': 'application/json', 'content-length': body.length, expect: '100-continue' }
  const asked = request(`${sonde.address}/api/v1/query`, { method: 'POST', agent: false, headers })
  asked.flushHeaders()
  await once(asked, 'continue')
  const ended = assertStops(sonde, 'SIGTERM')
  await until('new requests to be turned away', 60_000, () =>
    fetch(`${sonde.address}/healthz`).then(
      ({ ok }) => !ok,
      () => true,
    ),
  )
  asked.end(body)
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  assert.equal(answer.statusCode, 200)
  const chunks: Buffer[] = await answer.toArray()
  assert.match(Buffer.concat(chunks).toString(), /"results":\[.*\]\}$/s)
  await ended
})

test('SIGUSR1 opens no port for debuggers', async (t) => {
  const sonde = await startUp(t)
  assert.ok(!threadsOf(sonde.child.pid).some((name) => name.startsWith('SignalInspect')), 'a thread waits for SIGUSR1')
  sonde.child.kill('SIGUSR1')
  assert.equal((await fetch(`${sonde.address}/healthz`)).status, 200)
  await assertStops(sonde)
  assert.doesNotMatch(sonde.output(), /Debugger/)
})

test('the same signal from several sides is one', async (t) => {
  const sonde = await startUp(t)
  await openStream(sonde)
  for (let i = 0; i < 5; i++) sonde.child.kill('SIGINT')
  await assertStops(sonde, 'SIGINT')
})

test('the ready line is all of stdout, and every line of stderr is JSON', async (t) => {
  const dir = temporaryDir()
  t.after(() => dir.remove())
  const sonde = await startSonde(['up', '--data-dir', dir.path, '--log-level', 'trace', '--path.sysfs', dir.path])
  const lines = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const) {
    sonde.child[stream]?.on('data', (chunk: Buffer) => {
      lines[stream] += chunk.toString()
    })
  }
  await fetch(`${sonde.address}/api/v1/query?q={`)
  await fetch(`${sonde.address}/nothing`)
  await assertStops(sonde, 'SIGTERM')
  const all = sonde.output().trimEnd().split('\n')
  const ready = all.filter((line) => !line.startsWith('{'))
  assert.equal(ready.length, 1, all.join('\n'))
  assert.match(ready[0] ?? '', /^Sonde is ready on http:\/\/127\.0\.0\.1:\d+ · .*host \(\d+ CPUs\).* · history in \S+$/)
  assert.equal(lines.stdout, '', 'nothing comes on stdout after the ready line')
  for (const line of all.filter((one) => one.startsWith('{'))) {
    const { level, time } = JSON.parse(line) as { level: unknown; time: unknown }
    assert.equal(typeof level, 'number')
    assert.equal(typeof time, 'number')
  }
})

test('what the store could not write is told at the end, with how much it was and why', async (t) => {
  const dir = temporaryDir()
  t.after(dir.remove)
  // A folder where the file should be.
  mkdirSync(join(dir.path, 'store.db'))
  const sonde = await startSonde(['up', '--data-dir', dir.path, '--only-simulated', '--simulate-class=small'])
  t.after(() => sonde.stop('SIGKILL'))
  await assertStops(sonde)
  assert.match(
    sonde.output(),
    /^sonde: \d+ records \(\d+ kB\) not stored in .*store\.db: .*cannot be opened or written/m,
  )
})
