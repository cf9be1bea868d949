import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { HttpPeer } from '../packages/sdk/test/http-peer.ts'
import { temporaryDir } from '../test/sonde-process.ts'

/** Runs an example, or `--eval` and code, as a user would; it ends with the test. */
function run(
  t: TestContext,
  name: string,
  args: readonly string[] = [],
): { child: ChildProcess; line: Promise<string>; lines: Promise<string[]> } {
  const child = spawn(
    process.execPath,
    ['--conditions=source', '--disable-warning=ExperimentalWarning', name, ...args],
    { cwd: import.meta.dirname, stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, PORT: '0' } },
  )
  t.after(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  const reader = createInterface({ input: child.stdout })
  const line = once(reader, 'line').then(([text]) => String(text))
  const all: string[] = []
  reader.on('line', (text) => all.push(text))
  const lines = once(reader, 'close').then(() => all)
  return { child, line, lines }
}

test('report-records shows exact counters, and no value where one is absent', async (t) => {
  const { line } = run(t, 'report-records.ts')
  const text = await (await fetch(await line)).text()
  const shown = (metric: string) =>
    [...text.matchAll(new RegExp(`^${metric}\\{device="([^"]+)",node="n1"\\} (\\S+)`, 'gm'))].map(
      ([, device, value]) => [device, metric.endsWith('_total') ? BigInt(value ?? '') : Number(value)],
    )
  assert.deepEqual(shown('port_rx_bytes_total').sort(), [
    ['eth0', 18446744073709551615n],
    ['eth1', 7n],
    ['eth2', 1_500_000n],
  ])
  assert.deepEqual(shown('port_temperature_celsius'), [['eth0', 41.5]])
  assert.match(text, /^# HELP port_temperature_celsius Temperature of the module\..*the module has no sensor/m)
})

test('metrics-api shows counters, gauges and histograms of two contexts', async (t) => {
  const { line } = run(t, 'metrics-api.ts')
  const text = await (await fetch(await line)).text()
  const samples = new Map(
    [...text.matchAll(/^([^#\s]\S*) 0*(\d.*)$/gm)].map(([, series = '', value = '']) => [series, value]),
  )
  const letters = (pool: string) => samples.get(`jobs_total{queue="letters",priority="high",pool="${pool}"}`)
  assert.deepEqual([letters('a'), letters('b')], ['1000', '5'])
  assert.equal(samples.get('jobs_waiting{queue="letters",priority="high",pool="a"}'), '12')
  assert.equal(samples.get('sent_bytes_total{pool="a"}'), '18446744073709551615')
  const duration = (sample: string) => samples.get(`job_duration_seconds_${sample}`)
  const labels = 'queue="letters",pool="a"'
  assert.deepEqual(
    ['0.01', '0.1', '1.0', '10.0', '+Inf'].map((edge) => duration(`bucket{${labels},le="${edge}"}`)),
    ['5', '50', '500', '1000', '1000'],
  )
  assert.equal(duration(`count{${labels}}`), '1000')
  assert.ok(Math.abs(Number(duration(`sum{${labels}}`)) - 1001) < 1e-9)
})

test('opaque-events reads back from its files what it reported, of every length', async (t) => {
  const { path, remove } = temporaryDir()
  t.after(remove)
  const { child, lines } = run(t, 'opaque-events.ts', [path])
  const [code] = await once(child, 'exit')
  assert.deepEqual((await lines).sort(), [
    'camera 0 0 32736 bytes: a picture',
    'door 0 0 0 bytes: ""',
    'door 1 18446744073709551615 6 bytes: "opened"',
  ])
  assert.equal(code, 0)
})

test('push-records says that its records arrived', async (t) => {
  const peer = await HttpPeer.start(t)
  const { child, line } = run(t, 'push-records.ts', [peer.url])
  const [code] = await once(child, 'exit')
  assert.deepEqual([await line, code, peer.bodies], ['2 records arrived', 0, ['hall 21.5\ncellar 12\n']])
})

test('push-records says that nobody took them, and ends', async (t) => {
  const peer = await HttpPeer.start(t)
  await peer.behave('gone')
  const { child, line } = run(t, 'push-records.ts', [peer.url])
  const [code] = await once(child, 'exit')
  assert.match(await line, /^rooms dropped 2 records \(fetch failed: .*ECONNREFUSED/)
  assert.equal(code, 1)
})

test('the program in the README of the SDK shows its metrics', async (t) => {
  const readme = readFileSync(new URL('../packages/sdk/README.md', import.meta.url), 'utf8')
  const code = /^```js\n(.*?)^```/ms.exec(readme)?.[1] ?? ''
  const { line } = run(t, '--input-type=module', ['--eval', code])
  const text = await (await fetch(await line)).text()
  assert.match(text, /^queue_jobs_total\{name="mail"\} 0*1$/m)
  assert.match(text, /^queue_waiting\{name="mail"\} 0*3$/m)
})
