import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Batch,
  createSource,
  defineType,
  gauge,
  label,
  type ReadRecord,
  readRecords,
  text,
  timestamp,
  viewsOf,
  wallNs,
} from '@sonde/sdk'
import type { SymbolTable } from '@sonde/sdk/internal'
import { anyRecord, anyType } from '../../../sdk/test/any-type.ts'
import { property, until } from '../../../sdk/test/helper.ts'
import { Random, SEED } from '../../../sdk/test/random.ts'
import { Counting, numbersIn } from '../../test/counted-records.ts'
import { openStore } from '../../test/open-store.ts'
import { createStore, type Store } from './store.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const ALL = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY, recordLimit: 1_000_000 }

/** Records as sorted texts, so that two lists can be compared. */
function texts(batches: readonly Batch[]): string[] {
  const all = batches.flatMap(({ type, source, bytes, count, symbols, clock }) => {
    const records = readRecords(type, viewsOf(bytes), count, symbols) as Iterable<ReadRecord>
    const { id, tag, labels } = source
    return [...records].map((record) => recordText({ type: type.fingerprint, id, tag, labels, clock, ...record }))
  })
  return all.sort()
}

/** Distinguishes NaN, negative zero and bigint, which JSON does not. */
function recordText(record: object): string {
  return JSON.stringify(record, (_key, value: unknown) => {
    if (typeof value === 'bigint') return `${value}n`
    return typeof value === 'number' && !(Number.isFinite(value) && !Object.is(value, -0))
      ? `f${Object.is(value, -0) ? '-0' : value}`
      : value
  })
}

property('records of any type come back as they were, from the head and from chunks', 4, async (random) => {
  const { store, close } = await openStore()
  try {
    const given: Batch[] = []
    for (let version = 0; version < 4; version++) reportAny(random, store, given)
    await store.flush()
    const expected = texts(given)
    const read = async () => {
      const names = [...new Set(given.map(({ type }) => type.name))]
      return texts((await Promise.all(names.map((type) => store.records({ ...ALL, type })))).flat())
    }
    assert.deepEqual(await read(), expected, 'from the head')
    await store.maintain()
    assert.deepEqual(await read(), expected, 'from chunks')
    assert.equal(store.status().corruptChunks, 0)
  } finally {
    await close()
  }
})

/** Reports records of a random type, with times of the past hours, out of order. */
function reportAny(random: Random, store: Store, given: Batch[]): void {
  const type = anyType(random)
  const emit = (batch: Batch) => {
    given.push({ ...batch, bytes: batch.bytes.slice() })
    store.accept(batch)
  }
  const options = {
    id: `s${random.integer(0, 1)}`,
    labels: { rack: 'r1' },
    tag: 'lab',
    intervalMs: 1000,
    clock: random.pick(['wall', 'device'] as const),
  }
  const source = createSource({ ...options, emit })
  for (let i = 0; i < 300; i++) {
    const timeMs = Date.now() - 5 * HOUR_MS + random.integer(0, 2 * HOUR_MS)
    source.report(type, anyRecord(random, type, timeMs))
    if (random.chance(0.05)) source.flush()
  }
  source.flush()
}

test('a text that a record has from the table of labels is there after a restart', async () => {
  const card = defineType('card', 'A card', { time: timestamp(), name: label('Its name'), model: text() })
  const { store, path, close } = await openStore()
  try {
    const source = createSource({
      id: 'cards',
      emit(batch) {
        const view = new DataView(batch.bytes.buffer, batch.bytes.byteOffset)
        const model = card.layout.slots.find((slot) => slot.name === 'model')
        const symbols = batch.source.symbols as SymbolTable
        // The first labels of a source are always stored.
        for (let other = 0; other < 100; other++) symbols.id(`other ${other}`)
        view.setUint32(model?.offset ?? 0, symbols.id('MT4129'), true)
        store.accept(batch)
      },
    })
    source.report(card, { time: wallNs(), name: 'mlx5_0', model: '' })
    source.flush()
    await store.close()
    const later = await createStore({ path })
    try {
      for (const place of ['the head', 'chunks']) {
        const [batch] = await later.records({ ...ALL, type: 'card' })
        assert.ok(batch !== undefined)
        const [record] = readRecords(batch.type, viewsOf(batch.bytes), batch.count, batch.symbols)
        assert.equal((record as ReadRecord | undefined)?.model, 'MT4129', `from ${place}`)
        await later.maintain()
      }
    } finally {
      await later.close()
    }
  } finally {
    await close()
  }
})

test('records of another clock come back as they were, and no question places them in time', async () => {
  const { store, close } = await openStore()
  try {
    const type = defineType('clocked', 'Of two clocks', { time: timestamp(), load: gauge('f64') })
    // The clock of a device may be off by only half a minute, which nobody would see in a chart.
    const toMs = Math.floor(Date.now() / 60_000) * 60_000 - 3 * HOUR_MS
    for (const clock of ['wall', 'device'] as const) {
      const source = createSource({ id: clock, labels: { clock }, clock, emit: (batch) => store.accept(batch) })
      for (let i = 0; i < 10; i++) source.report(type, { time: BigInt(toMs - i * 1000) * 1_000_000n, load: i })
      await source.flush()
    }
    await store.flush()
    const query = {
      metric: 'clocked_load',
      function: 'last',
      matchers: [],
      by: undefined,
      aggregate: 'sum',
    } as const
    const look = async () => {
      const { results } = await store.query({ fromMs: toMs - 60_000, toMs, stepMs: 10_000, queries: [query] })
      const kept = await store.records({ ...ALL, type: 'clocked' })
      return {
        placed: results[0]?.series.map(({ labels }) => labels.clock),
        kept: kept.map(({ source, count }) => `${source.id} ${count}`).sort(),
      }
    }
    assert.deepEqual(await look(), { placed: ['wall'], kept: ['device 10', 'wall 10'] })
    await store.maintain()
    assert.deepEqual(await look(), { placed: ['wall'], kept: ['device 10', 'wall 10'] }, 'compacted')
  } finally {
    await close()
  }
})

test('a new version of a type needs no migration: both are read, and a question joins them', async () => {
  const { store, close } = await openStore()
  try {
    const older = defineType('disk', 'A disk', { time: timestamp(), disk: label(), heat: gauge('u8') })
    const newer = defineType('disk', 'A disk', {
      time: timestamp(),
      slot: gauge('u16'),
      heat: gauge('f64'),
      disk: label(),
    })
    const startMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 2 * HOUR_MS
    const source = createSource({ id: 'disks', intervalMs: 1000, emit: (batch) => store.accept(batch) })
    const time = (s: number) => BigInt(startMs + s * 1000) * 1_000_000n
    source.report(older, { time: time(1), disk: 'sda', heat: 40 })
    source.report(newer, { time: time(2), disk: 'sda', heat: 40.5, slot: 3 })
    source.flush()
    const query = { metric: 'disk_heat', function: 'last', matchers: [], by: undefined, aggregate: 'sum' } as const
    for (const state of ['head', 'chunks']) {
      await store.flush()
      const { results } = await store.query({ fromMs: startMs, toMs: startMs + 2000, stepMs: 1000, queries: [query] })
      assert.deepEqual(
        results[0]?.series.map(({ values }) => [...values]),
        [[40, 40.5]],
        state,
      )
      await store.maintain()
    }
  } finally {
    await close()
  }
})

test('what a type says of entities is kept, also of a type that was stored before it said so', async () => {
  const fields = { time: timestamp(), belt: label(), heat: gauge('f64') }
  const entity = { kind: 'conveyor_belt', key: ['belt'] }
  const { store, path, close } = await openStore()
  const report = async (to: Store, options: { entity?: typeof entity }) => {
    const source = createSource({ id: 'belts', intervalMs: 1000, emit: (batch) => to.accept(batch) })
    source.report(defineType('belt', 'A belt', fields, options), { time: wallNs(), belt: 'north', heat: 40 })
    source.flush()
    await to.flush()
  }
  const told = async (by: Store) => (await by.types([])).types.find(({ name }) => name === 'belt')?.entity
  await report(store, {})
  assert.equal(await told(store), undefined)
  await store.close()
  for (const isReported of [true, false]) {
    const again = await createStore({ path })
    if (isReported) await report(again, { entity })
    assert.deepEqual(await told(again), entity)
    await again.close()
  }
  await close()
})

test('what a client says first of a type holds until a source of the agent reports that type, and never after', async () => {
  const { store, close } = await openStore()
  const fields = { time: timestamp(), belt: label(), heat: gauge('f64') }
  const claims = (kind: string) => ({ entity: { kind, key: ['belt'] } })
  let sequence = 0n
  const report = async (options: object, client?: bigint) => {
    const emit = (batch: Batch) =>
      store.accept(
        client === undefined ? batch : { ...batch, origin: 'client', page: { client, sequence: ++sequence } },
      )
    const source = createSource({ id: `belts${client ?? ''}`, intervalMs: 1000, emit })
    source.report(defineType('belt', 'A belt', fields, options), { time: wallNs(), belt: 'north', heat: 40 })
    source.flush()
    await store.flush()
  }
  const kind = async () => (await store.types([])).types.find(({ name }) => name === 'belt')?.entity?.kind
  await report(claims('by_client'), 1n)
  assert.equal(await kind(), 'by_client')
  await report(claims('by_other'), 2n)
  assert.equal(await kind(), 'by_client', 'no client speaks for another')
  await report(claims('conveyor_belt'))
  assert.equal(await kind(), 'conveyor_belt')
  await report(claims('by_other'), 2n)
  assert.equal(await kind(), 'conveyor_belt')
  await close()
})

test('what is older than the retention leaves, and its roll-ups stay', async () => {
  const { store, path, close } = await openStore()
  await reportDays(store)
  await store.maintain()
  await store.maintain()
  assert.equal((await numbersIn(store)).length, 3000)
  await store.close()
  const aged = await createStore({ path, retentionDays: 2 })
  try {
    await aged.maintain()
    assert.equal((await numbersIn(aged)).length, 1000, 'the records of yesterday')
    const query = { metric: 'counted_number', function: 'increase', matchers: [], by: [], aggregate: 'sum' } as const
    const toMs = Date.now()
    const { results } = await aged.query({ fromMs: toMs - 5 * DAY_MS, toMs, stepMs: DAY_MS, queries: [query] })
    const gained = [...(results[0]?.series[0]?.values ?? [])].filter((value) => value > 0)
    assert.equal(
      gained.reduce((sum, value) => sum + value, 0),
      3 * 999,
      'every gain of every day',
    )
    const oldestMs = aged.status().oldestMs ?? 0
    assert.ok(oldestMs < toMs - 3 * DAY_MS, 'the roll-ups are the oldest there is')
  } finally {
    await aged.close()
    await close()
  }
})

test('past its size the file loses its oldest hours first, then roll-ups, and stays below', async () => {
  const maxBytes = 4 << 20
  const { store, close } = await openStore({ maxBytes })
  try {
    const type = defineType('noise', 'Does not compress', { time: timestamp(), value: gauge('f64') })
    const random = new Random(SEED)
    const source = createSource({ id: 'noise', intervalMs: 1, emit: (batch) => store.accept(batch) })
    for (let hour = 6; hour >= 2; hour--) {
      const startMs = Math.floor(Date.now() / HOUR_MS - hour) * HOUR_MS
      for (let i = 0; i < 200_000; i++) {
        source.report(type, { time: BigInt(startMs + 1 + i * 17) * 1_000_000n, value: random.next() })
      }
      source.flush()
      await store.flush()
      await store.maintain()
      const used = store.status().bytes - store.status().freeBytes
      assert.ok(used <= maxBytes, `${used} bytes are used`)
    }
    const batches = await store.records({ ...ALL, type: 'noise' })
    const count = batches.reduce((sum, batch) => sum + batch.count, 0)
    assert.ok(count >= 200_000 && count < 1_000_000, `${count} records are left`)
    const newest = Math.max(
      ...batches.map(({ bytes, count: n }) =>
        Number(viewsOf(bytes).data.getBigUint64((n - 1) * 16, true) / 1_000_000n),
      ),
    )
    assert.ok(newest > Date.now() - 3 * HOUR_MS, 'the newest stay')
  } finally {
    await close()
  }
})

test('records that are not yet compacted keep within the limit of the file, too', async () => {
  const maxBytes = 4 << 20
  const { store, close } = await openStore({ maxBytes })
  try {
    const random = new Random(SEED)
    const source = createSource({ id: 'noise', emit: (batch) => store.accept(batch) })
    // Too few records of each type for a segment before the hour is over.
    for (let part = 0; part < 6; part++) {
      const type = defineType(`noise${part}`, 'Noise', { time: timestamp(), value: gauge('f64') })
      for (let i = 0; i < 150_000; i++) {
        source.report(type, { time: BigInt(Date.now()) * 1_000_000n, value: random.next() })
      }
      source.flush()
      await store.flush()
      await store.maintain()
      const { bytes, freeBytes, backlogBytes } = store.status()
      assert.ok(bytes - freeBytes <= 2 * maxBytes, `${bytes - freeBytes} bytes are used`)
      assert.ok(backlogBytes <= maxBytes, `${backlogBytes} bytes are not compacted`)
    }
    const left = await store.records({ ...ALL, type: 'noise5' })
    assert.ok(left.length > 0, 'the newest stay')
    assert.deepEqual(await store.records({ ...ALL, type: 'noise0' }), [])
  } finally {
    await close()
  }
})

test('series beyond the limit are dropped and counted, and known ones go on', async () => {
  const { store, close } = await openStore({ seriesLimit: 10 })
  try {
    const type = defineType('many', 'Many series', { time: timestamp(), id: label(), value: gauge('f64') })
    const source = createSource({ id: 'many', emit: (batch) => store.accept(batch) })
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 15; i++) source.report(type, { time: BigInt(Date.now()) * 1_000_000n, id: `i${i}`, value: i })
      source.flush()
      await assert.rejects(store.flush(), { code: 'STO_LOST', message: /dropped 5 records/ })
    }
    assert.deepEqual([store.stats.in, store.stats.out, store.stats.dropped.get('series_limit')], [30, 20, 10])
  } finally {
    await close()
  }
})

test('acknowledged is what was accepted, and the file grows by itself', async () => {
  const { store, close } = await openStore()
  try {
    const beforeMs = Date.now()
    new Counting(store).report(100)
    assert.equal(store.status().ackedMs, 0)
    await store.flush()
    assert.ok(store.status().ackedMs >= beforeMs)
    await until('the status is told', () => store.status().oldestMs !== null && store.status().bytes > 0)
    assert.equal(store.status().queuedBytes, 0)
  } finally {
    await close()
  }
})

/** A thousand records on each of three days: 4, 3 and 1 days ago. */
async function reportDays(store: Store): Promise<void> {
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS
  for (const day of [4, 3, 1]) {
    const counting = new Counting(store, 'child')
    counting.report(1000, today - day * DAY_MS + 12 * HOUR_MS)
    await store.flush()
  }
}

test('the time of the first record is told exactly, from the head, chunks and roll-ups', async () => {
  const { store, close } = await openStore({ retentionDays: 3 })
  try {
    const oldest = async () => {
      // The status is sent once a second, and after upkeep.
      await store.maintain()
      return store.status().oldestMs
    }
    assert.equal(await oldest(), null)
    const startMs = (Math.floor(Date.now() / DAY_MS) - 2) * DAY_MS + 1_002_000
    new Counting(store).report(10, Date.now())
    await store.flush()
    await store.maintain()
    const nowMs = store.status().oldestMs ?? 0
    assert.ok(Math.abs(nowMs - Date.now()) < 60_000, `${nowMs} is the first record's time`)
    const counting = new Counting(store, 'earlier')
    counting.report(10, startMs)
    await store.flush()
    assert.equal(await oldest(), startMs, 'compacted')
    assert.equal(await oldest(), startMs, 'rolled up')
    const device = createSource({ id: 'device', clock: 'device', emit: (batch) => store.accept(batch) })
    device.report(defineType('boot', 'Seconds since boot', { time: timestamp(), load: gauge('f64') }), {
      time: 2_000_000_000_000_000_000n,
      load: 1,
    })
    device.flush()
    await store.flush()
    assert.equal(await oldest(), startMs, 'the time of a device is no wall time')
  } finally {
    await close()
  }
})
