import type { Batch } from '../schema/batch.ts'
import type { RecordType } from '../schema/record-type.ts'
import { TEXT_ID_MIN } from '../schema/texts.ts'

/** The offsets of the symbols in the records of a type. */
export interface SymbolOffsets {
  /** From the start of a record. Unit: bytes. */
  readonly offsets: readonly number[]
  readonly hasTexts: boolean
}

const offsetsOf = new WeakMap<RecordType, SymbolOffsets>()

/** See {@link SymbolOffsets}. */
export function symbolOffsets(type: RecordType): SymbolOffsets {
  let found = offsetsOf.get(type)
  if (found === undefined) {
    const slots = type.layout.slots.filter(({ field }) => field.kind === 'symbol')
    found = {
      offsets: slots.map(({ offset }) => offset),
      hasTexts: slots.some(({ field }) => field.role !== 'label'),
    }
    offsetsOf.set(type, found)
  }
  return found
}

/** The highest id of a label in records; 0 if they have no label. Text fields may hold labels too. */
export function lastLabelOf({ type, bytes }: Pick<Batch, 'type' | 'bytes'>): number {
  const { recordBytes } = type.layout
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let last = 0
  for (const offset of symbolOffsets(type).offsets) {
    for (let at = offset; at < bytes.byteLength; at += recordBytes) {
      const id = data.getUint32(at, true)
      if (id > last && id < TEXT_ID_MIN) last = id
    }
  }
  return last
}
