import { TURN_LIMIT_MS } from '@sonde/sdk/internal'

/**
 * How long a turn lasts at most, however many there are; with three times as much to spare, a late sweep tears no
 * window. Unit: milliseconds.
 */
const TURN_MS = TURN_LIMIT_MS / 4

/** How long one lasts at most where reads are dear. Unit: milliseconds. */
export const LONGEST_TURN_MS = TURN_MS * 3

/** How many of some series are read in one sweep at least, so that each has its turn in time. */
export function leastReads(count: number, intervalMs: number, turnMs: number = TURN_MS): number {
  return Math.ceil((count * intervalMs) / turnMs)
}

/** Sweeps for which a series that has turns may be left alone. */
export function longestRest(intervalMs: number): number {
  return Math.floor(TURN_MS / Math.max(intervalMs, 1))
}

/** Some of a list, so that each has its turn when `round` grows by one a call. */
export function inTurn<T>(list: readonly T[], count: number, round: number): T[] {
  const start = list.length === 0 ? 0 : (round * count) % list.length
  return [...list.slice(start), ...list.slice(0, start)].slice(0, count)
}
