import type { Bin, Labels, QueryAnswer, ResultMeta, SeriesAnswer } from '@sonde/sdk/api'

/**
 * One series on the grid. `values` has the grid's capacity; use {@link SampleGrid.slice} to read the samples in the
 * window.
 */
export interface GridColumn {
  readonly labels: Labels
  /** The histogram bin of the column; absent for other series. */
  readonly bin?: Bin
  /** All edges of the histogram as text, to distinguish histograms; empty for other series. */
  readonly edges: string
  readonly values: Float64Array
  /** Times of counter resets, oldest first; at most 64. */
  resetsMs: number[]
}

/** The columns that answer one question. */
export interface GridResult {
  meta: ResultMeta
  readonly columns: Map<string, GridColumn>
}

/** Most columns that one grid holds; further series are left out and counted. */
const COLUMN_LIMIT_COUNT = 20_000
const RESET_LIMIT_COUNT = 64

/** A stable key for a set of labels. */
export function labelKey(labels: Labels): string {
  return Object.keys(labels)
    .sort()
    .map((name) => `${name}\u0001${labels[name]}`)
    .join('\u0002')
}

/**
 * All series of a page on one regular grid of times: position `i` is the time `(firstIndex + i) × stepMs`.
 *
 * Everything is preallocated typed arrays. A live update writes one position per series; the arrays are shifted only
 * when the spare capacity is used up. Nothing is interpolated: an unwritten position is NaN.
 */
export class SampleGrid {
  /** Distance of two samples in milliseconds. */
  readonly stepMs: number
  /** Results by the key that the caller gave. */
  readonly results = new Map<string, GridResult>()
  /** Series that were left out because the grid was full. */
  droppedSeriesCount = 0
  #capacity: number
  #windowCount: number
  #firstIndex = 0
  #length = 0
  #columnCount = 0
  #times: Float64Array

  /** Reserves capacity for 1.5 × `windowMs` of samples. */
  constructor(options: { readonly stepMs: number; readonly windowMs: number }) {
    this.stepMs = options.stepMs
    this.#windowCount = Math.ceil(options.windowMs / options.stepMs) + 2
    this.#capacity = this.#windowCount + Math.max(64, this.#windowCount >> 1)
    this.#times = new Float64Array(this.#capacity)
  }

  /** Samples in the window. */
  get length(): number {
    return this.#length
  }

  /** Grid index (time divided by step) of the first sample. */
  get firstIndex(): number {
    return this.#firstIndex
  }

  /** Times of the window, oldest first. A view: valid until the next write. */
  get times(): Float64Array {
    return this.#times.subarray(0, this.#length)
  }

  /** The samples of one column. A view: valid until the next write. */
  slice(column: GridColumn): Float64Array {
    return column.values.subarray(0, this.#length)
  }

  /** Writes an answer whose results belong to `keys`, in order. Writing the same samples again changes nothing. */
  write(answer: QueryAnswer, keys: readonly string[]): void {
    const count = answer.times.length
    if (count > 0) {
      const first = Math.round(answer.times[0]! / this.stepMs)
      const last = Math.round(answer.times[count - 1]! / this.stepMs)
      this.#reserve(first, last)
    }
    answer.results.forEach((result, order) => {
      const key = keys[order]
      if (key === undefined) return
      const target = this.#resultFor(key, result)
      const edges = edgesOf(result.series)
      for (const [place, series] of result.series.entries()) {
        const column = this.#columnFor(target, series, edges[place] ?? '')
        if (!column) continue
        this.#copy(answer.times, series.values, column.values)
        if (series.resetsMs.length > 0) column.resetsMs = mergeResets(column.resetsMs, series.resetsMs)
      }
    })
  }

  /** Extends the grid to a time without samples. */
  extend(toMs: number): void {
    const last = Math.floor(toMs / this.stepMs)
    if (this.#length > 0 && last >= this.#firstIndex + this.#length) this.#reserve(this.#firstIndex, last)
  }

  /** Forgets the columns of one question. */
  remove(key: string): void {
    this.#columnCount -= this.results.get(key)?.columns.size ?? 0
    this.results.delete(key)
  }

  /** Drops series that have no sample left in the window: their device is gone. */
  dropEmptyColumns(): void {
    for (const result of this.results.values()) {
      for (const [key, column] of result.columns) {
        if (this.slice(column).some((value) => !Number.isNaN(value))) continue
        result.columns.delete(key)
        this.#columnCount--
      }
    }
  }

  #resultFor(key: string, meta: ResultMeta): GridResult {
    const existing = this.results.get(key)
    if (existing) return existing
    const { metric, unit, role, help, resolutionMs, clock, notes } = meta
    const created = {
      meta: { metric, unit, role, help, function: meta.function, resolutionMs, clock, notes },
      columns: new Map(),
    }
    this.results.set(key, created)
    return created
  }

  #columnFor(result: GridResult, { labels, bin }: SeriesAnswer, edges: string): GridColumn | undefined {
    const key = bin === undefined ? labelKey(labels) : `${labelKey(labels)}\u0003${edges}\u0003${bin.upTo}`
    const existing = result.columns.get(key)
    if (existing) return existing
    if (this.#columnCount >= COLUMN_LIMIT_COUNT) {
      this.droppedSeriesCount++
      return undefined
    }
    const column = {
      labels,
      edges,
      ...(bin && { bin }),
      values: new Float64Array(this.#capacity).fill(Number.NaN),
      resetsMs: [],
    }
    result.columns.set(key, column)
    this.#columnCount++
    return column
  }

  #copy(times: Float64Array, values: Float64Array, target: Float64Array): void {
    const first = Math.round(times[0]! / this.stepMs) - this.#firstIndex
    const last = Math.round(times[times.length - 1]! / this.stepMs) - this.#firstIndex
    if (first >= 0 && last - first === times.length - 1) {
      target.set(values, first)
      return
    }
    for (let i = 0; i < times.length; i++) {
      const position = Math.round(times[i]! / this.stepMs) - this.#firstIndex
      if (position >= 0 && position < this.#length) target[position] = values[i]!
    }
  }

  /** Makes the grid cover `first` to `last`. If not all fit, the newest samples win. */
  #reserve(first: number, last: number): void {
    if (this.#length === 0) {
      this.#firstIndex = Math.max(first, last - this.#windowCount + 1)
    } else if (first < this.#firstIndex) {
      const newFirst = Math.max(first, this.#firstIndex + this.#length - this.#windowCount)
      if (newFirst < this.#firstIndex) this.#shift(newFirst - this.#firstIndex)
    }
    const needed = Math.max(last, this.#firstIndex + this.#length - 1) - this.#firstIndex + 1
    if (needed > this.#capacity) this.#shift(needed - this.#windowCount)
    this.#length = Math.max(last - this.#firstIndex + 1, this.#length)
    for (let i = 0; i < this.#length; i++) this.#times[i] = (this.#firstIndex + i) * this.stepMs
  }

  /** Drops `by` samples at the start, or reserves space for `-by` older samples. */
  #shift(by: number): void {
    const kept = Math.max(0, Math.min(this.#length, this.#length - by))
    for (const { columns } of this.results.values()) {
      for (const { values } of columns.values()) {
        if (by > 0) {
          values.copyWithin(0, by, by + kept)
          values.fill(Number.NaN, kept)
        } else {
          values.copyWithin(-by, 0, this.#length)
          values.fill(Number.NaN, 0, -by)
        }
      }
    }
    this.#firstIndex += by
    this.#length = by > 0 ? kept : this.#length - by
  }
}

/** The histogram edges of each series. An answer lists bins in order, with the open bin last. */
function edgesOf(series: readonly SeriesAnswer[]): readonly string[] {
  const found = series.map(() => '')
  let start = 0
  for (const [place, { bin }] of series.entries()) {
    if (bin !== undefined && bin.upTo !== null) continue
    const edges = series.slice(start, place).map((one) => one.bin?.upTo)
    if (bin !== undefined) found.fill(edges.join(), start, place + 1)
    start = place + 1
  }
  return found
}

function mergeResets(kept: readonly number[], added: readonly number[]): number[] {
  return [...new Set([...kept, ...added])].sort((a, b) => a - b).slice(-RESET_LIMIT_COUNT)
}
