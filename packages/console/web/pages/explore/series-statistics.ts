import { quickselect } from '../../chart/quickselect.ts'

/** Statistics of a series in the window, in raw units. Without samples all except the counts are NaN. */
export interface SeriesStatistics {
  readonly last: number
  readonly min: number
  readonly mean: number
  readonly max: number
  /** The 95th percentile. */
  readonly p95: number
  readonly sampleCount: number
  /** Gaps between the first and the last sample. */
  readonly gapCount: number
  /** Position of the newest sample; -1 if there is none. */
  readonly lastPosition: number
}

let scratch = new Float64Array(0)

/** Statistics of the samples `from` to `to` of a column. */
export function statisticsOf(values: Float64Array, from: number, to: number): SeriesStatistics {
  if (scratch.length < values.length) scratch = new Float64Array(values.length)
  let sampleCount = 0
  let gapCount = 0
  let sum = 0
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  let last = Number.NaN
  let lastPosition = -1
  let isGap = false
  for (let i = Math.max(0, from); i <= to; i++) {
    const value = values[i]!
    if (Number.isNaN(value)) {
      isGap = sampleCount > 0
      continue
    }
    if (isGap) gapCount++
    isGap = false
    scratch[sampleCount++] = value
    sum += value
    if (value < min) min = value
    if (value > max) max = value
    last = value
    lastPosition = i
  }
  if (sampleCount === 0) {
    const none = Number.NaN
    return { last: none, min: none, mean: none, max: none, p95: none, sampleCount, gapCount, lastPosition }
  }
  const p95 = quickselect(scratch, sampleCount, Math.min(sampleCount - 1, Math.ceil(sampleCount * 0.95) - 1))
  return { last, min, mean: sum / sampleCount, max, p95, sampleCount, gapCount, lastPosition }
}
