import type { Column } from './column.ts'

/**
 * The longest time between two records of a series that is read in turns, or whose source has no period, of which rates
 * are told in a short window. Unit: milliseconds.
 */
export const TURN_LIMIT_MS = 120_000

/** A value holds for at most this many periods of its source; then there is a gap. */
const HOLD_INTERVALS = 2.5
/** Two counter readings further apart than this many periods say nothing of the rate between them. */
const GAP_INTERVALS = 5
/** Where no period is declared, as many distances on either side say what is usual. */
const NEIGHBOURS = 4
/** Where no period is declared, it is taken to be no shorter: a program may pause for some seconds. */
const SEEN_PERIOD_MIN_MS = 1000

type Timed = Pick<Column, 'times' | 'intervalMs'>

/**
 * How far before the window samples are needed, so that its first value is right: two of a series whose period is seen
 * from them alone. Unit: milliseconds.
 */
export function leadMs(stepMs: number, intervalMs: number): number {
  return stepMs + Math.max(stepMs, intervalMs > 0 ? GAP_INTERVALS * intervalMs : 2 * TURN_LIMIT_MS)
}

/**
 * Whether sample `i` and the one before are so far apart that nothing is known of the time between them. Without a
 * declared period that is five times the longest distance around them: a period, turns and bursts all repeat.
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

/** Whether the sample `last` still stands for its series at a time. */
export function isHeld(column: Timed, last: number, atMs: number, stepMs: number): boolean {
  const { times, intervalMs } = column
  if (last < 0) return false
  const ageMs = atMs - (times[last] as number)
  if (ageMs < stepMs) return true
  if (intervalMs > 0) return ageMs < intervalMs * HOLD_INTERVALS
  // Turns become longer and shorter: one that came in time is none that was missed.
  if (last + 1 < times.length && !isGap(column, last + 1)) return true
  let turnMs = 0
  for (let i = Math.max(1, last - 1); i <= last; i++) {
    if (!isGap(column, i)) turnMs = Math.max(turnMs, apartAt(times, i))
  }
  return ageMs < turnMs * HOLD_INTERVALS
}

/** Distance of a sample from the one before. */
export function apartAt(times: Float64Array, i: number): number {
  return (times[i] as number) - (times[i - 1] as number)
}

/** The usual distance of samples: the median of up to 64 of them. 0 if there are fewer than two. */
export function estimateIntervalMs(times: Float64Array): number {
  const apart: number[] = []
  for (let i = Math.max(1, times.length - 64); i < times.length; i++) apart.push(apartAt(times, i))
  apart.sort((a, b) => a - b)
  return apart[apart.length >> 1] ?? 0
}
