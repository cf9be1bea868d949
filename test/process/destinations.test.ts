import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, constants, existsSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Batch, chars, counter, createSchema, createSource, defineType, timestamp, wallNs } from '@sonde/sdk'
import { RawClient } from '../../packages/agent/test/raw-client.ts'
import { readFiles } from '../../packages/sdk/test/files-rig.ts'
import { HttpPeer } from '../../packages/sdk/test/http-peer.ts'
import { ask, metricsOf } from '../ask.ts'
import { assertStops, runSonde, startSonde, temporaryDir, until } from '../sonde-process.ts'

const LIMIT_MS = 30_000

interface Line {
  readonly type: string
  readonly source: string
  readonly record: Readonly<Record<string, unknown>>
}

const linesOf = ({ bodies }: HttpPeer): Line[] =>
  bodies.flatMap((body) => body.split('\n').flatMap((line): Line[] => (line === '' ? [] : [JSON.parse(line)])))

const unique = (names: Iterable<string>) => [...new Set(names)].sort()

function folder(t: TestContext): string {
  const { path, remove } = temporaryDir()
  t.after(remove)
  return path
}

function fileWith(t: TestContext, text: string): string {
  const file = join(folder(t), 'sonde.yaml')
  writeFileSync(file, text)
  return file
}

test('a destination that is configured twice gets its own columns and sources, and a set that changes is used', async (t) => {
  const [loads, rest] = [await HttpPeer.start(t), await HttpPeer.start(t)]
  const sets = folder(t)
  writeFileSync(join(sets, 'loads.fset'), '[host_load]\n^load1$\n')
  const file = fileWith(
    t,
    `data_sources:
  - { type: host, interval_ms: 100, parts: [load, cpu] }
  - { type: host, name: other, interval_ms: 100, parts: [load] }
export:
  prometheus: { fset_dir: ${sets} }
  jsonl:
    - { url: '${loads.url}', field_set: loads, sources: [host], linger_ms: 0 }
    - { name: rest, url: '${rest.url}', sources: ['!self', '!host'], tags: [counters], linger_ms: 0, field_set: ['[*]', '-load1'] }
`,
  )
  const sonde = await startSonde(['agent', '--config', file])
  t.after(() => sonde.stop('SIGKILL'))
  await until('both get records', LIMIT_MS, () => linesOf(loads).length > 2 && linesOf(rest).length > 2)
  assert.deepEqual(unique(linesOf(loads).map(({ type, source }) => `${source} ${type}`)), ['host host_load'])
  assert.deepEqual(unique(linesOf(loads).flatMap(({ record }) => Object.keys(record))), ['load1', 'time'])
  assert.deepEqual(unique(linesOf(rest).map(({ source }) => source)), ['other'])
  const others = unique(linesOf(rest).flatMap(({ record }) => Object.keys(record)))
  assert.ok(others.includes('load5') && !others.includes('load1'), others.join())

  writeFileSync(join(sets, 'loads.fset'), '[host_load]\n^load15$\n')
  await until('the new set is used', LIMIT_MS, () => 'load15' in (linesOf(loads).at(-1)?.record ?? {}))
  assert.deepEqual(Object.keys(linesOf(loads).at(-1)?.record ?? {}).sort(), ['load15', 'time'])

  await rest.behave('fails')
  const { sinks } = await until('the page says why', LIMIT_MS, async () => {
    const answer = await ask<{ sinks: { name: string; failing: string }[] }>(sonde, '/api/v1/sources')
    return answer.sinks.some(({ failing }) => failing !== '') && answer
  })
  assert.equal(sinks.find(({ name }) => name === 'rest')?.failing, 'HTTP 503 try again later')
  assert.equal(sinks.find(({ name }) => name === 'jsonl')?.failing, '')
  const down = /^sonde_sink_up\{sink="rest"\} 0/m
  await until('a metric says so', LIMIT_MS, async () => down.test(await metricsOf(sonde)))
  rest.refusal = 'field load5 is unknown here'
  await rest.behave('refuses')
  const said = `HTTP 400 ${rest.refusal}`
  await until('status and log have the words of the receiver', LIMIT_MS, async () => {
    const { sinks } = await ask<{ sinks: { name: string; causes: { rejected?: string } }[] }>(sonde, '/api/v1/sources')
    return sinks.find(({ name }) => name === 'rest')?.causes.rejected === said && sonde.output().includes(said)
  })
  const before = linesOf(loads).length
  await until('the other goes on', LIMIT_MS, () => linesOf(loads).length > before)
  await assertStops(sonde)
})

test('no secret of a destination is in a print-out, a log, a metric or the page', async (t) => {
  const peer = await HttpPeer.start(t)
  const port = new URL(peer.url).port
  const secrets = ['Bearer hush', 's3cret', 'k3y']
  const text = (url: string) => `data_sources: [{ type: host, parts: [load] }]
export:
  jsonl: { url: '${url}', username: me, password: s3cret, headers: { x-key: k3y }, linger_ms: 0, backoff_initial_ms: 10, backoff_max_ms: 10 }
`
  const file = fileWith(t, text(`http://127.0.0.1:${port}/records?token=s3cret`))
  const env = { SONDE_EXPORT_JSONL_HEADERS: 'x-scope=Bearer hush,x-key=k3y' }
  const hides = (where: string, shown: string) => {
    for (const secret of secrets) assert.ok(!shown.includes(secret), `${secret} is in ${where}: ${shown}`)
  }
  const sonde = await startSonde(['agent', '--config', file, '--log-level', 'trace'], { env })
  t.after(() => sonde.stop('SIGKILL'))
  await until('records arrive', LIMIT_MS, () => linesOf(peer).length > 0)
  assert.equal(peer.headers['x-scope'], 'Bearer hush')
  assert.equal(peer.headers.authorization, `Basic ${Buffer.from('me:s3cret').toString('base64')}`)
  await peer.behave('gone')
  const failing = /^sonde_sink_up\{sink="jsonl"\} 0/m
  await until('it fails', LIMIT_MS, async () => failing.test(await metricsOf(sonde)))
  hides('metrics', await metricsOf(sonde))
  hides('the page', JSON.stringify(await ask(sonde, '/api/v1/sources')))
  await assertStops(sonde)
  hides('the log', sonde.output())
  for (const command of ['config', 'check']) {
    const { output } = await runSonde(
      [command, '--config', file, ...(command === 'check' ? ['--listen', '127.0.0.1:0'] : [])],
      { env },
    )
    assert.match(output, /jsonl/)
    hides(command, output)
  }
  const wrong = fileWith(t, text('ftp://me:s3cret@there/?token=s3cret').replace('headers', 'header'))
  const { code, output } = await runSonde(['agent', '--config', wrong])
  assert.equal(code, 2)
  assert.match(output, /export\.jsonl\.header is an unknown key, .*did you mean headers\?/)
  hides('the refusal', output)
})

test('check connects nowhere, and says on demand whether somebody listens where a destination sends', async (t) => {
  const peer = await HttpPeer.start(t)
  const text = `data_sources: []\nstore: { enabled: false }\nexport: { jsonl: { url: '${peer.url}' } }\n`
  const plain = fileWith(t, text)
  const rowOf = async (file = plain, ...flags: string[]) => {
    const { code, output } = await runSonde(['check', '--config', file, '--listen', '127.0.0.1:0', ...flags])
    return {
      code,
      row: output
        .split('\n')
        .find((line) => line.startsWith('jsonl'))
        ?.replace(/ +/g, ' '),
    }
  }
  const configured = `jsonl configured sends to ${peer.url}; --try-destinations opens a connection`
  const tried = await rowOf(plain, '--try-destinations')
  assert.deepEqual(tried, { code: 0, row: `jsonl present ${peer.url} can be reached` })
  assert.equal(peer.connections, 1)
  assert.deepEqual(await rowOf(), { code: 0, row: configured })
  assert.deepEqual([peer.connections, peer.bodies, peer.headers], [1, [], {}], 'no request was sent')
  const filtered = await rowOf(fileWith(t, text.replace('url:', 'field_set: none, url:')))
  assert.equal(filtered.code, 1)
  assert.match(filtered.row ?? '', /^jsonl denied there is no field set "none"; no folder of field sets is set/)
  await peer.behave('gone')
  const { code, row } = await rowOf(plain, '--try-destinations')
  assert.equal(code, 1)
  assert.match(row ?? '', /^jsonl denied .* cannot be reached: connect ECONNREFUSED/)
  assert.deepEqual(await rowOf(), { code: 0, row: configured })
})

test('a variable gives a key of one destination, and is refused where the file has a list of them', async (t) => {
  const env = { SONDE_EXPORT_JSONL_URL: 'http://127.0.0.1:1/' }
  const one = await runSonde(['config'], { env })
  assert.match(one.output, /url: http:\/\/127\.0\.0\.1:1\/ +# SONDE_EXPORT_JSONL_URL/)
  const file = fileWith(t, "export: { jsonl: [{ url: 'http://127.0.0.1:2/' }] }\n")
  const { code, output } = await runSonde(['config', '--config', file], { env })
  assert.equal(code, 2)
  assert.match(output, /^sonde: SONDE_EXPORT_JSONL_URL: export\.jsonl\.url is given, and the file has a list there;/)
})

const job = defineType('job', 'A job', { time: timestamp(), steps_total: counter('u64') })

/** The bytes of a record of a job, as an application encodes it. */
function oneJob(steps: number): Buffer {
  let bytes = Buffer.alloc(0)
  const emit = (batch: Batch) => {
    bytes = Buffer.from(batch.bytes)
  }
  const source = createSource({ id: 'a', emit })
  source.report(job, { time: wallNs(), steps_total: steps })
  source.flush()
  return bytes
}

test('a page that a filter left out of a durable destination is not sent again after the agent was killed', async (t) => {
  const home = folder(t)
  const sockets = join(home, 'sockets')
  const file = fileWith(
    t,
    `data_sources: []
service: { enabled: true, sockets_dir: ${sockets}, dir: ${home} }
export:
  files:
    - { data_root: ${home}/all }
    - { name: few, data_root: ${home}/few, field_set: ['[netdev*]'] }
`,
  )
  const env = { SONDE_SERVICE_ENABLED: undefined }
  const first = await startSonde(['agent', '--config', file], { env })
  t.after(() => first.stop('SIGKILL'))
  const client = await RawClient.enter(sockets)
  const identity = await client.identity
  client.announce(job)
  for (const sequence of [1, 2, 3]) client.page(sequence, 1, oneJob(sequence))
  await client.heard('ack', ({ sequence }) => sequence === 3n)
  for (const name of ['all/.pages-files', 'few/.pages-few'])
    await until(`${name} is written`, LIMIT_MS, () => existsSync(join(home, name)))
  await first.stop('SIGKILL')

  const second = await startSonde(['agent', '--config', file], { env })
  t.after(() => second.stop('SIGKILL'))
  const again = await RawClient.enter(sockets, identity)
  assert.equal((await again.heard('welcome')).lastSequence, 3n)
  again.announce(job)
  again.page(4, 1, oneJob(4))
  await again.heard('ack', ({ sequence }) => sequence === 4n)
  const none = (page: string) =>
    ['files', 'few'].every((name) => new RegExp(`^sonde_sink_duplicates_total\\{sink="${name}"\\} 0`, 'm').test(page))
  await until('no page came again', LIMIT_MS, async () => none(await metricsOf(second)))
  await assertStops(second)
  const kept = (root: string) =>
    readFiles(join(home, root)).flatMap(({ batches }) =>
      batches.flatMap(({ type, records }) => (type.name === 'job' ? records.map((r) => Number(r.steps_total)) : [])),
    )
  assert.deepEqual([kept('all').sort(), kept('few')], [[1, 2, 3, 4], []])
})

test('a disk that hangs below a destination that nobody waits for holds up no application and no other destination', async (t) => {
  const home = folder(t)
  const [sockets, gate] = [join(home, 'sockets'), join(home, 'gate')]
  const [far, near] = [await HttpPeer.start(t), await HttpPeer.start(t)]
  execFileSync('mkfifo', [gate])
  const file = fileWith(
    t,
    `data_sources:
  - { type: host, interval_ms: 100, parts: [load] }
  - { type: host, name: other, interval_ms: 100, parts: [load] }
service: { enabled: true, sockets_dir: ${sockets} }
store: { enabled: false }
export:
  files:
    - { data_root: ${home}/all }
    - { name: slow, data_root: ${home}/slow, acknowledges: false, queue_limit_bytes: 65536 }
  jsonl:
    - { name: queued, url: ${far.url}/, queue_dir: ${home}/slow/queue, acknowledges: false, queue_limit_bytes: 65536,
        batch_bytes_max: 65536 }
    - { name: near, url: ${near.url}/ }
`,
  )
  const env = { SONDE_SERVICE_ENABLED: undefined, SONDE_TEST_DISK: `${home}/slow`, SONDE_TEST_GATE: gate }
  const main = fileURLToPath(new URL('hanging-disk-main.ts', import.meta.url))
  const first = await startSonde(['agent', '--config', file], { env, main })
  t.after(() => first.stop('SIGKILL'))
  const schema = createSchema({ name: 'oven', ipc: { socketsDir: sockets } })
  t.after(() => schema.close().catch(() => undefined))
  const loaf = schema.addType(
    defineType('loaf', 'A loaf', { time: timestamp(), loaves_total: counter('u64'), note: chars(1000) }),
  )
  await schema.start()
  const source = schema.createSource({ id: 'oven', tag: '' })
  let reported = 0
  const bake = async (count: number) => {
    for (const until = reported + count; reported < until; ) {
      source.report(loaf, { time: wallNs(), loaves_total: ++reported, note: 'x' })
      if (reported % 10 === 0) await schema.flush()
    }
    await schema.flush()
  }
  const keptIn = (root: string) =>
    readFiles(join(home, root)).flatMap(({ batches }) =>
      batches.flatMap(({ type, records }) => (type.name === 'loaf' ? records.map((r) => Number(r.loaves_total)) : [])),
    )
  const loavesAt = (peer: HttpPeer) =>
    linesOf(peer).flatMap(({ type, record }) => (type === 'loaf' ? [Number(record.loaves_total)] : []))
  const toldIn = (root: string) =>
    readFiles(join(home, root))
      .filter(({ source }) => source?.id === 'oven')
      .flatMap(({ batches }) => batches.flatMap(({ type, records }) => (type.name === 'sonde_loss' ? records : [])))
      .map(({ component, reason, records_total }) => `${component} ${reason} ${records_total}`)

  await bake(200)
  assert.equal(keptIn('all').length, 200, 'what was acknowledged is there')
  assert.deepEqual([schema.status().sinks.map(({ stats }) => stats.dropped)], [[{}]])
  const hung = ['slow', 'queued']
  const down = (page: string, name: string) => page.includes(`\nsonde_sink_up{sink="${name}"} 0`)
  const drops = (page: string, name: string) =>
    new RegExp(`^sonde_loss_records_total\\{component="${name}",reason="queue_full"[^}]*\\} 0*[1-9]`, 'm').test(page)
  await until('both say so', LIMIT_MS, async () => {
    const page = await metricsOf(first)
    return hung.every((name) => down(page, name) && drops(page, name))
  })
  assert.match(await metricsOf(first), /^sonde_sink_up\{sink="files"\} 1/m)
  await until('the other queue delivers', LIMIT_MS, () => loavesAt(near).length === 200)

  const opened = openSync(gate, constants.O_RDWR | constants.O_NONBLOCK)
  t.after(() => closeSync(opened))
  const queuedBytes = (page: string, name: string) =>
    Number(new RegExp(`^sonde_sink_queued_bytes\\{sink="${name}"\\} (\\d+)`, 'm').exec(page)?.[1])
  await until('they say that all is well, and have room', LIMIT_MS, async () => {
    const page = await metricsOf(first)
    return hung.every((name) => !down(page, name) && queuedBytes(page, name) < 16_384)
  })
  await bake(10)
  await until('they have what comes', LIMIT_MS, () => keptIn('slow').includes(210) && loavesAt(far).includes(210))
  assert.equal(toldIn('slow').at(-1), `slow queue_full ${210 - keptIn('slow').length}`, 'the file says what is missing')
  assert.ok(loavesAt(far).length < 210, 'the queue dropped what it had no room for')
  await first.stop('SIGKILL')

  const second = await startSonde(['agent', '--config', file], { env, main })
  t.after(() => second.stop('SIGKILL'))
  await bake(10)
  await until('they go on', LIMIT_MS, () => keptIn('slow').includes(220) && loavesAt(far).includes(220))
  await assertStops(second)
  const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)
  const sorted = (kept: Iterable<number>) => [...kept].sort((a, b) => a - b)
  const late = (kept: readonly number[]) => sorted(new Set(kept.filter((n) => n > 200)))
  assert.deepEqual(sorted(keptIn('all')), numbers(1, 220))
  assert.deepEqual(sorted(new Set(loavesAt(near))), numbers(1, 220))
  assert.deepEqual(
    [late(keptIn('slow')), late(loavesAt(far)), toldIn('all')],
    [numbers(201, 220), numbers(201, 220), []],
  )
})

test('what a connection cannot use ends the start with file, line and key path', async (t) => {
  const faultOf = async (keys: string) => {
    const file = fileWith(t, `data_sources: []\nexport:\n  jsonl:\n    url: https://127.0.0.1:1/\n    ${keys}\n`)
    const { code, output } = await runSonde(['agent', '--config', file, '--listen', '127.0.0.1:0'])
    assert.equal(code, 2, output)
    return output.replaceAll(file, 'FILE')
  }
  assert.match(
    await faultOf('tls: { ca_file: /nowhere/ca.pem }'),
    /^sonde: FILE:5: export\.jsonl\.tls\.ca_file is "\/nowhere\/ca\.pem", which cannot be read: ENOENT/,
  )
  assert.match(
    await faultOf('tls: { cert_file: /etc/hostname, key_file: /nowhere/key.pem }'),
    /export\.jsonl\.tls\.key_file is "\/nowhere\/key\.pem", which cannot be read: ENOENT/,
  )
  assert.match(await faultOf('token_env: NO_SUCH'), /export\.jsonl\.token_env is "NO_SUCH", which is not set/)
  assert.match(await faultOf('endpoints: [http://me:hush@there/]'), /FILE:5: export\.jsonl\.endpoints\[0\] is /)
  assert.doesNotMatch(await faultOf('endpoints: [http://me:hush@there/]'), /hush/)
  assert.match(await faultOf('endpoints: [http://there:0/]'), /export\.jsonl\.endpoints\[0\] is "http:\/\/there:0\/"/)
  assert.match(
    await faultOf('tls: { ca_fil: x }'),
    /FILE:5: export\.jsonl\.tls\.ca_fil is an unknown key, .*\(did you mean ca_file\?\)/,
  )
})
