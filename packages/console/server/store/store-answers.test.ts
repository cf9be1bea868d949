import assert from 'node:assert/strict'
import { type Batch, counter, createSource, defineType, gauge, label, optional, timestamp } from '@sonde/sdk'
import {
  answerRequest,
  ColumnReader,
  Periods,
  type QueryFunction,
  type SeriesAnswer,
  slotsOfMetric,
} from '@sonde/sdk/internal'
import { property } from '../../../sdk/test/helper.ts'
import type { Random } from '../../../sdk/test/random.ts'
import { openStore } from '../../test/open-store.ts'
import { createStore, type Store } from './store.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const TODAY_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS
const FROM_MS = TODAY_MS - 2 * DAY_MS - 2 * HOUR_MS
const TO_MS = TODAY_MS - DAY_MS + 3 * HOUR_MS

const type = defineType('gpu', 'A GPU', {
  time: timestamp(),
  gpu: label(),
  energy_total: counter('u64'),
  busy_total: counter('f64'),
  watts: optional(gauge('f64')),
  level: gauge('i32'),
})
const ASKED: readonly (readonly [string, QueryFunction])[] = [
  ['gpu_energy_total', 'rate'],
  ['gpu_energy_total', 'last'],
  ['gpu_busy_total', 'increase'],
  ['gpu_watts', 'avg'],
  ['gpu_watts', 'last'],
  ['gpu_level', 'min'],
  ['gpu_level', 'max'],
]

property('head, chunks and roll-ups answer as the evaluation of the very records does', 2, async (random) => {
  const { store, path, close } = await openStore()
  const reference = new Reference()
  try {
    report(samplesOf(random), store, reference)
    await store.flush()
    await compare(reference, store, { fromMs: FROM_MS, steps: [60_000, 300_000, 3_600_000, 420_000], where: 'head' })
    await store.maintain()
    await compare(reference, store, { fromMs: FROM_MS, steps: [60_000, 300_000, 3_600_000, 420_000], where: 'chunks' })
    // The first upkeep compacts, the second rolls up.
    await store.maintain()
    await compare(reference, store, {
      fromMs: FROM_MS,
      steps: [60_000, 300_000, 3_600_000],
      where: 'chunks and roll-ups',
    })
    // Records that come late, after their day was rolled up.
    reportLate(random, store, reference)
    await store.flush()
    await compare(reference, store, { fromMs: FROM_MS, steps: [60_000, 300_000, 900_000], where: 'late head' })
    await store.maintain()
    await compare(reference, store, { fromMs: FROM_MS, steps: [300_000, 900_000, 7_200_000], where: 'late chunks' })
    await store.maintain()
    await compare(reference, store, { fromMs: FROM_MS, steps: [300_000, 7_200_000], where: 'late roll-ups' })
    await store.close()
    // Samples older than an hour are deleted; the past days have roll-ups.
    const aged = await createStore({ path, retentionDays: 1 / 24 })
    try {
      await aged.maintain()
      const oldest = await aged.records({ type: 'gpu', fromMs: 0, toMs: Number.MAX_VALUE })
      assert.equal(oldest.length, 0, 'the samples are gone')
      await compare(reference, aged, { fromMs: FROM_MS, steps: [300_000, 900_000, 3_600_000], where: 'roll-ups' })
    } finally {
      await aged.close()
    }
  } finally {
    await close()
  }
})

property(
  'a day into which records still come answers so too, as more and more of it is rolled up',
  2,
  async (random) => {
    const { store, close } = await openStore()
    const reference = new Reference()
    try {
      const samples = [...samplesOf(random)].sort((a, b) => a.at - b.at)
      while (samples.length > 0) {
        const untilMs = (samples[0]?.at ?? 0) + random.integer(1, 9) * HOUR_MS
        const next = samples.findIndex(({ at }) => at > untilMs)
        report(samples.splice(0, next < 0 ? samples.length : next), store, reference)
        await store.flush()
        const where = `${samples.length} records to come`
        await compare(reference, store, { fromMs: FROM_MS, steps: [300_000, 3_600_000], where: `${where}, head` })
        await store.maintain()
        await compare(reference, store, { fromMs: FROM_MS, steps: [300_000, 3_600_000], where })
      }
    } finally {
      await close()
    }
  },
)

/** The same records in memory. */
class Reference {
  readonly #metrics = new Map<string, ColumnReader>()
  readonly #all: { timeMs: number; record: Record<string, unknown> }[] = []

  add(timeMs: number, record: Record<string, unknown>): void {
    this.#all.push({ timeMs, record })
    this.#metrics.clear()
  }

  answer(metric: string, fn: QueryFunction, fromMs: number, stepMs: number): readonly SeriesAnswer[] {
    const query = { metric, function: fn, matchers: [], by: undefined, aggregate: 'sum' } as const
    const slot = slotsOfMetric(type, metric)[0]
    assert.ok(slot)
    const periods = new Periods()
    const reader = new ColumnReader(type, slot, () => true, periods)
    const emit = (batch: Batch) => {
      periods.take(batch)
      reader.push(batch, fromMs - DAY_MS, TO_MS)
    }
    const source = createSource({ id: 'reference', intervalMs: 60_000, emit })
    for (const { record } of this.#all.toSorted((a, b) => a.timeMs - b.timeMs)) source.report(type, record as never)
    source.flush()
    const found = { type, slot, clock: 'wall', series: reader.take() }
    const { results } = answerRequest({ fromMs, toMs: TO_MS, stepMs, queries: [query] }, () => [found])
    return results[0]?.series ?? []
  }
}

async function compare(
  reference: Reference,
  store: Store,
  { fromMs, steps, where }: { fromMs: number; steps: readonly number[]; where: string },
): Promise<void> {
  for (const stepMs of steps) {
    const queries = ASKED.map(([metric, fn]) => {
      return { metric, function: fn, matchers: [], by: undefined, aggregate: 'sum' } as const
    })
    const { results } = await store.query({ fromMs, toMs: TO_MS, stepMs, queries })
    for (const [i, [metric, fn]] of ASKED.entries()) {
      const expected = reference.answer(metric, fn, fromMs, stepMs)
      const place = `${where}, ${fn}(${metric}) in steps of ${stepMs}`
      assert.equal(results[i]?.series.length, expected.length, place)
      for (const { labels, values } of expected) {
        const found = results[i]?.series.find((series) => series.labels.gpu === labels.gpu)
        assert.ok(found, place)
        assertClose(found.values, values, `${place} of ${labels.gpu}`)
      }
    }
  }
}

/** Equal except for rounding of times to milliseconds and a different order of sums. */
function assertClose(found: Float64Array, expected: Float64Array, place: string): void {
  assert.equal(found.length, expected.length, place)
  for (const [i, value] of expected.entries()) {
    const other = found[i] ?? Number.NaN
    const isClose = Number.isNaN(value) ? Number.isNaN(other) : Math.abs(value - other) <= 1e-5 * Math.abs(value) + 1e-9
    assert.ok(isClose, `${place}, value ${i}: found ${other}, expected ${value}`)
  }
}

/** A record and its time. Unit: milliseconds since the Unix epoch. */
interface Sample {
  readonly at: number
  readonly record: {
    readonly time: bigint
    readonly gpu: string
    readonly energy_total: bigint
    readonly busy_total: number
    readonly watts: number | undefined
    readonly level: number
  }
}

function* samplesOf(random: Random): Generator<Sample> {
  for (let i = 0; i < 3; i++) {
    let energy = random.chance(0.5) ? 2n ** 63n : 0n
    let busy = 0
    for (let timeMs = FROM_MS + 1; timeMs < TO_MS; timeMs += 60_000) {
      // Gaps of minutes and hours, restarts, and samples that are off the grid.
      if (random.chance(0.004)) timeMs += random.integer(1, 200) * 60_000
      energy = random.chance(0.005) ? 0n : energy + BigInt(random.integer(0, 1e9))
      busy = random.chance(0.003) ? 0 : busy + random.next()
      const at = Math.min(TO_MS - 1, timeMs + random.integer(0, 30_000))
      const record = {
        time: BigInt(at) * 1_000_000n,
        gpu: `gpu${i}`,
        energy_total: energy,
        busy_total: busy,
        watts: random.chance(0.1) ? undefined : random.chance(0.02) ? Number.NaN : random.integer(0, 7000) / 10,
        level: random.integer(-1000, 1000),
      }
      yield { at, record }
    }
  }
}

function report(samples: Iterable<Sample>, store: Store, reference: Reference): void {
  const source = createSource({ id: 'node', intervalMs: 60_000, emit: (batch) => store.accept(batch) })
  for (const { at, record } of samples) {
    source.report(type, record)
    reference.add(at, record)
  }
  source.flush()
}

function reportLate(random: Random, store: Store, reference: Reference): void {
  const source = createSource({ id: 'late', intervalMs: 60_000, emit: (batch) => store.accept(batch) })
  for (let i = 0; i < 200; i++) {
    const at = FROM_MS + random.integer(1, DAY_MS)
    const record = {
      time: BigInt(at) * 1_000_000n + 1000n,
      gpu: `gpu${random.integer(0, 2)}`,
      energy_total: BigInt(random.integer(0, 1e9)),
      busy_total: random.next(),
      level: random.integer(-1000, 1000),
    }
    source.report(type, record)
    reference.add(at, record)
  }
  source.flush()
}
