import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Column } from './column.ts'
import { evaluate, gainsOf, gridOf } from './evaluate.ts'

const START_MS = 1_789_999_200_000

/** A column of a source that samples every second, `phaseMs` after the full second. */
function numbers(values: readonly (number | null)[], phaseMs = 300): Column {
  const kept = values.flatMap((value, i) => (value === null ? [] : [{ time: START_MS + i * 1000 + phaseMs, value }]))
  return {
    labels: {},
    intervalMs: 1000,
    times: Float64Array.from(kept, ({ time }) => time),
    values: { numbers: Float64Array.from(kept, ({ value }) => value) },
  }
}

function words(values: readonly bigint[]): Column {
  const column = numbers(values.map(() => 0))
  const bytes = new BigUint64Array(values)
  return { ...column, values: { words: new Uint32Array(bytes.buffer) } }
}

function grid(seconds: number, stepMs = 1000): Float64Array {
  return gridOf(START_MS, START_MS + seconds * 1000, stepMs)
}

test('the grid is aligned to multiples of the step and leaves out its start', () => {
  assert.deepEqual([...gridOf(1500, 5000, 1000)], [2000, 3000, 4000, 5000])
  assert.deepEqual([...gridOf(2000, 4000, 1000)], [3000, 4000])
  assert.deepEqual([...gridOf(2000, 2500, 1000)], [])
})

test('a rate is exact where the counter is far beyond 2^53', () => {
  const base = 2n ** 63n
  const { values } = evaluate(words([base, base + 1n, base + 4n, base + 4n]), 'rate', grid(4), 1000)
  assert.deepEqual([...values], [Number.NaN, 1, 3, 0])
})

test('a rate over a longer step covers every pair of readings in it', () => {
  const counter = numbers(Array.from({ length: 61 }, (_, i) => i * i))
  const { values } = evaluate(counter, 'rate', grid(60, 10_000), 10_000)
  // The pair that ends in each second of the step: gains of 2i - 1.
  const gains = (to: number) => Array.from({ length: 10 }, (_, i) => 2 * (to - i) - 1).reduce((a, b) => a + b)
  assert.equal(values[1], gains(19) / 10)
  assert.equal(values[5], gains(59) / 10)
})

test('a counter that restarts makes no spike: that pair counts neither as gain nor as time', () => {
  const { values, resetsMs } = evaluate(numbers([1e12, 1e12 + 100, 50, 150]), 'rate', grid(4), 1000)
  assert.deepEqual([...values], [Number.NaN, 100, Number.NaN, 100])
  assert.deepEqual(resetsMs, [START_MS + 2300])
  const wide = evaluate(numbers([1e12, 1e12 + 100, 50, 150]), 'increase', grid(4, 4000), 4000)
  assert.deepEqual([...wide.values], [200])
})

test('a wrap at 2^64 counts as a restart, never as a negative rate', () => {
  const { values, resetsMs } = evaluate(words([2n ** 64n - 5n, 10n, 20n]), 'rate', grid(3), 1000)
  assert.deepEqual([...values], [Number.NaN, Number.NaN, 10])
  assert.equal(resetsMs.length, 1)
})

test('a missing sample is bridged for 2.5 periods and is a gap beyond', () => {
  const { values } = evaluate(numbers([1, null, null, null, null, 6]), 'last', grid(7), 1000)
  assert.deepEqual([...values], [1, 1, Number.NaN, Number.NaN, Number.NaN, 6, 6])
})

test('no rate is made across a gap of more than five periods', () => {
  const gap = Array.from({ length: 8 }, () => null)
  const { values } = evaluate(numbers([0, 10, ...gap, 1e9, 1e9 + 10]), 'rate', grid(12), 1000)
  assert.equal(values[10], Number.NaN)
  assert.equal(values[11], 10)
  assert.ok([...values].every((value) => Number.isNaN(value) || value === 10))
})

/**
 * A column without a declared period, whose counter gains so many a second between samples that are so many seconds
 * apart.
 */
function turns(apartS: readonly number[], perS = 100): Column {
  let seconds = 0
  const times = [0, ...apartS].map((apart) => (seconds += apart))
  return {
    labels: {},
    intervalMs: 0,
    times: Float64Array.from(times, (time) => START_MS + time * 1000),
    values: { numbers: Float64Array.from(times, (time) => time * perS) },
  }
}

test('a series that is read in turns has its rate from one to the next, also where they become longer and shorter', () => {
  const column = turns([1, 1, 1, 1, 11, 11, 11, 12, 10, 3, 4, 2, 3, 1, 1, 1, 1])
  const { values } = evaluate(column, 'rate', grid(75), 1000)
  for (const value of values) assert.ok(Math.abs(value - 100) < 1e-9)
  const begun = evaluate(turns([1, 1, 1, 1]), 'rate', grid(12), 1000).values
  assert.deepEqual(
    [begun[5], begun[6]],
    [100, Number.NaN],
    'a longer one cannot be told from the end until it has ended',
  )
  const gains = evaluate(turns([11, 11, 11]), 'increase', grid(33), 1000).values.subarray(11)
  for (const gain of gains)
    assert.ok(Math.abs(gain - 100) < 1e-9, 'what came in eleven seconds came in none of them alone')
})

test('a gap between turns is one, at the start too', () => {
  const rate = (apartS: readonly number[], second: number) =>
    evaluate(turns(apartS), 'rate', grid(300), 1000).values[second]
  assert.equal(rate([8, 8, 8, 150, 8, 8], 125), Number.NaN)
  assert.equal(rate([8, 8, 8, 150, 8, 8], 182), 100)
  assert.equal(rate([8], 10), 100)
  assert.equal(rate([8, 8], 60), Number.NaN, 'and the end is the end')
})

test('where no period is declared, a pause that is long beside those around it is a gap', () => {
  const halfSeconds = Array.from({ length: 27 }, () => 0.5)
  const column = turns([...halfSeconds, 88, ...halfSeconds])
  for (const fn of ['last', 'rate', 'increase'] as const) {
    const { values } = evaluate(column, fn, grid(115, 5000), 5000)
    const known = Array.from(values, (value) => !Number.isNaN(value))
    assert.deepEqual(
      known,
      Array.from(values, (_, i) => i < 3 || i > 19),
      `${fn}: three steps, a hole of 17, three steps`,
    )
  }
  const { gains } = gainsOf(column)
  assert.deepEqual([gains[27], gains[28], gains[29]], [50, Number.NaN, 50])
  const back = evaluate(turns([...halfSeconds, 88]), 'last', grid(115), 1000).values
  assert.deepEqual([back[101], Number.isNaN(back[102])], [10_150, true], 'nor does the hole say how long a value holds')
})

test('where no period is declared, records that come in bursts, and seldom, have rates between them', () => {
  const bursts = Array.from({ length: 6 }, () => [20, 0.01, 0.01]).flat()
  const { values } = evaluate(turns(bursts), 'rate', grid(120, 10_000), 10_000)
  for (const value of values.subarray(1)) assert.ok(Math.abs(value - 100) < 1)
})

test('avg, min and max look at the samples of the step alone', () => {
  const column = numbers([9, 1, 2, 3, 4, 5])
  assert.deepEqual([...evaluate(column, 'avg', grid(6, 3000), 3000).values].slice(1), [4])
  assert.equal(evaluate(column, 'min', grid(6, 3000), 3000).values[1], 3)
  assert.equal(evaluate(column, 'max', grid(6, 3000), 3000).values[1], 5)
})

test('a rate of constant traffic is constant for any phase of sampling and any step', () => {
  for (let phaseMs = 0; phaseMs < 1000; phaseMs += 111) {
    for (const stepMs of [1000, 2000, 5000]) {
      const column = numbers(
        Array.from({ length: 40 }, (_, i) => i * 500),
        phaseMs,
      )
      const { values } = evaluate(column, 'rate', grid(40, stepMs), stepMs)
      for (const value of values.slice(1)) assert.equal(value, 500, `phase ${phaseMs}, step ${stepMs}`)
    }
  }
})
