import type { DisplayUnit } from '../format/number.ts'
import { formatIn } from '../format/number.ts'
import { formatDuration } from '../format/time.ts'
import { newestValue } from './interface-data.ts'

/**
 * Time over which the numbers of tiles are means. A training step takes seconds, so single samples jump between its
 * phases. Unit: milliseconds.
 */
const TILE_SPAN_MS = 10_000

/** The samples that numbers are read from: the newest samples, or all samples of a past window. */
export interface ReadSpan {
  /** Interval of the samples. Unit: milliseconds. */
  readonly stepMs: number
  readonly isNow: boolean
}

/** A number of a table, tile or fact, in raw units; NaN if it is absent. */
export interface DeviceReading {
  readonly value: number
  /** The extremes of a window that is over; NaN if the number is of now. */
  readonly low: number
  readonly high: number
}

/** The mean of the newest samples, or of the window. */
export function meanReading(values: Float64Array | undefined, span: ReadSpan): DeviceReading {
  return span.isNow ? readingOfNow(recentMean(values, span.stepMs)) : windowReading(values)
}

/** The newest sample, or the mean of the window. For steady values. */
export function newestReading(values: Float64Array | undefined, span: ReadSpan): DeviceReading {
  return span.isNow ? readingOfNow(newestValue(values)) : windowReading(values)
}

/** The last sample of a span, for states and limits, which have no mean. */
export function lastValue(values: Float64Array | undefined, { isNow }: ReadSpan): number {
  return isNow ? newestValue(values) : newestValue(values, Number.POSITIVE_INFINITY)
}

/** A number without extremes. */
export function readingOfNow(value: number): DeviceReading {
  return { value, low: Number.NaN, high: Number.NaN }
}

/** The extremes in a unit, `12.0 – 318`; empty if there are none, or where both read as the number itself. */
export function rangeWords(unit: DisplayUnit, { value, low, high }: DeviceReading): string {
  if (Number.isNaN(low) || Number.isNaN(high)) return ''
  const words = [low, high].map((end) => formatIn(unit, end))
  return words.every((word) => word === formatIn(unit, value)) ? '' : words.join(' – ')
}

/** What a number is in words: `mean of 10 s`. */
export function meanWords({ isNow }: ReadSpan): string {
  return isNow ? `mean of ${formatDuration(TILE_SPAN_MS)}` : 'mean of the window'
}

/** Describes the numbers of a table and their extremes. */
export function meansWords({ isNow, stepMs }: ReadSpan): string {
  if (isNow) return `means of ${formatDuration(TILE_SPAN_MS)}`
  return `means of the window, least – most of its steps of ${formatDuration(stepMs)}`
}

/** The mean of the newest samples of a column, NaN if there is none. */
function recentMean(values: Float64Array | undefined, stepMs: number): number {
  const count = Math.max(1, Math.round(TILE_SPAN_MS / stepMs))
  const { value } = windowReading(values?.subarray(Math.max(0, values.length - count)))
  return Number.isNaN(value) ? newestValue(values) : value
}

function windowReading(values: Float64Array = new Float64Array(0)): DeviceReading {
  let [sum, count, low, high] = [0, 0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const value of values) {
    if (Number.isNaN(value)) continue
    sum += value
    count++
    if (value < low) low = value
    if (value > high) high = value
  }
  return count === 0 ? readingOfNow(Number.NaN) : { value: sum / count, low, high }
}
