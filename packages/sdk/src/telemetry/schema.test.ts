import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { sondeError, until } from '../../test/helper.ts'
import type { Batch } from '../schema/batch.ts'
import { gapType } from '../schema/builtin.ts'
import { counter, gauge, label, timestamp, value } from '../schema/field.ts'
import { readRecord } from '../schema/reader.ts'
import { defineType, type RecordType } from '../schema/record-type.ts'
import { viewsOf } from '../schema/views.ts'
import { countDrop, type Sink, type SinkStats, sinkStats } from '../sink/sink.ts'
import type { FilesOptions } from '../sinks/files/config.ts'
import { usualSocketsDir } from '../sinks/ipc/sockets-dir.ts'
import { timestampUs, wallNs } from '../source/clock.ts'
import type { SchemaOptions, SchemaSourceOptions } from './config.ts'
import { createSchema, type Schema } from './schema.ts'

const job = defineType('job', 'A job', { time: timestamp('us'), queue: label(), seconds: gauge('f64') })
const step = defineType('step', 'A step', { time: timestamp(), n: value('u32') })
const untimed = defineType('untimed', 'No time', { n: counter('u32') })

/** Keeps its batches; fails, waits or throws on request. */
class KeepingSink implements Sink {
  readonly name: string
  readonly durable: boolean
  readonly stats: SinkStats = sinkStats()
  readonly kept: { type: RecordType; id: string; tag: string; records: unknown[] }[] = []
  readonly calls: string[] = []
  failure: Error | undefined
  isThrowing = false
  gate: Promise<void> = Promise.resolve()

  constructor(name: string, { durable = false } = {}) {
    this.name = name
    this.durable = durable
  }

  accept({ type, source, symbols, count, bytes }: Batch): void {
    this.stats.in += count
    if (this.isThrowing) throw new Error('broken')
    const views = viewsOf(bytes.slice())
    const read = (_: unknown, i: number) => readRecord(type, views, i * type.layout.recordBytes, symbols)
    this.kept.push({ type, id: source.id, tag: source.tag, records: Array.from({ length: count }, read) })
    this.stats.out += count
  }

  async flush(): Promise<void> {
    this.calls.push('flush')
    await this.gate
    if (this.failure !== undefined) throw this.failure
  }

  async close(): Promise<void> {
    this.calls.push('close')
  }
}

async function started(options: Partial<SchemaOptions> = {}): Promise<{ schema: Schema; sink: KeepingSink }> {
  const sink = new KeepingSink('keeping')
  const schema = createSchema({ name: 'test', sinks: [sink], ...options })
  schema.addType(job)
  schema.addType(step)
  await schema.start()
  return { schema, sink }
}

const oneJob = (seconds: number) => ({ time: timestampUs(), queue: 'mail', seconds })

test('sources of a schema share its sinks, and each batch says whose it is', async () => {
  const { schema, sink } = await started()
  const a = schema.createSource({ id: 'a', tag: 'x' })
  const b = schema.createSource({ tag: '' })
  a.report(job, oneJob(1))
  b.report(schema.indexOf(step), { time: wallNs(), n: 7 })
  assert.equal(sink.stats.in, 0, 'nothing leaves before a flush or a full buffer')
  await schema.flush()
  assert.deepEqual(
    sink.kept.map(({ type, id, tag, records }) => [type.name, id, tag, records.length]),
    [
      ['job', 'a', 'x', 1],
      ['step', hostname(), '', 1],
    ],
  )
  await schema.close()
  assert.deepEqual(sink.calls, ['flush', 'flush', 'flush', 'flush', 'close'])
})

test('steps in the wrong order are refused, and say in which state the schema is', async () => {
  const sink = new KeepingSink('keeping')
  const schema = createSchema({ name: 'order', sinks: [sink] })
  const early = sondeError('TEL_STATE', /order is declared/)
  assert.throws(() => schema.createSource({ tag: '' }), early)
  await assert.rejects(schema.flush(), early)
  schema.addType(job)
  const starting = schema.start()
  assert.throws(() => schema.addType(step), sondeError('TEL_STATE', /order is starting/))
  await starting
  const late = sondeError('TEL_STATE', /order is started/)
  assert.throws(() => schema.addType(step), late)
  await assert.rejects(schema.start(), late)
  const source = schema.createSource({ tag: '' })
  source.report(job, oneJob(1))
  await schema.close()
  await schema.close()
  const closed = sondeError('TEL_STATE', /order is closed/)
  assert.throws(() => schema.addType(step), closed)
  assert.throws(() => schema.createSource({ tag: '' }), closed)
  await assert.rejects(schema.start(), closed)
  await assert.rejects(schema.flush(), closed)
  assert.throws(() => source.report(job, oneJob(2)), sondeError('SRC_CLOSED'))
  assert.throws(() => source.bind(job, { queue: 'mail' }), sondeError('SRC_CLOSED'))
  assert.equal(sink.stats.in, 1, 'what was buffered is emitted by close, and nothing after')
})

test('a schema that never started closes the sinks that it was given', async () => {
  const sink = new KeepingSink('kept')
  const schema = createSchema({ name: 'order', sinks: [sink] })
  await schema.close()
  assert.deepEqual(sink.calls, ['close'])
})

test('a schema that is closed while it starts is closed', async () => {
  const sink = new KeepingSink('keeping')
  const schema = createSchema({ name: 'short', sinks: [sink] })
  const starting = assert.rejects(schema.start(), sondeError('TEL_STATE', /closed while it started/))
  await schema.close()
  await starting
  assert.equal(schema.status().state, 'closed')
})

test('names of types are unique, and what is not of the schema is refused with what to do', async () => {
  const schema = createSchema({ name: 'types', sinks: [new KeepingSink('keeping')] })
  assert.equal(schema.addType(job), job)
  assert.throws(() => schema.addType(job), sondeError('TEL_TYPE', /has a type job/))
  const other = defineType('job', 'Another', { time: timestamp() })
  assert.throws(() => schema.addType(other), sondeError('TEL_TYPE', /has a type job/))
  assert.throws(() => schema.addType({} as RecordType), sondeError('TEL_TYPE', /no type/))
  assert.equal(schema.indexOf(job), 0)
  assert.equal(schema.typeAt(0), job)
  assert.throws(() => schema.indexOf(other), sondeError('TEL_TYPE'))
  for (const index of [1, -1, 0.5, Number.NaN]) assert.throws(() => schema.typeAt(index), sondeError('TEL_TYPE'))
  await schema.start()
  const source = schema.createSource({ id: 'me', tag: '' })
  const foreign = sondeError('SRC_TYPE', /source me may report; add it to its schema with addType/)
  assert.throws(() => source.report(step, { time: wallNs(), n: 1 }), foreign)
  assert.throws(() => source.report(other, { time: wallNs() }), foreign)
  assert.throws(() => source.report(gapType, new Uint8Array(0)), foreign)
  assert.throws(() => source.bind(other, {}), foreign)
  for (const index of [1, -1, 0.5, Number.NaN]) {
    assert.throws(() => source.report(index, oneJob(1)), sondeError('SRC_TYPE', /below 1/))
  }
  assert.throws(() => source.report('job' as never, oneJob(1)), sondeError('SRC_TYPE', /"job"/))
  await schema.close()
})

test('a schema has 256 types at most', () => {
  const schema = createSchema({ name: 'many' })
  for (let i = 0; i < 256; i++) schema.addType(defineType(`t${i}`, '', { time: timestamp() }))
  assert.throws(() => schema.addType(job), sondeError('TEL_LIMIT', /256 types/))
  assert.equal(schema.indexOf(schema.typeAt(255)), 255)
})

test('a type without a timestamp at its beginning gets a warning, once', async () => {
  const warned = once(process, 'warning')
  const schema = createSchema({ name: 'untimed' })
  schema.addType(untimed)
  const [warning] = (await warned) as [Error & { code: string }]
  assert.equal(warning.code, 'TEL_NO_TIME')
  assert.match(warning.message, /type untimed of schema untimed does not begin with a timestamp/)
})

test('a schema that is started without a sink gets a warning', async () => {
  const schema = createSchema({ name: 'nowhere' })
  schema.addType(job)
  const warned = once(process, 'warning')
  await schema.start()
  const [warning] = (await warned) as [Error & { code: string }]
  assert.deepEqual([warning.code, /schema nowhere has no sink/.test(warning.message)], ['TEL_NO_SINK', true])
  await schema.close()
})

test('names that could leave a folder or a line are refused, and nothing reaches a sink', async () => {
  const { schema, sink } = await started()
  const wrongs: unknown[] = [
    'a/b',
    '..',
    'a..b',
    'a\nb',
    'a\0',
    '\x7f',
    'a\u2028b',
    'x\\y',
    'é'.repeat(150),
    '\ud800',
    5,
  ]
  for (const wrong of wrongs) {
    const name = wrong as string
    assert.throws(() => schema.createSource({ id: name, tag: '' }), sondeError('TEL_NAME', /the id/), name)
    assert.throws(() => schema.createSource({ tag: name }), sondeError('TEL_NAME', /the tag/), name)
    assert.throws(() => createSchema({ name }), sondeError('TEL_NAME', /the name/), name)
  }
  assert.throws(() => schema.createSource({ id: '', tag: '' }), sondeError('TEL_NAME'))
  assert.throws(() => schema.createSource({} as SchemaSourceOptions), sondeError('TEL_NAME', /the tag .* undefined/))
  schema.createSource({ id: 'é'.repeat(100), tag: 'a.b c' })
  assert.equal(schema.status().sources, 1)
  await schema.close()
  assert.equal(sink.stats.in, 0)
})

test('options are told with the defaults filled in', () => {
  const plain = createSchema({ name: 'test' })
  assert.deepEqual(plain.options, { name: 'test', bufferBytes: 60_000, opaqueEvents: false, sinks: [], export: {} })
  assert.ok(Object.isFrozen(plain.options))
  const { export: exports, ipc } = createSchema({
    name: 'test',
    export: { files: { dataRoot: 'data' } },
    ipc: {},
  }).options
  const files = exports.files as FilesOptions
  assert.deepEqual([files?.dataRoot, files?.maxBytes, files?.maxAgeUs], [resolve('data'), 1_048_576, 3_600_000_000])
  assert.deepEqual([ipc?.reconnectTimeMs, ipc?.reconnectTries, ipc?.socketTimeoutMs], [100, 3, 3000])
  assert.equal(ipc?.socketsDir, usualSocketsDir())
  assert.throws(
    () => createSchema({ name: 'test', export: { files: { maxBytes: 1 } } }),
    sondeError('TEL_OPTION', /^schema test: export\.files\.maxBytes is 1; allowed: a whole number from 4096/),
  )
  assert.throws(() => createSchema({ name: 'test', ipc: { reconnectTries: 0 } }), sondeError('IPC_OPTION'))
})

test('who gives no options is told so', async () => {
  const { schema } = await started()
  for (const given of [undefined, null, 'jobs']) {
    const refused = sondeError('TEL_OPTION', /was given .*; allowed: an object of its options/)
    assert.throws(() => createSchema(given as never), refused)
    assert.throws(() => schema.createSource(given as never), refused)
  }
  await schema.close()
})

test('an option that there is not is refused, with those that there are and the one that was perhaps meant', async () => {
  const wrongs: readonly [object, RegExp][] = [
    [{ bufferByte: 5 }, /"bufferByte" is no option \(did you mean bufferBytes\?\); allowed: name, bufferBytes, /],
    [
      { export: { files: { dataRot: '/tmp' } } },
      /^schema wrong: export\.files\.dataRot is an unknown key, with "\/tmp" \(did you mean dataRoot\?\); allowed: name, /,
    ],
    [{ export: { jsonll: {} } }, /export\.jsonll is an unknown key.* jsonl\?\); allowed: files, /],
    [{ ipc: { socketDir: '/tmp' } }, /^ipc of schema wrong: .* socketsDir\?/],
    [{ prometheus: { endpont: ':1' } }, /^prometheus of schema wrong: .* endpoint\?/],
    [{ other: 1 }, /"other" is no option; allowed/],
  ]
  for (const [wrong, message] of wrongs) {
    assert.throws(() => createSchema({ name: 'wrong', ...wrong }), sondeError('TEL_OPTION', message))
  }
  const { schema } = await started()
  const misspelt = { tag: '', lables: {} } as SchemaSourceOptions
  assert.throws(() => schema.createSource(misspelt), sondeError('TEL_OPTION', /"lables" .* labels\?/))
  assert.equal(schema.status().sources, 0)
  await schema.close()
})

test('options out of range are refused', () => {
  const wrongs = [
    { bufferBytes: 7 },
    { bufferBytes: '60000' },
    { bufferBytes: 2 ** 27 },
    { sinks: {} },
    { sinks: [{}] },
  ] as unknown as Partial<SchemaOptions>[]
  for (const wrong of wrongs) {
    assert.throws(() => createSchema({ name: 'wrong', ...wrong }), sondeError('TEL_OPTION'), JSON.stringify(wrong))
  }
  const none = async () => undefined
  const whole = { name: 'own', stats: sinkStats(), accept: none, flush: none, close: none }
  const sinks: [object, RegExp][] = [
    [{ ...whole, name: 1 }, /^sink 0 of schema wrong is no sink: its name is 1/],
    [{ ...whole, flush: undefined }, /it has no flush\(\)/],
    [{ ...whole, ready: true }, /its ready is true/],
    [
      { ...whole, stats: undefined },
      /its stats are undefined without the counts of a sink; make them with sinkStats\(\)/,
    ],
    [{ ...whole, stats: { ...sinkStats(), dropped: {} } }, /its stats are an object without/],
  ]
  for (const [sink, says] of sinks) {
    assert.throws(() => createSchema({ name: 'wrong', sinks: [sink as Sink] }), sondeError('TEL_OPTION', says))
  }
})

test('a source that nothing tells from an open one is refused, since a view would show one of the two', async () => {
  const { schema } = await started()
  const first = schema.createSource({ id: 'a', tag: 'x', labels: { worker: '1' } })
  const same = () => schema.createSource({ id: 'a', tag: 'x', labels: { worker: '1' } })
  assert.throws(same, sondeError('TEL_SOURCE', /open source of id "a" and tag "x" with the same labels/))
  schema.createSource({ id: 'a', tag: 'x', labels: { worker: '2' } })
  schema.createSource({ id: 'a', tag: 'y', labels: { worker: '1' } })
  await first.close()
  same()
  await schema.close()
})

test('a record larger than the buffer is refused with the size to set, and what is buffered stays', async () => {
  const { schema, sink } = await started({ bufferBytes: 16 })
  const source = schema.createSource({ tag: '' })
  source.report(step, { time: wallNs(), n: 1 })
  assert.equal(source.capacityFor(job), 0)
  assert.throws(() => source.report(job, oneJob(1)), sondeError('SRC_RECORD_SIZE', /bufferBytes to at least 24/))
  await schema.close()
  assert.deepEqual(
    sink.kept.map(({ records }) => records.length),
    [1],
  )
})

test('flush of a source waits for the sinks; one that fails is told, and does not keep others from records', async () => {
  const slow = new KeepingSink('slow', { durable: true })
  const broken = new KeepingSink('broken')
  const { schema } = await started({ sinks: [broken, slow] })
  const { promise, resolve } = Promise.withResolvers<void>()
  slow.gate = promise
  const source = schema.createSource({ tag: '' })
  source.report(job, oneJob(1))
  let isDone = false
  const flushed = source.flush().then(() => {
    isDone = true
  })
  assert.equal(slow.stats.out, 1, 'it is emitted before flush returns')
  await new Promise((done) => setImmediate(done))
  assert.equal(isDone, false)
  resolve()
  await flushed
  broken.isThrowing = true
  source.report(job, oneJob(2))
  await assert.rejects(
    source.flush(),
    sondeError('TEL_LOST', /broken dropped 1 record \(1 failed: accept threw: broken\)/),
  )
  await source.flush()
  assert.deepEqual([slow.stats.out, broken.stats.dropped.get('failed'), broken.stats.errors], [2, 1, 1])
  broken.isThrowing = false
  broken.failure = new Error('disk full')
  const lost = sondeError('TEL_LOST', /broken: disk full/)
  await assert.rejects(source.flush(), lost)
  assert.equal(source.stats.errors, 2)
  source.flush()
  await until('the failure that nobody waited for', () => source.stats.errors === 3)
  assert.equal(schema.status().ack, 'durable')
  await assert.rejects(schema.close(), lost)
  assert.equal(slow.calls.at(-1), 'close')
  assert.equal(broken.calls.at(-1), 'close')
})

test('status tells state, types, open sources, and the accounts of every sink', async () => {
  const { schema, sink } = await started()
  const source = schema.createSource({ tag: '' })
  schema.createSource({ tag: 'other' })
  await source.close()
  countDrop(sink.stats, 'full', 3)
  const { ipc, ...status } = schema.status()
  assert.equal(ipc.code, 1)
  assert.deepEqual(status, {
    state: 'started',
    ack: 'memory',
    types: 2,
    sources: 1,
    prometheus: undefined,
    sinks: [
      {
        name: 'keeping',
        durable: false,
        failing: '',
        stats: { ...sinkStats(), dropped: { full: 3 }, hidden: {}, causes: {} },
      },
    ],
  })
  const printed = JSON.stringify(schema.status())
  countDrop(sink.stats, 'full', 1)
  assert.match(printed, /"dropped":\{"full":3\}/)
  assert.deepEqual(status.sinks[0]?.stats.dropped, { full: 3 }, 'it stays as it was')
  await assert.rejects(schema.close(), sondeError('TEL_LOST', /keeping dropped 4 records \(4 full\)/))
  assert.deepEqual([schema.status().state, schema.status().sources], ['closed', 0])
})

test('status as JSON says why no service is connected', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-schema-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const schema = createSchema({ name: 'alone', ipc: { socketsDir: folder, socketTimeoutMs: 50 } })
  schema.addType(job)
  await schema.start()
  t.after(() => schema.close().catch(() => undefined))
  const source = schema.createSource({ tag: '' })
  source.report(job, oneJob(1))
  source.emit()
  const lastError = await until('a try to have failed', () => schema.status().ipc.lastError)
  const status = schema.status()
  assert.deepEqual(JSON.parse(JSON.stringify(status)).ipc.lastError, { ...lastError })
  assert.match(lastError.message, new RegExp(folder))
  assert.deepEqual(structuredClone(status), status)
})

test('records that wait have another code than records that are lost', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-schema-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const schema = createSchema({ name: 'waits', ipc: { socketsDir: folder, socketTimeoutMs: 50 } })
  schema.addType(job)
  await schema.start()
  const source = schema.createSource({ tag: '' })
  source.report(job, oneJob(1))
  const waiting = /not everything is acknowledged yet: ipc: 1 record is not acknowledged after 50 ms: no service/
  await assert.rejects(schema.flush(), sondeError('TEL_PENDING', waiting))
  await assert.rejects(source.flush(), sondeError('TEL_PENDING', waiting))
  await assert.rejects(schema.close(), sondeError('TEL_LOST', /not everything was kept: ipc: 1 record/))
})

test('schemas of one process know nothing of each other', async () => {
  const [a, b] = await Promise.all([started(), started()])
  const source = a.schema.createSource({ tag: '' })
  const other = b.schema.createSource({ tag: '' })
  source.report(job, oneJob(1))
  other.report(job, oneJob(2))
  await a.schema.close()
  other.report(job, oneJob(3))
  await b.schema.close()
  assert.deepEqual([a.sink.stats.in, b.sink.stats.in], [1, 2])
})
