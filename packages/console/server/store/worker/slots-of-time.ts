import type { Views } from '@sonde/sdk'

/** An hour. Unit: milliseconds. */
export const HOUR_MS = 3_600_000
/** Hours in the slot of a roll-up. */
export const DAY_HOURS = 24
export const DAY_MS = DAY_HOURS * HOUR_MS

/**
 * The hour of a time: hour `h` holds the times in `(h, h + 1]`, as steps of a query do, so a sample on the full hour
 * belongs to the hour before.
 */
export function hourOf(timeMs: number): number {
  return Math.ceil(timeMs / HOUR_MS) - 1
}

/** The start of an hour, which holds times after it. */
export function hourStartMs(hour: number): number {
  return hour * HOUR_MS
}

/** The day of an hour. */
export function dayOf(hour: number): number {
  return Math.floor(hour / DAY_HOURS)
}

/** The time of the record at `offset`; `offsetOfTime` is where its timestamp lies. */
export function timeMsAt(views: Views, offset: number, offsetOfTime: number, factor: number): number {
  const at = offset + offsetOfTime
  return (views.data.getUint32(at + 4, true) * 4294967296 + views.data.getUint32(at, true)) * factor
}
