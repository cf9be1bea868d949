import type { Batch } from '../../schema/batch.ts'
import type { Views } from '../../schema/views.ts'
import { timeNsOf } from '../../wire/record-time.ts'

/** The times of the records of a batch in two words each, low first. Unit: nanoseconds since the Unix epoch. */
export function recordTimes(batch: Batch, views: Views): Uint32Array<ArrayBuffer> {
  const { type, count } = batch
  const { time, layout } = type
  const times = new Uint32Array(count * 2)
  if (time === undefined || time.field.resolution === 'us') {
    for (let i = 0; i < count; i++) {
      const ns = timeNsOf(batch, views, i)
      times[i * 2] = Number(ns & 0xffff_ffffn)
      times[i * 2 + 1] = Number((ns >> 32n) & 0xffff_ffffn)
    }
    return times
  }
  for (let i = 0, at = time.offset; i < count; i++, at += layout.recordBytes) {
    times[i * 2] = views.data.getUint32(at, true)
    times[i * 2 + 1] = views.data.getUint32(at + 4, true)
  }
  return times
}
