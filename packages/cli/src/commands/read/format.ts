import type { Batch, Views } from '@sonde/sdk'
import type { Slot } from '@sonde/sdk/internal'

/** Some records of one batch. Batches are split, because the text of a whole batch may exceed memory. */
export interface RecordSlice {
  readonly batch: Batch
  /** The fields that are shown, in the order of the record. The array stays the same as long as the fields do. */
  readonly slots: readonly Slot[]
  readonly views: Views
  /** The offset of each record. Unit: bytes. */
  readonly offsets: readonly number[]
}

/** A format of records. */
export interface ReadFormat {
  /** The text of some records; the format may hold text back until later. */
  records(chosen: RecordSlice): string
  /** The text that was held back; called at the end, and when no more records are waiting. */
  rest(): string
}

/** Caches a value for a type and its fields while they stay the same. */
export function onceForType<T>(make: (type: Batch['type'], slots: readonly Slot[]) => T): (chosen: RecordSlice) => T {
  let last: { readonly type: Batch['type']; readonly slots: readonly Slot[]; readonly made: T } | undefined
  return ({ batch: { type }, slots }) => {
    if (last?.type !== type || last.slots !== slots) last = { type, slots, made: make(type, slots) }
    return last.made
  }
}
