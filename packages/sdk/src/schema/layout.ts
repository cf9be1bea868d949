import type { Field } from './field.ts'
import { KIND_BYTES } from './kinds.ts'

/** Where one field lies in the packed record. */
export interface Slot {
  readonly name: string
  readonly field: Field
  /** Place among the type's fields; also the bit of the presence words. */
  readonly index: number
  /** Bytes from the start of the record. */
  readonly offset: number
  /** Bytes of the whole field, all elements. */
  readonly bytes: number
}

/** The byte layout of a record. */
export interface Layout {
  readonly kind: 'aligned' | 'packed'
  /** Bytes of one record. A multiple of 8 in an aligned layout. */
  readonly recordBytes: number
  /** u32 words at the start, a bit per field in declared order, 1 = present; 0 words where no field is optional. */
  readonly presenceWords: number
  readonly slots: readonly Slot[]
}

/** Lays fields out in declared order. */
export function layoutOf(entries: readonly (readonly [string, Field])[], kind: 'aligned' | 'packed'): Layout {
  const presenceWords = entries.some(([, field]) => field.optional) ? Math.ceil(entries.length / 32) : 0
  let offset = presenceWords * 4
  const slots = entries.map(([name, field], index) => {
    const width = KIND_BYTES[field.kind]
    if (kind === 'aligned') offset = align(offset, width)
    const slot: Slot = { name, field, index, offset, bytes: width * field.count }
    offset += slot.bytes
    return slot
  })
  return { kind, recordBytes: kind === 'aligned' ? align(offset, 8) : offset, presenceWords, slots }
}

/** The next multiple of `width`, a power of two, at or after `offset`. */
export function align(offset: number, width: number): number {
  return (offset + width - 1) & ~(width - 1)
}
