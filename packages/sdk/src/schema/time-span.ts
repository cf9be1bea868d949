import type { Batch } from './batch.ts'
import type { RecordType } from './record-type.ts'

const U64_MAX = 2n ** 64n - 1n

/** The earliest and the latest time. Unit: nanoseconds, but that of a clock that begins anywhere is its own. */
export type TimeSpan = readonly [earliestNs: bigint, latestNs: bigint]

type TimedBatch = Pick<Batch, 'type' | 'bytes' | 'count'>

/** What was asked for last: a batch is seen by each sink in turn. */
let latest: { readonly batch: TimedBatch; readonly span: TimeSpan } | undefined

/** The same as {@link timeSpanOf}, of the records of a batch. */
export function timeSpanOfBatch(batch: TimedBatch): TimeSpan {
  if (latest?.batch === batch) return latest.span
  const { type, bytes, count } = batch
  const span = timeSpanOf(type, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, count)
  latest = { batch, span }
  return span
}

/**
 * The earliest and the latest time among records, which may be in no order; 0 without any. Compared as two words, since
 * a `bigint` a record would take longer than all the rest.
 *
 * @param from Where the first record begins. Unit: bytes.
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

/** Microseconds that were none may be more than fit as nanoseconds. */
function atMostU64(value: bigint): bigint {
  return value > U64_MAX ? U64_MAX : value
}
