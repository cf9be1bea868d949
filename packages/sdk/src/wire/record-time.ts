import type { Batch } from '../schema/batch.ts'
import type { Views } from '../schema/views.ts'

const NS_OF_US = 1000n
const NS_OF_S = 1_000_000_000n
/** Last second that an ISO time with four digits of year can have. */
const ISO_SECONDS_MAX = 253_402_300_799n

/**
 * The time of a record of a batch. Unit: nanoseconds since the Unix epoch. Records without a time have that of their
 * arrival, one nanosecond apart: a receiver may take records of one series with equal times for one.
 */
export function timeNsOf({ type, arrivedMs }: Batch, { data }: Views, index: number): bigint {
  const { time, layout } = type
  if (time === undefined) return BigInt(Math.round((performance.timeOrigin + arrivedMs) * 1e6)) + BigInt(index)
  const given = data.getBigUint64(index * layout.recordBytes + time.offset, true)
  return time.field.resolution === 'us' ? given * NS_OF_US : given
}

/** A time as ISO 8601 in UTC, with nine decimals. Times beyond the year 9999 are that year's end. */
export function isoTime(timeNs: bigint): string {
  const seconds = timeNs / NS_OF_S
  const date = new Date(Number(seconds > ISO_SECONDS_MAX ? ISO_SECONDS_MAX : seconds) * 1000)
  return `${date.toISOString().slice(0, -5)}.${String(timeNs % NS_OF_S).padStart(9, '0')}Z`
}
