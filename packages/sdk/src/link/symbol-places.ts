import type { Batch } from '../schema/batch.ts'
import type { RecordType } from '../schema/record-type.ts'
import { TEXT_ID_MIN } from '../schema/texts.ts'

/** Where the symbols of a type's records lie, and whether some are of text fields. */
export interface SymbolPlaces {
  /** In a record. Unit: bytes. */
  readonly offsets: readonly number[]
  readonly hasTexts: boolean
}

const placesOf = new WeakMap<RecordType, SymbolPlaces>()

/** See {@link SymbolPlaces}. */
export function symbolPlaces(type: RecordType): SymbolPlaces {
  let places = placesOf.get(type)
  if (places === undefined) {
    const slots = type.layout.slots.filter(({ field }) => field.kind === 'symbol')
    places = {
      offsets: slots.map(({ offset }) => offset),
      hasTexts: slots.some(({ field }) => field.role !== 'label'),
    }
    placesOf.set(type, places)
  }
  return places
}

/** The highest id of a label that records refer to; 0 if they refer to none. Labels may stand in text fields too. */
export function lastLabelOf({ type, bytes }: Pick<Batch, 'type' | 'bytes'>): number {
  const { recordBytes } = type.layout
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let last = 0
  for (const offset of symbolPlaces(type).offsets) {
    for (let at = offset; at < bytes.byteLength; at += recordBytes) {
      const id = data.getUint32(at, true)
      if (id > last && id < TEXT_ID_MIN) last = id
    }
  }
  return last
}
