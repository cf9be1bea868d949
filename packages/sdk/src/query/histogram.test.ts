import assert from 'node:assert/strict'
import { test } from 'node:test'
import { property, recordingSource, sondeError } from '../../test/helper.ts'
import { assertBins, type Counted, drawCounted, gainedIn, recordOf, waitsType } from '../../test/histograms.ts'
import { Periods } from '../schema/periods.ts'
import { answerRequest, type MetricColumns } from './answer.ts'
import { ColumnReader, slotsOfMetric } from './column.ts'
import type { QueryResult } from './form.ts'
import { quantileOf } from './histogram.ts'
import { parseQueryRequest } from './parse.ts'

const START_MS = 1_800_000_000_000
const STEP_MS = 10_000
const METRIC = 'waits_seconds'
const EDGES = [0.0001, 0.0002, 0.0004]
const OTHER_EDGES = [0.0001, 0.001, 0.01]

/** Histograms of devices with the same edges. */
interface Reported {
  readonly edges: readonly number[]
  readonly records: readonly Counted[]
}

function ask(
  reported: readonly Reported[],
  query: object,
  seconds: number,
): { result: QueryResult; times: Float64Array } {
  const find = (): MetricColumns[] =>
    reported.flatMap(({ edges, records }) => {
      const type = waitsType(edges)
      const { source, emitted } = recordingSource({ intervalMs: 1000 })
      for (const record of records) source.report(type, recordOf(record))
      source.flush()
      const periods = new Periods()
      return slotsOfMetric(type, METRIC).map((slot) => {
        const reader = new ColumnReader(type, slot, () => true, periods)
        for (const batch of emitted) {
          periods.take(batch)
          reader.push(batch)
        }
        return { type, slot, clock: 'wall', series: reader.take() }
      })
    })
  const window = { fromMs: START_MS, toMs: START_MS + seconds * 1000, stepMs: STEP_MS }
  const request = parseQueryRequest({ ...window, queries: [{ metric: METRIC, ...query }] })
  const { results, times } = answerRequest(request, find)
  const [result] = results
  assert.ok(result)
  return { result, times }
}

/** Records a second apart of which each has the counts given. */
function counted(device: string, ...counts: readonly (readonly number[])[]): Counted[] {
  return counts.map((of, i) => ({ device, timeMs: START_MS + 1000 * (i + 1), counts: of.map(BigInt) }))
}

property('each bin gains what its records say, over gaps and restarts', 20, (random) => {
  const [one, other] = ['a', 'b'].map((device) => drawCounted(random, device, 4, START_MS, START_MS + 200_000))
  assert.ok(one && other)
  const reported = [
    { edges: EDGES, records: one },
    { edges: OTHER_EDGES, records: other },
  ]
  for (const asked of ['increase', 'rate']) {
    const { result, times } = ask(reported, { function: asked }, 200)
    assertBins(result, times, STEP_MS, one, EDGES)
    assertBins(result, times, STEP_MS, other, OTHER_EDGES)
  }
})

property('a quantile is that of what each step counted', 20, (random) => {
  const records = drawCounted(random, 'a', 4, START_MS, START_MS + 200_000)
  const { result, times } = ask([{ edges: EDGES, records }], { function: 'quantile', quantile: 0.9 }, 200)
  const [only] = result.series
  assert.equal(result.series.length, 1)
  assert.equal(only?.bin, undefined)
  for (const [i, atMs] of times.entries()) {
    const gains = gainedIn(records, atMs, STEP_MS)?.gains ?? []
    const total = gains.reduce((sum, gain) => sum + gain, 0)
    const value = only?.values[i] ?? 0
    if (total === 0) {
      assert.ok(Number.isNaN(value))
      continue
    }
    // The share of observations at or below the answer, counted from the answer itself.
    let share = 0
    for (const [bin, gain] of gains.entries()) {
      const above = EDGES[bin - 1] ?? 0
      const upTo = EDGES[bin] ?? Number.POSITIVE_INFINITY
      share += gain * Math.min(1, Math.max(0, (value - above) / (upTo - above)))
    }
    if (value < (EDGES.at(-1) ?? 0)) assert.ok(Math.abs(share / total - 0.9) < 1e-9, `${share / total} at ${atMs}`)
    else assert.ok(share / total <= 0.9 + 1e-9)
  }
})

test('a bin that rose across a restart, which only another bin shows, gains nothing', () => {
  const records = counted('a', [5, 0, 0, 9], [6, 0, 0, 9], [50, 0, 0, 0], [52, 0, 0, 0])
  const { result } = ask([{ edges: EDGES, records }], { function: 'increase' }, 10)
  assert.deepEqual(
    result.series.map(({ values }) => [...values]),
    [[3], [0], [0], [0]],
  )
  assert.deepEqual(result.series[0]?.resetsMs, [START_MS + 3000])
})

test('histograms are joined where their edges agree, and the answer says where they do not', () => {
  const same = [
    {
      edges: EDGES,
      records: [...counted('a', [0, 0, 0, 0], [1, 2, 3, 4]), ...counted('b', [0, 0, 0, 0], [10, 0, 0, 1])],
    },
  ]
  const joined = ask(same, { function: 'increase', by: [] }, 10).result
  assert.deepEqual(
    joined.series.map(({ values }) => [...values]),
    [[11], [2], [3], [5]],
  )
  assert.deepEqual(joined.notes, [])
  const mixed = [...same, { edges: OTHER_EDGES, records: counted('c', [0, 0, 0, 0], [7, 0, 0, 0]) }]
  const apart = ask(mixed, { function: 'increase', by: [] }, 10).result
  assert.deepEqual(
    apart.series.map(({ values }) => [...values]),
    [[11], [2], [3], [5], [7], [0], [0], [0]],
  )
  assert.match(apart.notes.join(), /waits_seconds have different edges/)
  // Kept apart by a label, they need not agree.
  assert.deepEqual(ask(mixed, { function: 'increase', by: ['device'] }, 10).result.notes, [])
})

test('a quantile lies in its bin as Prometheus has it', () => {
  const edges = [1, 2, 4]
  assert.equal(quantileOf(0.5, edges, [0, 4, 0, 0]), 1.5)
  assert.equal(quantileOf(0.5, edges, [4, 0, 0, 0]), 0.5)
  assert.equal(quantileOf(0.75, edges, [2, 0, 2, 0]), 3)
  assert.equal(quantileOf(1, edges, [1, 1, 1, 0]), 4)
  assert.equal(quantileOf(0.99, edges, [0, 0, 0, 7]), 4)
  assert.equal(quantileOf(0.5, [-1, 1], [3, 0, 0]), -1)
  assert.ok(Number.isNaN(quantileOf(0.5, edges, [0, 0, 0, 0])))
})

test('each bin counts as a series and its points as values', () => {
  const many = Array.from({ length: 2000 }, (_, i) => i)
  const wide = [{ edges: many, records: counted('a', many.map(() => 0).concat(0)) }]
  assert.throws(() => ask(wide, { function: 'increase' }, 20_000), sondeError('QRY_COST_LIMIT'))
  const sixTimes = Array.from({ length: 6 }, (_, i) => counted(`d${i}`, many.map(() => 0).concat(0))).flat()
  const crowd = [{ edges: many, records: sixTimes }]
  assert.throws(() => ask(crowd, { function: 'increase' }, 10), sondeError('QRY_SERIES_LIMIT'))
})

test('a quantile is asked for with its share, of histograms, and joined by sum', () => {
  const reported = [{ edges: EDGES, records: counted('a', [0, 0, 0, 0]) }]
  const refused: readonly (readonly [object, RegExp])[] = [
    [{ function: 'quantile' }, /quantile is undefined; allowed: a number above 0, at most 1/],
    [{ function: 'quantile', quantile: 0 }, /above 0/],
    [{ function: 'quantile', quantile: 1.5 }, /at most 1/],
    [{ function: 'rate', quantile: 0.5 }, /is for the function quantile/],
    [{ function: 'quantile', quantile: 0.5, by: [], aggregate: 'max' }, /aggregate is max; allowed with quantile: sum/],
  ]
  for (const [query, part] of refused) assert.throws(() => ask(reported, query, 10), sondeError('QRY_FORM', part))
})
