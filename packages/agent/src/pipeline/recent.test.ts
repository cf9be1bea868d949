import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Batch, createSource, defineType, gauge, label, labelNumber, timestamp, wallNs } from '@sonde/sdk'
import { ColumnReader } from '@sonde/sdk/internal'
import { testHistory } from '../../../sdk/test/test-history.ts'
import { RecentRing } from './recent.ts'

const type = defineType('kept', 'Records of this test', { time: timestamp(), name: label(), level: gauge('f64') })

testHistory('the ring of the last minutes', async () => {
  const history = new RecentRing({ windowS: 3600 })
  return {
    history,
    accept: (batch) => history.accept(batch),
    settle: () => history.flush(),
    close: () => history.close(),
  }
})

test('of many who ask at once, each gets on by turns, and what waits goes before the next', async (t) => {
  const ring = new RecentRing()
  const source = createSource({ id: 'test', emit: (batch) => ring.accept(batch) })
  const beganMs = Date.now()
  for (let i = 0; i < 8; i++) {
    source.report(type, { time: wallNs(), name: 'a', level: 1 })
    source.flush()
  }
  const order: string[] = []
  const { push } = ColumnReader.prototype
  t.mock.method(ColumnReader.prototype, 'push', function (this: ColumnReader, ...of: Parameters<typeof push>) {
    order.push('batch')
    setImmediate(() => order.push('something else'))
    // As much as a turn may take.
    const endMs = performance.now() + 5
    while (performance.now() < endMs);
    push.apply(this, of)
  })
  const query = { metric: 'kept_level', function: 'last', matchers: [], by: undefined, aggregate: 'sum' } as const
  const request = { fromMs: beganMs - 1000, toMs: Date.now() + 1000, stepMs: 1000, queries: [query] }
  const answers = await Promise.all([ring.query(request), ring.query(request)])
  assert.equal(order.filter((one) => one === 'batch').length, 16)
  for (const [at, one] of order.entries()) if (one === 'batch') assert.notEqual(order[at - 1], 'batch')
  for (const { results } of answers) assert.equal(results[0]?.series.length, 1)
})

test('a request that would look through too many records is refused before it looks', async (t) => {
  const ring = new RecentRing()
  const pushed = t.mock.method(ColumnReader.prototype, 'push')
  const narrow = defineType('narrow', 'Small records', {
    time: timestamp(),
    number: labelNumber('u16'),
    level: gauge('u16'),
  })
  const source = createSource({ id: 'test', emit: (batch) => ring.accept(batch) })
  const beganMs = Date.now()
  for (let number = 0; number < 400_000; number++)
    source.report(narrow, { time: wallNs(), number: number & 1023, level: 1 })
  source.flush()
  const matchers = [{ label: 'number', op: '=', value: 'none' }] as const
  const query = { metric: 'narrow_level', function: 'last', matchers, by: undefined, aggregate: 'sum' } as const
  const request = { fromMs: beganMs - 1000, toMs: Date.now() + 1000, stepMs: 1000 }
  await assert.rejects(ring.query({ ...request, queries: Array.from({ length: 64 }, () => query) }), {
    code: 'QRY_COST_LIMIT',
    message:
      /looks through 25600000 series and records, 400000 of them for narrow_level; at most 20000000 a request: take a shorter window, or fewer questions/,
  })
  assert.equal(pushed.mock.callCount(), 0)
  await ring.query({ ...request, queries: [query] })
  assert.ok(pushed.mock.callCount() > 0)
})

/**
 * A function that reports records, as the agent itself or as a client; `timeMs` is that of the records, `arrivedMs`
 * that of their batch.
 */
function writer(ring: RecentRing, client?: bigint) {
  let sequence = 0n
  let arrival = 0
  const emit = (batch: Batch) => {
    const page = client === undefined ? {} : ({ origin: 'client', page: { client, sequence: ++sequence } } as const)
    ring.accept({ ...batch, ...page, arrivedMs: arrival })
  }
  const source = createSource({ id: `source ${client ?? 'own'}`, bufferBytes: 1 << 20, emit })
  return (arrivedMs: number, { records = 1, time = wallNs() } = {}) => {
    arrival = arrivedMs
    source.report(
      type,
      Array.from({ length: records }, (_, i) => ({ time, name: 'a', level: i })),
    )
    source.flush()
  }
}

/** Batches of each writer that are in the ring. */
function countsOf(ring: RecentRing): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { source } of ring.batches(type)) counts[source.id] = (counts[source.id] ?? 0) + 1
  return counts
}

test('a batch leaves when it arrived before the window, whatever the times in its records', () => {
  const ring = new RecentRing({ windowS: 10 })
  const [own, client] = [writer(ring), writer(ring, 1n)]
  for (let s = 0; s < 20; s++) own(s * 1000)
  client(20_000, { time: wallNs() + 3_000_000_000_000n })
  client(20_000, { time: 1_000_000_000_000_000_000n })
  own(21_000)
  assert.deepEqual(countsOf(ring), { 'source own': 10, 'source 1': 2 })
  own(40_000)
  assert.deepEqual(countsOf(ring), { 'source own': 1 })
  assert.deepEqual(
    ring.types().map(({ name }) => name),
    ['kept'],
  )
})

test('records of a batch are found by their own times, in whatever order they came', async () => {
  const ring = new RecentRing({ windowS: 300 })
  const source = createSource({ id: 'replay', intervalMs: 1000, emit: (batch) => ring.accept(batch) })
  const nowNs = wallNs()
  const report = (name: string, secondsAgo: number) =>
    source.report(type, { time: nowNs - BigInt(secondsAgo) * 1_000_000_000n, name, level: secondsAgo })
  report('old', 200)
  for (let secondsAgo = 10; secondsAgo > 0; secondsAgo--) report('new', secondsAgo)
  report('old', 199)
  source.flush()
  const toMs = Number(nowNs / 1_000_000n)
  const query = { metric: 'kept_level', function: 'last', matchers: [], by: undefined, aggregate: 'sum' } as const
  const { results } = await ring.query({ fromMs: toMs - 12_000, toMs, stepMs: 1000, queries: [query] })
  const values = results[0]?.series.find(({ labels }) => labels.name === 'new')?.values ?? []
  assert.deepEqual([...values].slice(-9), [9, 8, 7, 6, 5, 4, 3, 2, 1])
})

test('a client that reports a lot takes out what is its own, and neither that of other clients nor of the agent', () => {
  const ring = new RecentRing({ limitBytes: 1 << 20 })
  const [own, quiet, loud] = [writer(ring), writer(ring, 1n), writer(ring, 2n)]
  for (let i = 0; i < 10; i++) own(i)
  for (let i = 0; i < 10; i++) quiet(i)
  for (let i = 0; i < 3000; i++) loud(10 + i, { records: 100 })
  const { 'source 2': loudCount = 0, ...others } = countsOf(ring)
  assert.deepEqual(others, { 'source own': 10, 'source 1': 10 })
  assert.ok(loudCount > 100 && loudCount < 1000, `${loudCount} batches of the loud client`)
  assert.ok(ring.bytes <= 1 << 20)
})

test('clients that came with one batch and left hold bounded memory, and take out neither the batches of those that stay nor of the agent', () => {
  const ring = new RecentRing({ limitBytes: 1 << 20 })
  const [own, stays] = [writer(ring), writer(ring, 1n)]
  for (let i = 0; i < 10; i++) own(i)
  for (let i = 0; i < 10; i++) stays(i)
  for (let i = 0; i < 5000; i++) {
    const client = BigInt(i + 2)
    writer(ring, client)(10 + i)
    for (const { source } of ring.batches(type)) if (source.id === `source ${client}`) ring.retire(source)
  }
  const { 'source own': ownCount, 'source 1': staysCount, ...left } = countsOf(ring)
  assert.deepEqual([ownCount, staysCount], [10, 10])
  const memories = new Map(ring.batches(type).map(({ bytes }) => [bytes.buffer, bytes.buffer.byteLength]))
  const heldBytes = [...memories.values()].reduce((sum, bytes) => sum + bytes, 0)
  assert.ok(heldBytes <= 1 << 20 && Object.keys(left).length > 10, `${heldBytes} bytes are held`)
})

test('many small batches take no more memory than few large ones', () => {
  const ring = new RecentRing({ limitBytes: 1 << 20 })
  const client = writer(ring, 1n)
  for (let i = 0; i < 20_000; i++) client(i)
  const count = ring.batches(type).length
  assert.ok(count > 1000 && count < 5000, `${count} batches of one record each`)
})

test('batches that stay do not hold the memory of those that left', () => {
  const ring = new RecentRing({ limitBytes: 1 << 20 })
  const [own, slow, loud] = [writer(ring), writer(ring, 1n), writer(ring, 2n)]
  const memories = new Map<ArrayBufferLike, number>()
  for (let i = 0; i < 200; i++) {
    own(i)
    slow(i)
    // More than a slab of the loud client between two batches of the others.
    for (let k = 0; k < 40; k++) loud(i, { records: 2000 })
  }
  for (const { bytes } of ring.batches(type)) memories.set(bytes.buffer, bytes.buffer.byteLength)
  const heldBytes = [...memories.values()].reduce((sum, bytes) => sum + bytes, 0)
  assert.ok(heldBytes <= 4 << 20, `${heldBytes} bytes are held for a ring of 1 MiB`)
})

test('a ring that is closed holds nothing', async () => {
  const ring = new RecentRing()
  for (const client of [undefined, 1n, 2n]) writer(ring, client)(0)
  await ring.close()
  assert.deepEqual([ring.bytes, ring.types(), ring.batches(type)], [0, [], []])
})
