import { TURN_LIMIT_MS } from '@sonde/sdk/internal'

/**
 * Longest turn, whatever the number of series. It has a factor of three in reserve, so that a sweep that starts late
 * still keeps windows whole. Unit: milliseconds.
 */
const TURN_MS = TURN_LIMIT_MS / 4

/** Longest turn of series with expensive reads. Unit: milliseconds. */
export const LONGEST_TURN_MS = TURN_MS * 3

/** Least number of series in one sweep, so that each has its turn in time. */
export function leastReads(count: number, intervalMs: number, turnMs: number = TURN_MS): number {
  return Math.ceil((count * intervalMs) / turnMs)
}

/** Most sweeps between two reads of a series with turns. */
export function longestRest(intervalMs: number): number {
  return Math.floor(TURN_MS / Math.max(intervalMs, 1))
}

/** Selects part of a list; each item has its turn if `round` increases by one per call. */
export function inTurn<T>(list: readonly T[], count: number, round: number): T[] {
  const start = list.length === 0 ? 0 : (round * count) % list.length
  return [...list.slice(start), ...list.slice(0, start)].slice(0, count)
}
