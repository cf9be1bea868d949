import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { createHmac, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { DtbDecoder, openDtb, type ReadRecord, readRecord, viewsOf } from '@sonde/sdk'
import { createApiClient } from '@sonde/sdk/client'
import { Webhook } from 'standardwebhooks'
import { FlowCollector } from '../packages/sdk/test/flow-collector.ts'
import { numberOf as flowNumber, textOf } from '../packages/sdk/test/flow-decoder.ts'
import { HttpPeer } from '../packages/sdk/test/http-peer.ts'
import { startSonde, temporaryDir, until } from '../test/sonde-process.ts'

/** Runs an example, or `--eval` and code, as a user would; it ends with the test. */
function run(
  t: TestContext,
  name: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): { child: ChildProcess; line: Promise<string>; lines: Promise<string[]> } {
  const child = spawn(
    process.execPath,
    ['--conditions=source', '--disable-warning=ExperimentalWarning', name, ...args],
    { cwd: import.meta.dirname, stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, PORT: '0', ...env } },
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
  assert.match(text, /^# HELP port_temperature_celsius Temperature of the module$/m)
})

test('metrics-api shows counters, gauges and histograms of two contexts', async (t) => {
  const { line } = run(t, 'metrics-api.ts')
  const text = await (await fetch(await line)).text()
  const samples = new Map(
    [...text.matchAll(/^([^#\s]\S*) 0*(\d.*)$/gm)].map(([, series = '', value = '']) => [series, value]),
  )
  const own = 'source="example-host",tag="workers"'
  const letters = (pool: string) => samples.get(`jobs_total{queue="letters",priority="high",pool="${pool}",${own}}`)
  assert.deepEqual([letters('a'), letters('b')], ['1000', '5'])
  assert.equal(samples.get(`jobs_waiting{queue="letters",priority="high",pool="a",${own}}`), '12')
  assert.equal(samples.get(`sent_bytes_total{pool="a",${own}}`), '18446744073709551615')
  const duration = (sample: string) => samples.get(`job_duration_seconds_${sample}`)
  const labels = `queue="letters",pool="a",${own}`
  assert.deepEqual(
    ['0.01', '0.1', '1.0', '10.0', '+Inf'].map((edge) => duration(`bucket{${labels},le="${edge}"}`)),
    ['5', '50', '500', '1000', '1000'],
  )
  assert.equal(duration(`count{${labels}}`), '1000')
  assert.ok(Math.abs(Number(duration(`sum{${labels}}`)) - 1001) < 1e-9)
})

test('export-custom-schema shows its newest records, and its files hold all of both sources', async (t) => {
  const { path, remove } = temporaryDir()
  t.after(remove)
  const { line } = run(t, 'export-custom-schema.ts', [path])
  const text = await (await fetch(await line)).text()
  for (const [depth, site] of ['east', 'west'].entries()) {
    const labels = `name="a to b",source="example-host",tag="${site}"`
    assert.match(text, new RegExp(`^flow_sent_bytes_total\\{${labels}\\} 0*1500000$`, 'm'))
    assert.match(text, new RegExp(`^flow_received_bytes_total\\{${labels}\\} 9223372036854776808$`, 'm'))
    assert.match(text, new RegExp(`^flow_queue_depth\\{${labels},index="0"\\} ${depth}$`, 'm'))
    const records = globSync(`${path}/*/*/example-host/${site}*.bin`).flatMap(recordsOf)
    const flows = records.filter(({ name }) => name !== undefined)
    assert.deepEqual(
      flows.map(({ note }) => note),
      Array.from({ length: 1000 }, (_, i) => `iteration ${i + 1}`),
    )
    assert.deepEqual(flows[6]?.sent, { bytes_total: 10_500n, packets_total: 7n })
    assert.deepEqual(flows[6]?.queue_depth, [depth, 1, 2, 3])
    const steps = records.filter(({ event_number }) => event_number !== undefined)
    assert.deepEqual(
      steps.map(({ event_number, seconds }) => [event_number, seconds]),
      [
        [0, 0],
        [-1, 0.5],
        [-2, 1],
      ],
    )
  }
})

/** What a training prints, and a line of nccl-tests. */
const TRAINING = `loading
step 11 loss 2.40 time 790 ms
step 12 loss 2.31 time 0.812 s
     8388608       2097152     float     sum      -1    90.33   92.87  185.73      0    90.12   93.08  186.16      0
`

test('app-over-ipc shows its records in the agent, and metrics-client reads the numbers of the agent', async (t) => {
  const { path, remove } = temporaryDir()
  t.after(remove)
  const env = { SONDE_SERVICE_ENABLED: 'true', SONDE_SERVICE_SOCKETS_DIR: path }
  const agent = await startSonde(['agent'], { env })
  t.after(() => agent.stop())
  const { child, line } = run(t, 'app-over-ipc.ts', [path])
  assert.match(await line, /^acknowledged \(memory\), through (shared memory|the socket)$/)
  const shown = async () => (await fetch(`${agent.address}/metrics`)).text()
  const text = await shown()
  assert.match(text, /^oven_temperature_celsius\{name="left".*bakery="north".*\} 180\.5$/m)
  assert.match(text, /^loaves_total\{kind="rye".*bakery="north".*\} 0*2$/m)
  const client = createApiClient({ baseUrl: agent.address ?? '' })
  const rxBytes = { metric: 'netdev_rx_bytes_total', function: 'rate', by: [] } as const
  // An agent that has just started has no rate for the first step.
  await until('a rate', 20_000, async () => {
    const toMs = Date.now()
    const { results } = await client.query({ fromMs: toMs - 60_000, toMs, stepMs: 5000, queries: [rxBytes] })
    return results[0]?.series[0]?.values.some((value) => value !== null) === true
  })
  const reader = run(t, 'metrics-client.ts', [agent.address ?? ''])
  const [node, points, ...steps] = await reader.lines
  assert.match(node ?? '', /^\S+: no GPU, no NIC$/)
  assert.match(points ?? '', /^1[123] points; a gap is null: .*\d/)
  assert.deepEqual([steps.length, steps.every((step) => / [12] points$/.test(step))], [2, true], steps.join())
  const training = run(t, 'nccl-steps/nccl-steps.ts', [path], { JOB: 'llm' })
  training.child.stdin?.write(TRAINING)
  await until('the steps', 10_000, async () => {
    const steps = await shown()
    return (
      /^training_step_duration_seconds\{.*job="llm".*\} 0\.812$/m.test(steps) &&
      /^nccl_test_bus_bytes_per_second\{.*size="8388608".*\} (1\.8573e\+?11|185730000000)/m.test(steps)
    )
  })
  training.child.stdin?.end()
  assert.deepEqual(await training.lines, TRAINING.trimEnd().split('\n'), 'every line is passed on')
  child.kill('SIGTERM')
  const [code] = await once(child, 'exit')
  assert.equal(code, 0)
  await until('its series to leave', 10_000, async () => !/^loaves_total/m.test(await shown()))
})

test('app-over-ipc says where it looked for an agent, and goes on without one', async (t) => {
  const { path, remove } = temporaryDir()
  t.after(remove)
  const { child, line } = run(t, 'app-over-ipc.ts', [path])
  assert.match(await line, new RegExp(path))
  assert.equal(child.exitCode, null)
})

test('traceback.yaml opens events of a simulated NIC and of an oven that an application reports', async (t) => {
  const { path, remove } = temporaryDir()
  t.after(remove)
  const env = {
    SONDE_SERVICE_ENABLED: 'true',
    SONDE_SERVICE_SOCKETS_DIR: path,
    SONDE_TRACEBACK_RULES: `${import.meta.dirname}/traceback-rules.json`,
    SONDE_TRACEBACK_DIR: `${path}/events`,
  }
  const config = `${import.meta.dirname}/traceback.yaml`
  const simulated = ['--simulate=pcie-downtrain::0', '--only-simulated']
  const agent = await startSonde(['agent', '--config', config, ...simulated], { env })
  t.after(() => agent.stop())
  const incidents = async () =>
    (await fetch(`${agent.address}/api/v1/incidents?kind=event`)).json() as Promise<ListedIncidents>
  await until('the rules to watch', 10_000, async () => (await incidents()).traceback.watching.length === 2)
  // The program of the first page, with this agent's socket and a hotter oven.
  const [, program = ''] =
    /^```js\n(.*?)^```$/ms.exec(readFileSync(`${import.meta.dirname}/../README.md`, 'utf8')) ?? []
  const changes = { 'ipc: {}': `ipc: { socketsDir: ${JSON.stringify(path)} }`, '180 + 20': '240 + 20' }
  const bakery = Object.entries(changes).reduce((text, [given, used]) => {
    assert.ok(text.includes(given), text)
    return text.replace(given, used)
  }, program)
  run(t, '--input-type=module', ['--eval', bakery])
  const names = async () => new Set((await incidents()).incidents.map(({ rule }) => rule))
  await until('both events', 60_000, async () => (await names()).size === 2)
})

interface ListedIncidents {
  readonly traceback: { readonly watching: readonly object[] }
  readonly incidents: readonly { readonly rule: string }[]
}

/** Every record of a file. */
function recordsOf(path: string): ReadRecord[] {
  const records: ReadRecord[] = []
  const file = openDtb(path)
  const decoder = new DtbDecoder(file)
  for (let step = decoder.next(); step.kind !== 'stop'; step = decoder.next()) {
    if (step.kind !== 'records') continue
    const { type, bytes, count, symbols } = step.batch
    const views = viewsOf(bytes)
    for (let i = 0; i < count; i++) records.push(readRecord(type, views, i * type.layout.recordBytes, symbols))
  }
  file.close()
  return records
}

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
  assert.match(await line, /^rooms dropped 2 records \(2 retry_limit: fetch failed: .*ECONNREFUSED/)
  assert.equal(code, 1)
})

test('destinations gives each collector its part of the records', async (t) => {
  const [loads, labs] = [await HttpPeer.start(t), await HttpPeer.start(t)]
  const { lines } = run(t, 'destinations.ts', [loads.url, labs.url])
  assert.deepEqual(await lines, ['loads: 2 records arrived', 'labs: 1 records arrived'])
  const recordsOf = ({ bodies }: HttpPeer) =>
    bodies.flatMap((body) =>
      body
        .trim()
        .split('\n')
        .map((line) => Object.keys(JSON.parse(line).record)),
    )
  assert.deepEqual(recordsOf(loads), Array(2).fill(['time', 'name', 'load_ratio']))
  assert.deepEqual(recordsOf(labs), [['time', 'name', 'load_ratio', 'temperature_celsius']])
})

/** Checks the flows of `netflow-export`: 23 fields of 165 bytes with NetFlow v9. */
function assertSample({ records, decoder }: FlowCollector): void {
  assert.deepEqual(
    records.map(({ fields }) => [Number(flowNumber(fields.get(280))), Number(flowNumber(fields.get(11)))]),
    Array.from({ length: 1000 }, (_, i) => [i, 8000 + (i % 100)]),
  )
  for (const { fields, domain } of records) {
    assert.deepEqual([domain, fields.size], [111, 23])
    if (decoder.version === 9) assert.equal([...fields.values()].join('').length, 2 * 165)
    assert.deepEqual([fields.get(8), fields.get(15)], ['c0a87801', '85858585'])
    assert.equal(fields.get(28), `fe80${'0'.repeat(27)}2`)
    assert.equal(textOf(fields.get(96)), 'DOCA TELEMETRY NETFLOW EXAMPLE')
  }
  assert.deepEqual([decoder.sequenceErrors, decoder.unknownSets], [0, 0])
}

for (const protocol of ['v9', 'ipfix']) {
  test(`netflow-export sends the flows of the sample as ${protocol}`, async (t) => {
    const collector = await FlowCollector.start(t)
    const { line } = run(t, 'netflow-export.ts', ['127.0.0.1', `${collector.port}`, protocol])
    assert.equal(await line, '1000 flows sent to netflow')
    await until('all flows', 10_000, () => collector.records.length === 1000)
    assertSample(collector)
  })
}

test('netflow-export sends its flows through the agent of the node', async (t) => {
  const { path, remove } = temporaryDir()
  t.after(remove)
  const collector = await FlowCollector.start(t)
  const config = `${path}/sonde.yaml`
  writeFileSync(config, `export: { netflow: { port: ${collector.port}, domain_id: 111 } }\n`)
  const env = { SONDE_SERVICE_ENABLED: 'true', SONDE_SERVICE_SOCKETS_DIR: path, XDG_STATE_HOME: path }
  const agent = await startSonde(['agent', '--config', config], { env })
  t.after(() => agent.stop())
  const { line } = run(t, 'netflow-export.ts', ['--ipc', path])
  assert.equal(await line, '1000 flows sent to ipc')
  await until('all flows', 20_000, () => collector.records.length >= 1000)
  assertSample(collector)
})

test('the program in the README of the SDK shows its metrics', async (t) => {
  const readme = readFileSync(new URL('../packages/sdk/README.md', import.meta.url), 'utf8')
  const code = /^```js\n(.*?)^```/ms.exec(readme)?.[1] ?? ''
  const { line } = run(t, '--input-type=module', ['--eval', code])
  const text = await (await fetch(await line)).text()
  assert.match(text, /^queue_jobs_total\{name="mail"\} 0*1$/m)
  assert.match(text, /^queue_waiting\{name="mail"\} 0*3$/m)
})

test('webhook-receiver takes signed messages once, and refuses forged, changed and old ones', async (t) => {
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const key = randomBytes(32).toString('hex')
  const keys = { SECRETS: `whsec_${randomBytes(32).toString('base64')},${secret}`, SIGNING_KEYS: key }
  const { child, line, lines } = run(t, 'webhook-receiver.ts', [], keys)
  const url = await line
  const [id, body] = ['msg_1', JSON.stringify({ type: 'hint.opened', timestamp: 'now', data: { message: 'hot' } })]
  const send = async (changed: { body?: string; secret?: string; key?: string; agoS?: number } = {}) => {
    const nowS = Math.floor(Date.now() / 1000) - (changed.agoS ?? 0)
    const hmac = createHmac('sha256', Buffer.from(changed.key ?? key, 'hex'))
      .update(`${nowS}.${body}`)
      .digest('hex')
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(nowS),
      // The signatures are made by the library of Standard Webhooks, not by Sonde.
      'webhook-signature': new Webhook(changed.secret ?? secret).sign(id, new Date(nowS * 1000), body),
      'convox-signature': `t=${nowS},v1=${'0'.repeat(64)},v1=${hmac}`,
    }
    return (await fetch(url, { method: 'POST', headers, body: changed.body ?? body })).status
  }
  const other = randomBytes(32)
  const statuses = [
    await send(),
    await send(),
    await send({ body: `${body} ` }),
    await send({ secret: `whsec_${other.toString('base64')}` }),
    await send({ key: other.toString('hex') }),
    await send({ agoS: 301 }),
    await send({ agoS: -302 }),
    (await fetch(url, { method: 'POST', body })).status,
    (await fetch(url, { method: 'POST', body: 'x'.repeat(70_000) })).status,
  ]
  assert.deepEqual(statuses, [204, 204, 401, 401, 401, 401, 401, 401, 413])
  child.kill('SIGTERM')
  assert.deepEqual((await lines).slice(1), ['now hint.opened hot'])
})
