import type { Batch } from './batch.ts'
import type { RecordType } from './record-type.ts'

const U64_MAX = 2n ** 64n - 1n

/** The earliest and the latest time. Unit: nanoseconds; for a device clock, its ticks. */
export type TimeSpan = readonly [earliestNs: bigint, latestNs: bigint]

type TimedBatch = Pick<Batch, 'type' | 'bytes' | 'count'>

/** The last result: several sinks ask for the same batch in turn. */
let latest: { readonly batch: TimedBatch; readonly span: TimeSpan } | undefined

/** {@link timeSpanOf} for the records of a batch. */
export function timeSpanOfBatch(batch: TimedBatch): TimeSpan {
  if (latest?.batch === batch) return latest.span
  const { type, bytes, count } = batch
  const span = timeSpanOf(type, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, count)
  latest = { batch, span }
  return span
}

/**
 * The earliest and the latest time of records in any order; 0 without records. Times are compared as two words, because
 * a `bigint` for each record would take longer than everything else.
 *
 * @param from Offset of the first record. Unit: bytes.
 */
export function timeSpanOf({ time, layout }: RecordType, data: DataView, from: number, count: number): TimeSpan {
  if (time === undefined || count === 0) return [0n, 0n]
  const { recordBytes } = layout
  let at = from + time.offset
  let [earliestAt, latestAt] = [at, at]
  let earliestLow = data.getUint32(at, true)
  let earliestHigh = data.getUint32(at + 4, true)
  let [latestLow, latestHigh] = [earliestLow, earliestHigh]
  for (let record = 1; record < count; record++) {
    at += recordBytes
    const low = data.getUint32(at, true)
    const high = data.getUint32(at + 4, true)
    if (high > latestHigh || (high === latestHigh && low > latestLow)) {
      latestLow = low
      latestHigh = high
      latestAt = at
    } else if (high < earliestHigh || (high === earliestHigh && low < earliestLow)) {
      earliestLow = low
      earliestHigh = high
      earliestAt = at
    }
  }
  const scale = time.field.resolution === 'us' ? 1000n : 1n
  return [atMostU64(data.getBigUint64(earliestAt, true) * scale), atMostU64(data.getBigUint64(latestAt, true) * scale)]
}

/** Limits microseconds: an invalid time may exceed 64 bits as nanoseconds. */
function atMostU64(value: bigint): bigint {
  return value > U64_MAX ? U64_MAX : value
}
