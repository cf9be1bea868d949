import type { Column } from './column.ts'

/**
 * The longest time between two records of a series without a known period for which rates are computed in a short
 * window. Unit: milliseconds.
 */
export const TURN_LIMIT_MS = 120_000

/** A value is valid for at most this many periods of its source; then there is a gap. */
const HOLD_INTERVALS = 2.5
/** Between two counter readings further apart than this many periods, the rate is unknown. */
const GAP_INTERVALS = 5
/** Without a declared period, this many distances on each side determine the usual distance. */
const NEIGHBOURS = 4
/** The shortest assumed period without a declared period: a program may pause for some seconds. */
const SEEN_PERIOD_MIN_MS = 1000

type Timed = Pick<Column, 'times' | 'intervalMs'>

/**
 * How far before the window samples are needed for a correct first value: two samples of a series whose period must be
 * estimated. Unit: milliseconds.
 */
export function leadMs(stepMs: number, intervalMs: number): number {
  return stepMs + Math.max(stepMs, intervalMs > 0 ? GAP_INTERVALS * intervalMs : 2 * TURN_LIMIT_MS)
}

/**
 * Whether sample `i` and the previous sample are so far apart that the time between them is unknown. Without a declared
 * period, the limit is five times the longest distance around them, because periods, turns and bursts repeat.
 */
export function isGap({ times, intervalMs }: Timed, i: number): boolean {
  const apartMs = apartAt(times, i)
  if (intervalMs > 0) return apartMs > intervalMs * GAP_INTERVALS
  if (apartMs <= SEEN_PERIOD_MIN_MS * GAP_INTERVALS) return false
  if (apartMs > TURN_LIMIT_MS) return true
  let usualMs = 0
  for (let near = Math.max(1, i - NEIGHBOURS); near <= i + NEIGHBOURS && near < times.length; near++) {
    if (near !== i) usualMs = Math.max(usualMs, apartAt(times, near))
  }
  return usualMs > 0 && apartMs > usualMs * GAP_INTERVALS
}

/** Whether the sample `last` is still valid for its series at a time. */
export function isHeld(column: Timed, last: number, atMs: number, stepMs: number): boolean {
  const { times, intervalMs } = column
  if (last < 0) return false
  const ageMs = atMs - (times[last] as number)
  if (ageMs < stepMs) return true
  if (intervalMs > 0) return ageMs < intervalMs * HOLD_INTERVALS
  // Turns vary in length: a sample within the longest usual distance was not missed.
  if (last + 1 < times.length && !isGap(column, last + 1)) return true
  let turnMs = 0
  for (let i = Math.max(1, last - 1); i <= last; i++) {
    if (!isGap(column, i)) turnMs = Math.max(turnMs, apartAt(times, i))
  }
  return ageMs < turnMs * HOLD_INTERVALS
}

/** Distance of a sample from the previous sample. */
export function apartAt(times: Float64Array, i: number): number {
  return (times[i] as number) - (times[i - 1] as number)
}

/** The usual distance of samples: the median of up to 64 distances. 0 for fewer than two samples. */
export function estimateIntervalMs(times: Float64Array): number {
  const apart: number[] = []
  for (let i = Math.max(1, times.length - 64); i < times.length; i++) apart.push(apartAt(times, i))
  apart.sort((a, b) => a - b)
  return apart[apart.length >> 1] ?? 0
}
