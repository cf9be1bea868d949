import { type Column, gainsOf, numbersOf, type QueryFunction } from '@sonde/sdk/internal'
import { DAY_MS, HOUR_MS } from './slots-of-time.ts'

/** Width of a roll-up's bin: bin `b` holds the times in `(b, b + 1] * BIN_MS`. */
export const BIN_MS = 300_000
/** Bins of an hour. */
export const HOUR_BINS = HOUR_MS / BIN_MS
/** Bins of a day: the samples of a roll-up's column. */
export const DAY_BINS = DAY_MS / BIN_MS

/**
 * The parts of a bin, in the order of a column's elements. `end` is the time of the last sample, in ms after the start
 * of the bin; 0 means an empty bin.
 */
export const GAUGE_PARTS = ['last', 'end', 'min', 'max', 'sum', 'count'] as const
/**
 * `gain` is the increase of a counter over the valid pairs of samples, `covered` their time in ms; each pair counts for
 * the bin in which it ends.
 */
export const COUNTER_PARTS = ['last', 'end', 'gain', 'covered'] as const

/** Bins of one field of one series, with one array for each part. */
export interface FieldBins {
  /** Number of the first bin since the Unix epoch. */
  readonly firstBin: number
  readonly parts: readonly Float64Array[]
}

/** Indices of the parts in {@link FieldBins}. */
const LAST = 0
const END = 1
const MIN = 2
const MAX = 3
const SUM = 4
const COUNT = 5
const GAIN = 2
const COVERED = 3

/** Creates empty bins. */
export function emptyBins(firstBin: number, count: number, isCounter: boolean): FieldBins {
  const parts = isCounter ? COUNTER_PARTS : GAUGE_PARTS
  const memory = new Float64Array(parts.length * count)
  return { firstBin, parts: parts.map((_, part) => memory.subarray(part * count, (part + 1) * count)) }
}

/** Empties bins for reuse. */
export function emptyAll({ parts }: FieldBins): void {
  for (const part of parts) part.fill(0)
}

/** The bin of a time. */
export function binOf(timeMs: number): number {
  return Math.ceil(timeMs / BIN_MS) - 1
}

/** Marks the bins that take samples: 1 for each that does, in order; others are left unchanged. */
export type BinMask = Uint8Array

/** A mask of bins from `firstBin` on. */
export function maskOf({ firstBin, parts }: FieldBins, takes: (bin: number) => boolean): BinMask {
  return Uint8Array.from({ length: parts[0]?.length ?? 0 }, (_, i) => (takes(firstBin + i) ? 1 : 0))
}

/** Adds the samples of a column to the bins of a mask. */
export function addColumn(bins: FieldBins, column: Column, isCounter: boolean, mask: BinMask): void {
  if (isCounter) addCounter(bins, column.times, numbersOf(column), gainsOf(column).gains, mask)
  else addGauge(bins, column.times, numbersOf(column), mask)
}

/** NaN counts as a last value only. */
function addGauge({ firstBin, parts }: FieldBins, times: Float64Array, numbers: Float64Array, mask: BinMask): void {
  const [last, end, min, max, sum, count] = parts as [
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
  ]
  for (let i = 0; i < times.length; i++) {
    const timeMs = times[i] ?? 0
    const bin = binOf(timeMs) - firstBin
    if (mask[bin] !== 1) continue
    const value = numbers[i] ?? 0
    const after = endOf(timeMs, firstBin + bin)
    if (after >= (end[bin] ?? 0)) {
      end[bin] = after
      last[bin] = value
    }
    if (Number.isNaN(value)) continue
    if (count[bin] === 0 || value < (min[bin] ?? 0)) min[bin] = value
    if (count[bin] === 0 || value > (max[bin] ?? 0)) max[bin] = value
    sum[bin] = (sum[bin] ?? 0) + value
    count[bin] = (count[bin] ?? 0) + 1
  }
}

/** `gains` are the increases of each sample over the sample before, NaN if unknown. */
function addCounter(
  { firstBin, parts }: FieldBins,
  times: Float64Array,
  numbers: Float64Array,
  gains: Float64Array,
  mask: BinMask,
): void {
  const [last, end, gain, covered] = parts as [Float64Array, Float64Array, Float64Array, Float64Array]
  for (let i = 0; i < times.length; i++) {
    const timeMs = times[i] ?? 0
    const bin = binOf(timeMs) - firstBin
    if (mask[bin] !== 1) continue
    const after = endOf(timeMs, firstBin + bin)
    if (after >= (end[bin] ?? 0)) {
      end[bin] = after
      last[bin] = numbers[i] ?? 0
    }
    const gained = gains[i] ?? Number.NaN
    if (Number.isNaN(gained)) continue
    gain[bin] = (gain[bin] ?? 0) + gained
    covered[bin] = (covered[bin] ?? 0) + timeMs - (times[i - 1] ?? timeMs)
  }
}

/** Lays bins over others: non-empty bins replace those below. */
export function layOver(under: FieldBins, over: FieldBins): void {
  eachFilled(over, under, (i, to) => {
    for (let part = 0; part < under.parts.length; part++) setPart(under, part, to, partAt(over, part, i))
  })
}

/** Adds bins of other samples of the same series. */
export function addBins(sum: FieldBins, more: FieldBins, isCounter: boolean): void {
  eachFilled(more, sum, (i, to) => {
    addLast(sum, to, more, i)
    if (isCounter) addGains(sum, to, more, i)
    else addExtremes(sum, to, more, i)
  })
}

function eachFilled(from: FieldBins, to: FieldBins, take: (i: number, to: number) => void): void {
  const shift = from.firstBin - to.firstBin
  const room = to.parts[0]?.length ?? 0
  const count = from.parts[0]?.length ?? 0
  for (let i = Math.max(0, -shift); i < count && i + shift < room; i++) {
    if (partAt(from, END, i) !== 0) take(i, i + shift)
  }
}

/**
 * The samples of a query's column from bins, in steps of `stepBins` bins. `fn` decides the samples: the gains of a
 * counter, else one value for each step.
 */
export function columnOfBins(
  bins: FieldBins,
  isCounter: boolean,
  fn: QueryFunction,
  stepBins: number,
): Pick<Column, 'times' | 'values'> {
  if (isCounter && (fn === 'rate' || fn === 'increase')) return gainsOfBins(bins)
  const times: number[] = []
  const numbers: number[] = []
  const count = bins.parts[0]?.length ?? 0
  // Steps end at multiples of the step, so at bins whose next number is such a multiple.
  for (let start = 0; start < count; ) {
    const end = Math.min(count, start + stepBins - ((bins.firstBin + start) % stepBins))
    const step = isCounter || fn === 'last' ? lastOf(bins, start, end) : reduceStep(bins, start, end, fn)
    if (step !== undefined) {
      times.push(step.timeMs)
      numbers.push(step.value)
    }
    start = end
  }
  return { times: Float64Array.from(times), values: { numbers: Float64Array.from(numbers) } }
}

/**
 * If the time before the last sample of a bin is not fully covered, a sample without gain marks the start of the
 * covered part.
 */
function gainsOfBins(bins: FieldBins): Pick<Column, 'times' | 'values'> {
  const times: number[] = []
  const increases: number[] = []
  for (let i = 0; i < (bins.parts[0]?.length ?? 0); i++) {
    const timeMs = timeOf(bins, i)
    if (timeMs === undefined) continue
    const coveredMs = partAt(bins, COVERED, i)
    const startMs = timeMs - coveredMs
    // Ends are stored in whole milliseconds; a difference of that size is no gap.
    const isWhole = coveredMs > 0 && startMs - (times.at(-1) ?? Number.NEGATIVE_INFINITY) < 2
    if (!isWhole && coveredMs > 0) {
      times.push(startMs)
      increases.push(Number.NaN)
    }
    times.push(timeMs)
    increases.push(coveredMs > 0 ? partAt(bins, GAIN, i) : Number.NaN)
  }
  return { times: Float64Array.from(times), values: { increases: Float64Array.from(increases) } }
}

function lastOf(bins: FieldBins, start: number, end: number): { timeMs: number; value: number } | undefined {
  for (let i = end - 1; i >= start; i--) {
    const timeMs = timeOf(bins, i)
    if (timeMs !== undefined) return { timeMs, value: partAt(bins, LAST, i) }
  }
  return undefined
}

function reduceStep(
  bins: FieldBins,
  start: number,
  end: number,
  fn: QueryFunction,
): { timeMs: number; value: number } | undefined {
  const last = lastOf(bins, start, end)
  if (last === undefined) return undefined
  let count = 0
  let value = Number.NaN
  for (let i = start; i < end; i++) {
    const inBin = partAt(bins, COUNT, i)
    if (inBin === 0) continue
    const part = partAt(bins, fn === 'min' ? MIN : fn === 'max' ? MAX : SUM, i)
    if (count === 0) value = part
    else if (fn === 'min') value = Math.min(value, part)
    else if (fn === 'max') value = Math.max(value, part)
    else value += part
    count += inBin
  }
  return { timeMs: last.timeMs, value: fn === 'avg' ? value / count : value }
}

function addExtremes(to: FieldBins, at: number, from: FieldBins, i: number): void {
  const count = partAt(from, COUNT, i)
  if (count === 0) return
  const isFirst = partAt(to, COUNT, at) === 0
  setPart(to, MIN, at, isFirst ? partAt(from, MIN, i) : Math.min(partAt(to, MIN, at), partAt(from, MIN, i)))
  setPart(to, MAX, at, isFirst ? partAt(from, MAX, i) : Math.max(partAt(to, MAX, at), partAt(from, MAX, i)))
  setPart(to, SUM, at, partAt(to, SUM, at) + partAt(from, SUM, i))
  setPart(to, COUNT, at, partAt(to, COUNT, at) + count)
}

function addGains(to: FieldBins, at: number, from: FieldBins, i: number): void {
  setPart(to, GAIN, at, partAt(to, GAIN, at) + partAt(from, GAIN, i))
  setPart(to, COVERED, at, partAt(to, COVERED, at) + partAt(from, COVERED, i))
}

function addLast(to: FieldBins, at: number, from: FieldBins, i: number): void {
  if (partAt(from, END, i) < partAt(to, END, at)) return
  setPart(to, END, at, partAt(from, END, i))
  setPart(to, LAST, at, partAt(from, LAST, i))
}

function timeOf(bins: FieldBins, i: number): number | undefined {
  const end = partAt(bins, END, i)
  return end === 0 ? undefined : (bins.firstBin + i) * BIN_MS + end
}

function endOf(timeMs: number, bin: number): number {
  // At least 1, because 0 means an empty bin.
  return Math.max(1, Math.round(timeMs - bin * BIN_MS))
}

function partAt(bins: FieldBins, part: number, i: number): number {
  return bins.parts[part]?.[i] ?? 0
}

function setPart(bins: FieldBins, part: number, i: number, value: number): void {
  const values = bins.parts[part]
  if (values !== undefined) values[i] = value
}
