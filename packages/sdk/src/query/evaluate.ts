import type { Column } from './column.ts'
import type { QueryFunction } from './form.ts'
import { apartAt, isGap, isHeld } from './gaps.ts'

/** The times at which values are computed: multiples of the step in `(fromMs, toMs]`. */
export function gridOf(fromMs: number, toMs: number, stepMs: number): Float64Array {
  const first = Math.floor(fromMs / stepMs) + 1
  const count = Math.max(0, Math.floor(toMs / stepMs) - first + 1)
  return Float64Array.from({ length: count }, (_, i) => (first + i) * stepMs)
}

/** The increase between two samples that are more than this many steps apart is spread over these steps. */
const SPREAD_STEPS = 1.5

/** Values of one column on the grid; `resetsMs` are the times of readings below the previous reading. */
export interface Evaluated {
  readonly values: Float64Array
  readonly resetsMs: readonly number[]
}

/**
 * Computes one function of one column at every time of the grid, over the samples in `(time - stepMs, time]`. If a step
 * has no sample, the last sample is used for at most 2.5 periods; after that the value is NaN, a gap.
 *
 * Counters: a reading below the previous reading is a restart. The increase across a restart is unknown, so this pair
 * of samples adds neither increase nor time, and no rate jumps. The same applies to a gap of more than 5 periods.
 */
export function evaluate(column: Column, fn: QueryFunction, grid: Float64Array, stepMs: number): Evaluated {
  if (fn === 'rate' || fn === 'increase') return evaluateCounter(column, fn, grid, stepMs)
  return { values: evaluateGauge(column, fn, grid, stepMs), resetsMs: [] }
}

function evaluateGauge(column: Column, fn: QueryFunction, grid: Float64Array, stepMs: number): Float64Array {
  const { times } = column
  const numbers = numbersOf(column)
  const out = new Float64Array(grid.length).fill(Number.NaN)
  let start = 0
  let end = 0
  for (let i = 0; i < grid.length; i++) {
    const at = grid[i] as number
    while (end < times.length && (times[end] as number) <= at) end++
    if (!isHeld(column, end - 1, at, stepMs)) continue
    while (start < end && (times[start] as number) <= at - stepMs) start++
    out[i] = fn === 'last' || start >= end ? (numbers[end - 1] as number) : reduce(numbers, start, end, fn)
  }
  return out
}

/** NaN readings are ignored, as in an aggregation; the result of only NaN readings is NaN. */
function reduce(numbers: Float64Array, start: number, end: number, fn: QueryFunction): number {
  let result = Number.NaN
  let count = 0
  for (let i = start; i < end; i++) {
    const value = numbers[i] as number
    if (Number.isNaN(value)) continue
    if (count++ === 0) result = value
    else if (fn === 'avg') result += value
    else if (fn === 'min' ? value < result : value > result) result = value
  }
  return fn === 'avg' ? result / count : result
}

function evaluateCounter(column: Column, fn: 'rate' | 'increase', grid: Float64Array, stepMs: number): Evaluated {
  const { times } = column
  const { gains, resetsMs } = gainsOf(column)
  const values = new Float64Array(grid.length).fill(Number.NaN)
  let start = 0
  let end = 0
  for (let i = 0; i < grid.length; i++) {
    const at = grid[i] as number
    while (end < times.length && (times[end] as number) <= at) end++
    if (!isHeld(column, end - 1, at, stepMs)) continue
    while (start < end - 1 && (times[start] as number) <= at - stepMs) start++
    let gain = 0
    let elapsedMs = 0
    for (let pair = start; pair < end; pair++) {
      const gained = gains[pair] as number
      if (Number.isNaN(gained)) continue
      gain += gained
      elapsedMs += pair === 0 ? stepMs : (times[pair] as number) - (times[pair - 1] as number)
    }
    if (elapsedMs === 0) continue
    if (fn === 'rate') values[i] = (gain / elapsedMs) * 1000
    // An increase over many steps is divided among them.
    else values[i] = elapsedMs > stepMs * SPREAD_STEPS ? (gain * stepMs) / elapsedMs : gain
  }
  return { values, resetsMs }
}

/** The increase of a counter at each sample, NaN if unknown, and the times of restarts. */
export function gainsOf(column: Column): { readonly gains: Float64Array; readonly resetsMs: readonly number[] } {
  const { times, values } = column
  if ('increases' in values) return { gains: values.increases, resetsMs: [] }
  const gains = new Float64Array(times.length).fill(Number.NaN)
  const resetsMs: number[] = []
  for (let i = 1; i < times.length; i++) {
    const gain =
      'words' in values ? wordGain(values.words, i) : (values.numbers[i] as number) - (values.numbers[i - 1] as number)
    if (gain < 0) resetsMs.push(times[i] as number)
    else if (apartAt(times, i) > 0 && !isGap(column, i)) gains[i] = gain
  }
  return { gains, resetsMs }
}

/** Exact for any two u64 whose difference is below 2^53. */
function wordGain(words: Uint32Array, i: number): number {
  const low = (words[i * 2] as number) - (words[i * 2 - 2] as number)
  const high = (words[i * 2 + 1] as number) - (words[i * 2 - 1] as number)
  return high * 4294967296 + low
}

/** The plain values of a column; u64 beyond 2^53 become the nearest double. */
export function numbersOf({ times, values }: Column): Float64Array {
  if ('numbers' in values) return values.numbers
  if ('increases' in values) return values.increases
  const numbers = new Float64Array(times.length)
  for (let i = 0; i < numbers.length; i++) {
    numbers[i] = (values.words[i * 2 + 1] as number) * 4294967296 + (values.words[i * 2] as number)
  }
  return numbers
}
