import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  type Batch,
  counter,
  createSource,
  defineType,
  gauge,
  label,
  type RecordOf,
  type RecordType,
  timestamp,
} from '@sonde/sdk'
import {
  absenceType,
  defineOwnType,
  definitionOf,
  FRAME_HEADER_BYTES,
  type SeriesQuery,
  SOCKET_NAME,
  TEXT_ID_MIN,
} from '@sonde/sdk/internal'
import { until } from '../../../sdk/test/helper.ts'
import { Random } from '../../../sdk/test/random.ts'
import { makeService } from '../../test/keeping-service.ts'
import { RawClient } from '../../test/raw-client.ts'
import { serveAgent } from '../../test/served-agent.ts'
import type { Agent } from '../agent.ts'
import { SocketsDir } from './directory.ts'

const jobType = defineType('job', 'What a job did', {
  time: timestamp(),
  worker: label('Worker'),
  steps_total: counter('u64', { help: 'Steps done' }),
  loss_ratio: gauge('f64', { unit: 'ratio', help: 'Loss' }),
})

/** A type that poses as one of the simulator. */
const posing = defineOwnType('posing', 'Poses', { time: timestamp(), simulated: label(), heat: gauge('f64') })

/** As many fields as a type may have, each with a description. */
const widest = defineType(
  'widest',
  'Everything of a device',
  Object.fromEntries(
    Array.from({ length: 1024 }, (_, i) => [`field_${i}`, gauge('u32', { unit: 'bytes', help: 'h'.repeat(300) })]),
  ),
)

interface Served {
  readonly agent: Agent
  readonly address: string
  readonly dir: string
}

/** An agent with a service in a folder of its own. */
async function served(t: TestContext, service: object = {}): Promise<Served> {
  const dir = mkdtempSync(join(tmpdir(), 'sonde-ipc-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const { agent, address } = await serveAgent(t, { service: { enabled: true, sockets_dir: dir, ...service } })
  await agent.service?.settled
  assert.equal(agent.service?.status().state, 'listening', agent.service?.status().reason)
  return { agent, address, dir }
}

/** The bytes of records of jobs, as an application encodes them, and its texts. */
function jobs(count: number, timeMs = Date.now()): { bytes: Buffer; texts: readonly string[] } {
  let bytes = Buffer.alloc(0)
  const source = createSource({
    id: 'a',
    bufferBytes: 1 << 20,
    emit: (batch: Batch) => {
      bytes = Buffer.from(batch.bytes)
    },
  })
  const time = BigInt(timeMs) * 1_000_000n
  for (let i = 0; i < count; i++) {
    source.report(jobType, { time, worker: `w${i}`, steps_total: i + 1, loss_ratio: 0.5 })
  }
  source.flush()
  return { bytes, texts: source.symbols.since(0) }
}

/** One record as an application encodes it, and its texts. */
function encoded<T extends RecordType>(type: T, record: RecordOf<T>): { bytes: Buffer; texts: readonly string[] } {
  let bytes = Buffer.alloc(0)
  const source = createSource({
    id: 'a',
    emit: (batch: Batch) => {
      bytes = Buffer.from(batch.bytes)
    },
  })
  source.report(type, record)
  source.flush()
  return { bytes, texts: source.symbols.since(0) }
}

/** A frame of types as the first after a hello, with JSON that no client of Sonde sends. */
function typesFrame(json: string): Buffer {
  const payload = Buffer.from(json)
  const header = Buffer.alloc(FRAME_HEADER_BYTES)
  header.writeUInt32LE(payload.length, 0)
  header.writeUInt8(2, 4)
  header.writeUInt32LE(2, 8)
  return Buffer.concat([header, payload])
}

async function metrics(address: string): Promise<string> {
  return (await fetch(`${address}/metrics`)).text()
}

/** A client that is served: it has announced jobs, and its first page was acknowledged. */
async function goodClient(dir: string): Promise<RawClient> {
  const raw = await RawClient.enter(dir)
  const { bytes, texts } = jobs(2)
  raw.announce(jobType, texts)
  raw.page(1, 2, bytes)
  await raw.heard('ack', ({ sequence }) => sequence === 1n)
  return raw
}

test('types of an application appear without configuration, and leave with it', async (t) => {
  const { agent, address, dir } = await served(t)
  const raw = await goodClient(dir)
  const page = await metrics(address)
  assert.match(page, /^job_steps_total\{worker="w1".*\} 0*2$/m)
  await until('it says how it fares', async () => /^sonde_service_clients 0*1$/m.test(await metrics(address)))
  const query: SeriesQuery = {
    metric: 'job_steps_total',
    matchers: [],
    by: ['worker'],
    aggregate: 'sum',
    function: 'last',
  }
  const form = { fromMs: Date.now() - 60_000, toMs: Date.now(), stepMs: 1000 }
  const answer = await agent.history.query({ ...form, queries: [query] })
  assert.equal(answer.results[0]?.series.length, 2)
  const { clients } = (await (await fetch(`${address}/api/v1/sources`)).json()) as { clients: { sources: unknown }[] }
  assert.deepEqual(clients[0]?.sources, [{ id: 'raw', tag: 't', labels: {} }])
  raw.close()
  await until('its series left', async () => !(await metrics(address)).includes('job_steps_total{'))
  const series = (await (await fetch(`${address}/api/v1/series?type=job`)).json()) as { series: unknown[] }
  assert.deepEqual(series.series, [])
})

test('an acknowledgement without a durable sink says memory, and a page that comes again is counted and not taken', async (t) => {
  const { agent, dir } = await served(t)
  const raw = await goodClient(dir)
  const { ack, limits } = await raw.heard('welcome')
  assert.deepEqual([ack, limits.types], ['memory', 257])
  raw.close()
  const again = await RawClient.enter(dir, raw.identity)
  assert.equal((await again.heard('welcome')).lastSequence, 1n)
  const { bytes, texts } = jobs(2)
  again.announce(jobType, texts)
  again.page(1, 2, bytes)
  again.page(2, 2, bytes)
  await again.heard('ack', ({ sequence }) => sequence === 2n)
  assert.deepEqual([agent.service?.stats.pages, agent.service?.stats.duplicatePages], [2, 1])
  again.page(5, 2, bytes)
  await again.heard('ack', ({ sequence }) => sequence === 5n)
  assert.equal(agent.service?.stats.missingPages, 2)
  again.close()
})

test('a page that is wrong is left out with its reason, and those behind it are taken', async (t) => {
  const { agent, address, dir } = await served(t)
  const raw = await goodClient(dir)
  const { bytes } = jobs(2)
  raw.page(2, 2, bytes, { crc: 1 })
  raw.page(3, 3, bytes)
  raw.page(4, 2, bytes, { slot: 0 })
  raw.page(5, 2, bytes)
  await raw.heard('ack', ({ sequence }) => sequence === 5n)
  const dropped: Record<string, number> = {}
  for (const { kind, body } of raw.frames) if (kind === 'ack') Object.assign(dropped, body.dropped)
  assert.deepEqual(dropped, { wrong_checksum: 2, wrong_size: 3, wrong_slot: 2 })
  assert.deepEqual(Object.fromEntries(agent.service?.stats.dropped ?? []), dropped)
  await until('the losses are told', async () => /component="service",reason="wrong_slot"/.test(await metrics(address)))
  raw.close()
})

test('what was dropped is told again to a client that left before it read that', async (t) => {
  const { agent, dir } = await served(t)
  const raw = await goodClient(dir)
  for (let page = 2; page < 102; page++) {
    raw.page(page, 2, jobs(2).bytes, { crc: 1 })
    await raw.heard('ack', ({ sequence }) => sequence === BigInt(page))
  }
  raw.close()
  await until('the client is gone', () => agent.service?.status().clients.length === 0)
  const again = await RawClient.enter(dir, raw.identity, 100n)
  assert.deepEqual((await again.heard('welcome')).dropped, { wrong_checksum: 2 })
  again.close()
  await until('it is gone again', () => agent.service?.status().clients.length === 0)
  const third = await RawClient.enter(dir, raw.identity, 100n)
  assert.deepEqual((await third.heard('welcome')).dropped, { wrong_checksum: 2 }, 'a welcome is not read either')
  third.close()
})

test('what was dropped of a client that was gone when it was acknowledged is told with the next welcome, once', async (t) => {
  const { agent, dir } = await served(t)
  const raw = await goodClient(dir)
  raw.page(2, 2, jobs(2).bytes, { crc: 1 })
  raw.socket.destroy()
  await until('the page was refused', () => agent.service?.stats.dropped.get('wrong_checksum') === 2)
  await until('the client is gone', () => agent.service?.status().clients.length === 0)
  const again = await RawClient.enter(dir, raw.identity)
  const { lastSequence, dropped } = await again.heard('welcome')
  assert.deepEqual([lastSequence, dropped], [2n, { wrong_checksum: 2 }])
  again.close()
  await until('it is gone again', () => agent.service?.status().clients.length === 0)
  const third = await RawClient.enter(dir, raw.identity, 2n)
  assert.deepEqual((await third.heard('welcome')).dropped, {})
  third.close()
})

test('pages in a file are read from it once its client has proved that the file is its own', async (t) => {
  const { agent, dir } = await served(t)
  const raw = await goodClient(dir)
  const file = `/dev/shm/sonde-${process.pid}-test`
  t.after(() => rmSync(file, { force: true }))
  const descriptor = openSync(file, 'wx+', 0o600)
  t.after(() => closeSync(descriptor))
  truncateSync(file, 4 * 4096)
  raw.send({ kind: 'attach', body: { file, slots: 4, slotBytes: 4096 } })
  const { nonce } = await raw.heard('challenge')
  writeSync(descriptor, Buffer.from(nonce, 'hex'), 0, 32, 0)
  raw.send({ kind: 'proof', body: {} })
  assert.deepEqual(await raw.heard('attached'), { ok: true, reason: '' })
  const { bytes } = jobs(2)
  writeSync(descriptor, bytes, 0, bytes.length, 3 * 4096)
  raw.page(2, 2, bytes, { slot: 3 })
  raw.page(3, 2, bytes, { slot: 4 })
  raw.page(4, 2, bytes, { slot: 0xffff_ffff })
  await raw.heard('ack', ({ sequence }) => sequence === 4n)
  assert.deepEqual([agent.service?.stats.pages, agent.service?.stats.dropped.get('wrong_slot')], [2, 4])
  assert.equal(agent.service?.status().clients[0]?.mode, 'shared')
  // A file that is cut short under the service's hands is no harm to it.
  truncateSync(`/proc/self/fd/${descriptor}`, 0)
  raw.page(5, 2, bytes, { slot: 3 })
  await raw.heard('ack', ({ sequence, dropped }) => sequence === 5n && dropped.wrong_slot === 2)
  raw.close()
})

test('a file that is not what a client may hand over is refused, and left where it is', async (t) => {
  const { dir } = await served(t)
  const base = mkdtempSync('/dev/shm/sonde-test-')
  const stem = `/dev/shm/sonde-${process.pid}`
  const made = [
    `${stem}-link`,
    `${stem}-fifo`,
    `${stem}-hard`,
    `${stem}-hard2`,
    `${stem}-open`,
    `${stem}-short`,
    `${stem}-zero`,
  ]
  t.after(() => {
    for (const path of [...made, base]) rmSync(path, { force: true, recursive: true })
  })
  const file = (path: string, bytes = 4096, mode = 0o600) => {
    closeSync(openSync(path, 'wx', mode))
    chmodSync(path, mode)
    truncateSync(path, bytes)
    return path
  }
  const victim = file(join(base, 'victim'))
  symlinkSync(victim, `${stem}-link`)
  execFileSync('mkfifo', [`${stem}-fifo`])
  linkSync(file(`${stem}-hard`), `${stem}-hard2`)
  file(`${stem}-open`, 4096, 0o622)
  file(`${stem}-short`, 4095)
  file(join(dir, 'sonde-disk'))
  const wrong: [file: string, reason: RegExp][] = [
    [`${stem}-link`, /cannot be read/],
    [`${stem}-fifo`, /no regular file/],
    [`${stem}-hard`, /2 names/],
    [`${stem}-open`, /written by others/],
    [`${stem}-short`, /4095 bytes long/],
    [`${stem}-none`, /cannot be read/],
    [join(dir, 'sonde-disk'), /not in memory/],
    [victim, /no file of a client/],
    ['/etc/passwd', /no file of a client/],
    ['/dev/shm/../etc/sonde-x', /no file of a client/],
    [`${dir}/../sonde-x`, /no file of a client/],
    ['sonde-x', /no file of a client/],
    [`${stem}-a\0b`, /no file of a client/],
    [base, /no regular file|cannot be read/],
  ]
  const raw = await goodClient(dir)
  for (const [path, reason] of wrong) {
    raw.frames.length = 0
    raw.send({ kind: 'attach', body: { file: path, slots: 1, slotBytes: 4096 } })
    const { ok, reason: said } = await raw.heard('attached')
    assert.equal(ok, false, path)
    assert.match(said, reason)
  }
  for (const path of [victim, `${stem}-link`, `${stem}-fifo`, `${stem}-hard`, `${stem}-open`, `${stem}-short`]) {
    assert.ok(existsSync(path), path)
  }
  raw.frames.length = 0
  raw.send({ kind: 'attach', body: { file: `${stem}-zero`, slots: 2 ** 20, slotBytes: 2 ** 20 } })
  assert.equal((await raw.heard('attached')).ok, false, 'a terabyte')
  // Without a file it is served all the same.
  raw.page(2, 2, jobs(2).bytes)
  await raw.heard('ack', ({ sequence }) => sequence === 2n)
  raw.close()
})

test('whoever does not keep to the protocol is sent away with a code, and others are served', async (t) => {
  const { agent, address, dir } = await served(t)
  const good = await goodClient(dir)
  const random = new Random(7)
  const own = defineOwnType('mine', 'Speaks for Sonde', { up: gauge('u64', { metric: 'sonde_service_up' }) })
  const labels = (some: Record<string, string>) => (raw: RawClient) =>
    raw.send({ kind: 'source', body: { index: 0, id: 'x', tag: '', labels: some, schema: '' } })
  const typed = (name: string, index: number) => {
    const type = defineType(name, '', { value: gauge('u64') })
    return { index, fingerprint: type.fingerprint, definition: definitionOf(type) }
  }
  const jobTypeBeside = (json: string) => {
    const entry = JSON.stringify({ index: 0, fingerprint: jobType.fingerprint, definition: definitionOf(jobType) })
    return typesFrame(`[${entry.slice(0, -1)},"more":${json}}]`)
  }
  const cases: [what: string, code: string, act: (raw: RawClient) => void][] = [
    [
      'garbage',
      'IPC_FRAME',
      (raw) => raw.socket.write(Buffer.from(Array.from({ length: 5000 }, () => random.integer(0, 255)))),
    ],
    [
      'a length of 4 GiB',
      'IPC_FRAME',
      (raw) => raw.socket.write(Buffer.from([255, 255, 255, 255, 1, 0, 0, 0, 2, 0, 0, 0])),
    ],
    ['an unknown source', 'IPC_FRAME', (raw) => raw.page(1, 1, Buffer.alloc(8))],
    ['a second hello', 'IPC_FRAME', (raw) => raw.hello()],
    // Each is an acceptable type with another part that takes long to read.
    ['a type beside 800 KB', 'IPC_FRAME', (raw) => raw.socket.write(jobTypeBeside(`"${'x'.repeat(800_000)}"`))],
    ['a type beside deep JSON', 'IPC_FRAME', (raw) => raw.socket.write(jobTypeBeside('['.repeat(40) + ']'.repeat(40)))],
    [
      'a type beside many objects',
      'IPC_FRAME',
      (raw) => raw.socket.write(jobTypeBeside(`[${'{"a":0},'.repeat(30_000)}0]`)),
    ],
    [
      'a definition that is none',
      'SCH_DEFINITION',
      (raw) =>
        raw.send({ kind: 'types', body: [{ index: 0, fingerprint: '0'.repeat(32), definition: { name: 'x' } }] }),
    ],
    ['a metric of Sonde', 'SCH_METRIC_NAME', (raw) => raw.announce(own)],
    [
      '258 types',
      'IPC_LIMIT',
      (raw) => raw.send({ kind: 'types', body: Array.from({ length: 258 }, (_, i) => typed(`t${i}`, i)) }),
    ],
    ['a type that says it is simulated', 'SCH_LABEL_NAME', (raw) => raw.announce(posing)],
    ['a label that says it is simulated', 'IPC_FRAME', labels({ simulated: 'true' })],
    ['a label with a quote', 'IPC_FRAME', labels({ 'a"} 1\nfake': 'x' })],
    [
      'symbols out of order',
      'IPC_FRAME',
      (raw) => {
        raw.announce(jobType)
        raw.send({ kind: 'symbols', body: { source: 0, firstId: 5, texts: ['a'] } })
      },
    ],
    [
      'texts out of order',
      'IPC_FRAME',
      (raw) => {
        raw.announce(jobType)
        raw.send({ kind: 'symbols', body: { source: 0, firstId: TEXT_ID_MIN + 5, texts: ['a'] } })
      },
    ],
    [
      'texts of more than may be kept',
      'IPC_LIMIT',
      (raw) => {
        raw.announce(jobType)
        const texts = Array<string>(80).fill('x'.repeat(4000))
        for (let i = 0; i < 60; i++)
          raw.send({ kind: 'symbols', body: { source: 0, firstId: TEXT_ID_MIN + i * texts.length, texts } })
      },
    ],
    [
      'too many symbols',
      'IPC_LIMIT',
      (raw) => {
        raw.announce(jobType)
        for (let i = 0; i < 3; i++)
          raw.send({ kind: 'symbols', body: { source: 0, firstId: i * 30_000, texts: Array(30_000).fill('a') } })
      },
    ],
    [
      'sources and symbols with more text than may be kept',
      'IPC_LIMIT',
      (raw) => {
        const long = 'x'.repeat(4000)
        const body = { id: 'x', tag: long, labels: { a: long, b: long }, schema: '' }
        for (let index = 0; index < 1000; index++) raw.send({ kind: 'source', body: { index, ...body } })
        const texts = Array<string>(250).fill(long)
        for (let i = 0; i < 10; i++) raw.send({ kind: 'symbols', body: { source: 0, firstId: i * 250, texts } })
      },
    ],
    [
      '1026 sources',
      'IPC_LIMIT',
      (raw) => {
        for (let index = 0; index < 1026; index++)
          raw.send({ kind: 'source', body: { index, id: 'x', tag: '', labels: {}, schema: '' } })
      },
    ],
  ]
  for (const [what, code, act] of cases) {
    const raw = await RawClient.enter(dir)
    act(raw)
    assert.equal(await raw.refused(), code, what)
  }
  const silent = await RawClient.open(dir)
  silent.page(1, 1, Buffer.alloc(8))
  assert.equal(await silent.refused(), 'IPC_FRAME', 'no hello')
  good.send({ kind: 'types', body: [{ index: 1, fingerprint: widest.fingerprint, definition: definitionOf(widest) }] })
  good.page(2, 2, jobs(2).bytes)
  await good.heard('ack', ({ sequence }) => sequence === 2n)
  assert.ok((agent.service?.stats.refused.get('IPC_FRAME') ?? 0) >= 6)
  await until('only the good one is left', () => agent.service?.status().clients.length === 1)
  assert.match(await metrics(address), /^job_steps_total\{/m)
  good.close()
})

test('two versions of a type, and two clients with one source id, are served beside one another', async (t) => {
  const { agent, address, dir } = await served(t)
  const newer = defineType('job', 'What a job did', {
    time: timestamp(),
    worker: label('Worker'),
    steps_total: counter('u64', { help: 'Steps done' }),
    retries_total: counter('u64', { help: 'Steps done again' }),
  })
  const old = await goodClient(dir)
  const twin = await RawClient.enter(dir)
  const time = BigInt(Date.now()) * 1_000_000n
  const [first, second] = [
    encoded(jobType, { time, worker: 'w0', steps_total: 9, loss_ratio: 1 }),
    encoded(newer, { time, worker: 'new', steps_total: 7, retries_total: 1 }),
  ]
  twin.announce(jobType, [...first.texts, 'new'])
  twin.send({ kind: 'types', body: [{ index: 1, fingerprint: newer.fingerprint, definition: definitionOf(newer) }] })
  twin.page(1, 1, first.bytes)
  // The text of its worker is the next one of the table that it shares with the first type.
  second.bytes.writeUInt32LE(first.texts.length, newer.labels[0]?.offset ?? 0)
  twin.page(2, 1, second.bytes, { type: 1 })
  await twin.heard('ack', ({ sequence }) => sequence === 2n)
  const page = await metrics(address)
  assert.match(page, /^job_steps_total\{worker="new"[^}]*\} 0*7$/m)
  assert.match(page, /^job_retries_total\{worker="new"[^}]*\} 0*1$/m)
  assert.match(page, /^job_steps_total\{worker="w0"[^}]*\} 0*1$/m, 'of one series that both report the first is shown')
  assert.equal(agent.prometheus.stats.dropped.get('duplicate_series'), 1)
  // A conflict of metric names is reported too.
  const contending = defineType('job', 'What a job did', {
    time: timestamp(),
    steps_total: gauge('u64', { metric: 'job_steps_total' }),
  })
  twin.send({
    kind: 'types',
    body: [{ index: 2, fingerprint: contending.fingerprint, definition: definitionOf(contending) }],
  })
  twin.page(3, 1, encoded(contending, { time, steps_total: 1 }).bytes, { type: 2 })
  const told = await twin.heard('ack', ({ sequence }) => sequence === 3n)
  assert.deepEqual([told.dropped, told.hidden], [{}, { metric_conflict: 1 }])
  // With the first gone the other one is shown from its next record on.
  old.close()
  await until('the first left', () => agent.service?.status().clients.length === 1)
  twin.page(4, 1, first.bytes)
  await twin.heard('ack', ({ sequence }) => sequence === 4n)
  assert.match(await metrics(address), /^job_steps_total\{worker="w0"[^}]*\} 0*9$/m)
  twin.close()
})

test('records whose labels are too long for a series are dropped and told; those beside them are shown', async (t) => {
  const { address, dir } = await served(t)
  const type = defineType('wide', '', { a: label(), b: label(), c: label(), turns_total: counter('u64') })
  const raw = await RawClient.enter(dir)
  const long = 'x'.repeat(4096)
  raw.announce(type, [long, 'short'])
  const records = [long, 'short', long].map((text) => encoded(type, { a: text, b: text, c: text, turns_total: 7 }))
  for (const [i, { bytes }] of records.entries()) {
    for (const { offset } of type.labels) bytes.writeUInt32LE(i === 1 ? 1 : 0, offset)
  }
  raw.page(1, 3, Buffer.concat(records.map(({ bytes }) => bytes)))
  const { dropped } = await raw.heard('ack', ({ sequence }) => sequence === 1n)
  assert.deepEqual(dropped, { labels_limit: 2 })
  const lines = (await metrics(address)).split('\n').filter((line) => line.startsWith('wide_turns_total{'))
  assert.equal(lines.length, 1)
  assert.match(lines[0] ?? '', /a="short"/)
  const labels = { first: long, second: long }
  raw.send({ kind: 'source', body: { index: 1, id: 'wide', tag: '', labels, schema: '' } })
  const { message } = await raw.heard('error')
  assert.match(message, /8203 characters.*8192 characters of names and texts together/)
  raw.close()
})

test('clients with ten thousand types get what there is room for, and others their share', async (t) => {
  const { agent, dir } = await served(t)
  const good = await goodClient(dir)
  const typesOf = (client: number) =>
    Array.from({ length: 250 }, (_, index) => defineType(`t${client}_${index}`, '', { value: gauge('u64') }))
  /** Announces types, sends a record of each, and gives how many were not taken. */
  const refusedOf = async (raw: RawClient, types: readonly RecordType[]) => {
    raw.announce(jobType)
    const entries = types.map((type, i) => ({
      index: i + 1,
      fingerprint: type.fingerprint,
      definition: definitionOf(type),
    }))
    raw.send({ kind: 'types', body: entries })
    for (const { index } of entries) raw.page(index, 1, Buffer.alloc(8), { type: index })
    await raw.heard('ack', ({ sequence }) => sequence === BigInt(types.length))
    const acks = raw.frames.flatMap(({ kind, body }) => (kind === 'ack' ? [body.dropped] : []))
    return acks.reduce((total, { type_limit = 0 }) => total + type_limit, 0)
  }
  const greedy = await Promise.all(Array.from({ length: 40 }, () => RawClient.enter(dir)))
  const refused = await Promise.all(greedy.map((raw, client) => refusedOf(raw, typesOf(client))))
  // Each has the type of `announce` in its share as well.
  const taken = 40 * 251 - refused.reduce((a, b) => a + b)
  assert.equal(taken, 40 * 32 + 2048)
  const newcomer = await RawClient.enter(dir)
  assert.equal(await refusedOf(newcomer, typesOf(100).slice(0, 31)), 0)
  good.page(2, 2, jobs(2).bytes)
  await good.heard('ack', ({ sequence }) => sequence === 2n)
  // Their memory is released when they disconnect.
  for (const raw of greedy) raw.close()
  await until('they are gone', () => agent.service?.status().clients.length === 2)
  const late = await RawClient.enter(dir)
  assert.equal(await refusedOf(late, typesOf(101)), 0)
  for (const client of [good, newcomer, late]) client.close()
})

test('what a client says of absent values and of Sonde holds for itself alone', async (t) => {
  const { address, dir } = await served(t)
  await until('the agent has series', async () => (await metrics(address)).includes('steady_samples_total{'))
  const raw = await RawClient.enter(dir)
  let bytes = Buffer.alloc(0)
  let texts: readonly string[] = []
  const source = createSource({
    id: 'a',
    emit: (batch) => {
      bytes = Buffer.from(batch.bytes)
      texts = batch.symbols.textsFrom(TEXT_ID_MIN)
    },
  })
  source.report(absenceType, {
    time: BigInt(Date.now()) * 1_000_000n,
    type: 'steady',
    series: '',
    field: '',
    code: 'gone',
    reason: 'x',
  })
  source.flush()
  raw.announce(absenceType, source.symbols.since(0))
  raw.send({ kind: 'symbols', body: { source: 0, firstId: TEXT_ID_MIN, texts } })
  raw.page(1, 1, bytes)
  await raw.heard('ack', ({ sequence }) => sequence === 1n)
  const { series } = (await (await fetch(`${address}/api/v1/series?type=steady`)).json()) as { series: unknown[] }
  assert.equal(series.length, 4)
  assert.match(await metrics(address), /^steady_samples_total\{/m)
  raw.close()
  // The records of an unknown version of Sonde's own type are left out, and all others are accepted.
  const other = await RawClient.enter(dir)
  const foreign = defineOwnType('sonde_absence', 'Of another version', { value: gauge('u64') })
  other.announce(foreign)
  other.page(1, 1, Buffer.alloc(8))
  await other.heard('ack', ({ dropped }) => dropped.foreign_type === 1)
  other.close()
})

/**
 * How many values of the first device the steady source has in a second of the recent past, as the query form answers.
 */
async function steadyValues(address: string, toMs: number): Promise<number> {
  const queries = [{ metric: 'steady_samples_total', function: 'last' }]
  const body = JSON.stringify({ fromMs: toMs - 1000, toMs, stepMs: 50, queries })
  const response = await fetch(`${address}/api/v1/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  const { results } = (await response.json()) as { results: { series: { values: (number | null)[] }[] }[] }
  return results[0]?.series[0]?.values.filter((value) => value !== null).length ?? 0
}

for (const [what, timeMs] of [
  ['an hour ahead', Date.now() + 59 * 60_000],
  ['of the next century', Date.UTC(2126)],
] as const) {
  test(`records with times ${what} leave the live window of everybody else as it is`, async (t) => {
    const { agent, address, dir } = await served(t)
    const honest = await goodClient(dir)
    const toMs = Date.now() + 500
    await until('a second of samples', async () => Date.now() > toMs + 200 && (await steadyValues(address, toMs)) > 5)
    const values = await steadyValues(address, toMs)
    const hostile = await RawClient.enter(dir)
    const { bytes, texts } = jobs(10, timeMs)
    hostile.announce(jobType, texts, 'hostile')
    hostile.page(1, 10, bytes)
    hostile.page(2, 10, bytes)
    const { dropped } = await hostile.heard('ack', ({ sequence }) => sequence === 2n)
    assert.deepEqual(dropped, {}, 'a time is data: nobody refuses it')
    honest.page(2, 2, jobs(2).bytes)
    await honest.heard('ack', ({ sequence }) => sequence === 2n)
    const samples = agent.sources[0]?.stats.samples ?? 0
    await until('the agent samples on', () => (agent.sources[0]?.stats.samples ?? 0) > samples + 2)
    assert.equal(await steadyValues(address, toMs), values)
    const kept = agent.recent.batches(jobType).map(({ source, count }) => `${source.id} ${count}`)
    assert.deepEqual(kept, ['raw 2', 'hostile 10', 'hostile 10', 'raw 2'], 'in the order of their arrival')
    const { series } = (await (await fetch(`${address}/api/v1/series?type=job`)).json()) as {
      series: { labels: { source: string } }[]
    }
    assert.ok(
      series.some(({ labels }) => labels.source === 'raw'),
      'the honest client is still listed',
    )
  })
}

test('records of another clock are in /metrics, and in no chart: that is counted and told', async (t) => {
  const { agent, address, dir } = await served(t)
  const raw = await RawClient.enter(dir)
  const { bytes, texts } = jobs(10, Date.now())
  raw.announce(jobType, texts)
  for (const [i, clock] of (['device', 'monotonic', 'wall'] as const).entries()) raw.page(i + 1, 10, bytes, { clock })
  const { dropped, hidden } = await raw.heard('ack', ({ sequence }) => sequence === 3n)
  assert.deepEqual([dropped, hidden], [{}, { untranslated: 20 }])
  assert.equal(agent.prometheus.stats.dropped.size, 0)
  assert.deepEqual(
    agent.recent.batches(jobType).map(({ clock }) => clock),
    ['wall'],
  )
  const { sinks } = (await (await fetch(`${address}/api/v1/sources`)).json()) as {
    sinks: { name: string; dropped: object }[]
  }
  assert.deepEqual(sinks.find(({ name }) => name === 'recent')?.dropped, { untranslated: 20 })
  const loss = /^sonde_loss_records_total\{component="recent",reason="untranslated"[^}]*\} 20$/m
  await until('the metric of it', async () => loss.test(await metrics(address)))
  raw.close()
})

test('an application cannot pose as a source of the agent by leaving the label empty that tells them apart', async (t) => {
  const { address, dir } = await served(t)
  const fields = { time: timestamp(), source: label(), device: label(), samples_total: counter('u64') }
  const raw = await RawClient.enter(dir)
  const { bytes, texts } = encoded(defineType('steady', '', fields), {
    time: BigInt(Date.now()) * 1_000_000n,
    source: '',
    device: 'dev0',
    samples_total: 7n,
  })
  const type = defineType('steady', '', fields)
  raw.send(
    { kind: 'types', body: [{ index: 0, fingerprint: type.fingerprint, definition: definitionOf(type) }] },
    { kind: 'source', body: { index: 0, id: 'poser', tag: '', labels: { source: '' }, schema: '' } },
    { kind: 'symbols', body: { source: 0, firstId: 0, texts } },
  )
  raw.page(1, 1, bytes)
  await raw.heard('ack', ({ sequence }) => sequence === 1n)
  const lines = (await metrics(address)).split('\n').filter((line) => line.startsWith('steady_samples_total{'))
  const posed = lines.filter((line) => / 0*7$/.test(line))
  assert.deepEqual(
    posed.map((line) => line.replace(/ .*/, '')),
    ['steady_samples_total{source="poser",device="dev0"}'],
  )
  const { series } = (await (await fetch(`${address}/api/v1/series?type=steady`)).json()) as {
    series: { metric: string; labels: object; value: string }[]
  }
  const said = series.filter(({ metric, value }) => metric === 'steady_samples_total' && value === '7')
  assert.deepEqual(
    said.map(({ labels }) => labels),
    [{ source: 'poser', device: 'dev0' }],
  )
  raw.close()
})

test('more clients than are allowed are told so, and one that left makes room', async (t) => {
  const { agent, dir } = await served(t, { clients: 2 })
  const [a, b] = [await goodClient(dir), await goodClient(dir)]
  const third = await RawClient.open(dir)
  third.hello()
  assert.equal(await third.refused(), 'IPC_LIMIT')
  assert.equal(agent.service?.status().clients.length, 2)
  a.close()
  await until('there is room', () => agent.service?.status().clients.length === 1)
  const c = await goodClient(dir)
  for (const client of [b, c]) client.close()
})

test('connections that say nothing take no place of a client, and are closed after two seconds', {
  timeout: 60_000,
}, async (t) => {
  const { agent, address, dir } = await served(t, { clients: 2 })
  const silent = await Promise.all(Array.from({ length: 100 }, () => RawClient.open(dir)))
  const clients = [await goodClient(dir), await goodClient(dir)]
  assert.equal(agent.service?.status().clients.length, 2)
  await until('they are not counted as clients', async () =>
    /^sonde_service_clients 0*2$/m.test(await metrics(address)),
  )
  const codes = await Promise.all(silent.map((raw) => raw.refused()))
  assert.ok(codes.filter((code) => code === 'IPC_LIMIT').length >= 36)
  assert.ok(codes.every((code) => code === 'IPC_LIMIT' || code === 'IPC_TIMEOUT'))
  for (const client of clients) client.close()
})

test('a client that connects again takes the place of its connection before', async (t) => {
  const { agent, dir } = await served(t)
  const before = await goodClient(dir)
  const after = await RawClient.enter(dir, before.identity)
  assert.equal(await before.refused(), 'IPC_REPLACED')
  after.announce(jobType, jobs(2).texts)
  after.page(2, 2, jobs(2).bytes)
  await after.heard('ack', ({ sequence }) => sequence === 2n)
  assert.equal(agent.service?.status().clients.length, 1)
  after.close()
})

test('a client that comes back goes on with its series, under other symbols: no gap, no duplicate', async (t) => {
  const { agent, address, dir } = await served(t)
  let raw = await goodClient(dir)
  const steps = async () =>
    / (\d+)$/.exec(/^job_steps_total\{worker="w1".*/m.exec(await metrics(address))?.[0] ?? '')?.[1]
  const texts = ['', 'w1', 'w0']
  for (let page = 2; page < 6; page++) {
    // In turn: its connection breaks, it opens a second connection first, and its process restarts.
    const identity = await raw.identity
    if (page !== 3) raw.socket.destroy()
    assert.equal(await steps(), String(page === 2 ? 2 : page - 1))
    const next = page === 5 ? await RawClient.enter(dir) : await RawClient.enter(dir, identity)
    if (page === 3) await raw.refused()
    raw = next
    raw.announce(jobType, texts)
    assert.equal(await steps(), String(page === 2 ? 2 : page - 1), 'nobody sees that it was away')
    const { bytes } = jobs(1)
    bytes.writeUInt32LE(1, jobType.labels[0]?.offset ?? 0)
    bytes.writeBigUInt64LE(BigInt(page), jobType.layout.slots.find(({ name }) => name === 'steps_total')?.offset ?? 0)
    raw.page(page === 5 ? 1 : page, 1, bytes)
    await raw.heard('ack', ({ sequence }) => sequence === (page === 5 ? 1n : BigInt(page)))
    assert.equal(await steps(), String(page))
  }
  assert.equal(agent.prometheus.stats.dropped.get('duplicate_series'), undefined)
  raw.close()
  await until('its series leave', async () => (await steps()) === undefined)
})

test('what a client handed over before it left is taken, also where that takes a while', async (t) => {
  const { agent, dir } = await served(t, { client_bytes_per_s: 1 << 20 })
  const raw = await goodClient(dir)
  const { bytes } = jobs(100)
  for (let i = 2; i <= 200; i++) raw.page(i, 100, bytes)
  raw.socket.end()
  await until('all pages are taken', () => agent.service?.stats.pages === 200)
  await until('the client is gone', () => agent.service?.status().clients.length === 0)
})

test('a client that floods is slowed, and neither the agent nor another client is', async (t) => {
  const { agent, dir } = await served(t, { client_bytes_per_s: 1 << 20 })
  const good = await goodClient(dir)
  const flood = await goodClient(dir)
  const { bytes } = jobs(1000)
  const startMs = performance.now()
  const samplesBefore = agent.sources[0]?.stats.samples ?? 0
  for (let i = 2; i < 100; i++) flood.page(i, 1000, bytes)
  // Texts take the place of those before: no limit of memory ends this.
  const babble = await goodClient(dir)
  const babbleBytes = babble.socket.bytesWritten
  const texts = Array<string>(250).fill('x'.repeat(4000))
  for (let i = 0; i < 6; i++) {
    for (const each of [[], texts])
      babble.send({ kind: 'symbols', body: { source: 0, firstId: TEXT_ID_MIN, texts: each } })
  }
  for (let i = 2; i < 12; i++) {
    good.page(i, 2, jobs(2).bytes)
    await good.heard('ack', ({ sequence }) => sequence === BigInt(i))
  }
  const { client: floodId } = await flood.identity
  const taken = agent.service?.status().clients.find(({ client }) => client === floodId.toString(16))?.bytes ?? 0
  const read = babble.socket.bytesWritten - babble.socket.writableLength - babbleBytes
  const seconds = (performance.now() - startMs) / 1000
  assert.ok(taken < (seconds + 0.3) * 2 ** 20, `${taken} bytes in ${seconds} s`)
  // The bytes in the socket are added to that.
  assert.ok(read < (seconds + 1) * 2 ** 20, `${read} bytes of texts in ${seconds} s`)
  const samples = () => (agent.sources[0]?.stats.samples ?? 0) - samplesBefore
  await until('the agent samples on', () => samples() > 2)
  for (const client of [good, flood, babble]) client.close()
})

test('a service that is closed while it begins to listen leaves no socket', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-closing-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const asked = Promise.withResolvers<void>()
  const slow = Promise.withResolvers<void>()
  const { take } = SocketsDir
  t.mock.method(SocketsDir, 'take', async (wanted: string) => {
    asked.resolve()
    await slow.promise
    return take.call(SocketsDir, wanted)
  })
  const service = makeService(folder, () => undefined)
  service.start()
  await asked.promise
  const closed = service.close()
  slow.resolve()
  await closed
  await until('no socket', () => !existsSync(join(folder, SOCKET_NAME)))
  assert.equal(service.status().state, 'closed')
})
