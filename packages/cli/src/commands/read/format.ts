import type { Batch, Views } from '@sonde/sdk'
import type { Slot } from '@sonde/sdk/internal'

/** Some records of one batch, not all of them at once: the text of all may be longer than memory. */
export interface Chosen {
  readonly batch: Batch
  /** The fields that are shown, in the order of the record. The same array as long as they are the same. */
  readonly slots: readonly Slot[]
  readonly views: Views
  /** Where each record begins. */
  readonly offsets: readonly number[]
}

/** A way to print records. */
export interface Format {
  /** The text of some records; may keep them to itself until later. */
  records(chosen: Chosen): string
  /** The text of what it kept, at the end and where nothing comes for now. */
  rest(): string
}

/** Makes something once for a type and its fields, as long as they come in a row. */
export function onceForType<T>(make: (type: Batch['type'], slots: readonly Slot[]) => T): (chosen: Chosen) => T {
  let last: { readonly type: Batch['type']; readonly slots: readonly Slot[]; readonly made: T } | undefined
  return ({ batch: { type }, slots }) => {
    if (last?.type !== type || last.slots !== slots) last = { type, slots, made: make(type, slots) }
    return last.made
  }
}
