import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { QueryAnswer } from '@sonde/sdk/api'
import { labelKey, SampleGrid } from './sample-grid.ts'

const GAP = Number.NaN

const META = {
  metric: 'm',
  unit: '',
  role: 'gauge',
  help: '',
  function: 'last',
  resolutionMs: 0,
  clock: '',
  notes: [],
} as const

/** An answer to one question, times in steps of one second. */
function answer(
  first: number,
  series: Readonly<Record<string, readonly number[]>>,
  resetsMs: number[] = [],
): QueryAnswer {
  const count = Math.max(0, ...Object.values(series).map((values) => values.length))
  const times = Float64Array.from({ length: count }, (_, i) => (first + i) * 1_000)
  return {
    fromMs: first * 1_000,
    toMs: (first + count) * 1_000,
    stepMs: 1_000,
    times,
    results: [
      {
        ...META,
        series: Object.entries(series).map(([device, values]) => ({
          labels: { device },
          values: Float64Array.from(values),
          resetsMs,
        })),
      },
    ],
  }
}

function columnOf(grid: SampleGrid, device: string): number[] {
  const column = grid.results.get('q')?.columns.get(labelKey({ device }))
  return column ? [...grid.slice(column)] : []
}

test('answers lie side by side on one grid; what no answer wrote is a gap', () => {
  const grid = new SampleGrid({ stepMs: 1_000, windowMs: 10_000 })
  grid.write(answer(100, { a: [1, 2] }), ['q'])
  grid.write(answer(104, { a: [5], b: [50] }), ['q'])
  assert.deepEqual(
    [...grid.times],
    [100, 101, 102, 103, 104].map((second) => second * 1_000),
  )
  assert.deepEqual(columnOf(grid, 'a'), [1, 2, GAP, GAP, 5])
  assert.deepEqual(columnOf(grid, 'b'), [GAP, GAP, GAP, GAP, 50])
})

test('the same samples written again change nothing, and later ones replace what was half there', () => {
  const grid = new SampleGrid({ stepMs: 1_000, windowMs: 10_000 })
  grid.write(answer(100, { a: [1, GAP] }), ['q'])
  grid.write(answer(100, { a: [1, 2] }), ['q'])
  grid.write(answer(100, { a: [1, 2] }), ['q'])
  assert.deepEqual(columnOf(grid, 'a'), [1, 2])
})

test('the window slides without growing, and keeps the newest samples', () => {
  const grid = new SampleGrid({ stepMs: 1_000, windowMs: 10_000 })
  for (let second = 0; second < 1_000; second++) grid.write(answer(second, { a: [second] }), ['q'])
  assert.ok(grid.length >= 12 && grid.length <= 12 + 64, `${grid.length} samples`)
  assert.equal(columnOf(grid, 'a').at(-1), 999)
  assert.equal(grid.times.at(-1), 999_000)
  assert.equal(columnOf(grid, 'a')[0], grid.times[0]! / 1_000)
})

test('older samples that come later are put before the others', () => {
  const grid = new SampleGrid({ stepMs: 1_000, windowMs: 10_000 })
  grid.write(answer(105, { a: [5, 6] }), ['q'])
  grid.write(answer(103, { b: [30, 40, 50] }), ['q'])
  assert.deepEqual(columnOf(grid, 'a'), [GAP, GAP, 5, 6])
  assert.deepEqual(columnOf(grid, 'b'), [30, 40, 50, GAP])
})

test('a series that left the window is dropped, the others stay', () => {
  const grid = new SampleGrid({ stepMs: 1_000, windowMs: 5_000 })
  grid.write(answer(0, { a: [1], b: [1] }), ['q'])
  for (let second = 1; second < 200; second++) grid.write(answer(second, { a: [second] }), ['q'])
  grid.dropEmptyColumns()
  assert.deepEqual(columnOf(grid, 'b'), [])
  assert.equal(columnOf(grid, 'a').at(-1), 199)
})

test('restarts are kept once each, and only so many', () => {
  const grid = new SampleGrid({ stepMs: 1_000, windowMs: 10_000 })
  grid.write(answer(100, { a: [1] }, [99_000, 98_000]), ['q'])
  grid.write(answer(100, { a: [1] }, [99_000]), ['q'])
  const column = grid.results.get('q')?.columns.get(labelKey({ device: 'a' }))
  assert.deepEqual(column?.resetsMs, [98_000, 99_000])
  grid.write(
    answer(
      100,
      { a: [1] },
      Array.from({ length: 200 }, (_, i) => 100_000 + i),
    ),
    ['q'],
  )
  assert.equal(column?.resetsMs.length, 64)
})

test('labels in any order are the same series', () => {
  assert.equal(labelKey({ a: '1', b: '2' }), labelKey({ b: '2', a: '1' }))
  assert.notEqual(labelKey({ a: '1', b: '2' }), labelKey({ a: '12' }))
})

test('a bin is a column of its own, and so is the same bin of other edges', () => {
  const grid = new SampleGrid({ stepMs: 1_000, windowMs: 10_000 })
  const bins = (edges: readonly number[], values: readonly number[]) =>
    [...edges, null].map((upTo, i) => ({
      labels: { device: 'a' },
      bin: { above: edges[i - 1] ?? null, upTo },
      values: Float64Array.from(values),
      resetsMs: [],
    }))
  const empty = answer(10, { a: [0, 0] })
  const series = [...bins([1, 2], [1, Number.NaN]), ...bins([1, 4], [Number.NaN, 3])]
  grid.write({ ...empty, results: [{ ...META, role: 'bucket', series }] }, ['q'])
  const columns = [...(grid.results.get('q')?.columns.values() ?? [])]
  assert.deepEqual(
    columns.map(({ edges, bin, values }) => [edges, bin?.upTo, [...values.subarray(0, 2)]]),
    [
      ['1,2', 1, [1, Number.NaN]],
      ['1,2', 2, [1, Number.NaN]],
      ['1,2', null, [1, Number.NaN]],
      ['1,4', 1, [Number.NaN, 3]],
      ['1,4', 4, [Number.NaN, 3]],
      ['1,4', null, [Number.NaN, 3]],
    ],
  )
})
