import type { BatchSymbols, Views } from '@sonde/sdk'
import { type Kind, keyOfNumber, type Layout, type Slot } from '@sonde/sdk/internal'
import type { WordColumn } from '../codec/column.ts'
import { Scratch } from '../codec/scratch.ts'
import type { GroupedRecords, Places } from './series-groups.ts'

/** Records whose fields are all read before the next ones: they stay in the processor's cache. */
const TILE_COUNT = 256

/** Words of a field for this many records. */
export function wordCountOf(slot: Slot, count: number): number {
  return 2 * count * slot.field.count
}

/** One element of a field, at all places. */
interface ElementColumn {
  readonly kind: Kind
  readonly isWide: boolean
  /** Offset from the start of a record. Unit: bytes. */
  readonly offset: number
  readonly words: Uint32Array
  /** The same memory. */
  readonly exact: BigUint64Array
}

/** Records whose fields are all read before the next ones, as far as they have one of the places. */
interface Tile extends Places {
  readonly data: DataView
  readonly recordBytes: number
  readonly placeOf: Uint32Array
  readonly from: number
  readonly end: number
}

// Reused for each field with several elements.
const elementsScratch = new Scratch()

/** Fields of grouped records as columns of 64-bit words. */
export class FieldColumns {
  readonly #layout: Layout
  readonly #grouped: GroupedRecords
  readonly #places: Places
  /** By index of the slot. */
  readonly #columns = new Map<number, readonly ElementColumn[]>()

  /** Reads the fields. Their columns lie contiguously in `memory`, which must be large enough. */
  constructor(layout: Layout, slots: readonly Slot[], grouped: GroupedRecords, places: Places, memory: Uint32Array) {
    this.#layout = layout
    this.#grouped = grouped
    this.#places = places
    let at = 0
    for (const slot of slots) {
      const length = wordCountOf(slot, places.count)
      this.#columns.set(slot.index, elementColumnsOf(slot, memory.subarray(at, at + length)))
      at += length
    }
    const columns = [...this.#columns.values()].flat()
    const whole = { ...places, data: grouped.views.data, recordBytes: layout.recordBytes, placeOf: grouped.places }
    for (let from = 0; from < grouped.count; from += TILE_COUNT) {
      const tile = { ...whole, from, end: Math.min(from + TILE_COUNT, grouped.count) }
      for (const column of columns) {
        if (column.isWide) spreadWide(column, tile)
        else spreadNarrow(column, tile)
      }
    }
  }

  /** A field of the samples at some of the places. Its words are valid until the next call. */
  of(slot: Slot, { start, count }: Places, symbols: Pick<BatchSymbols, 'text'>): WordColumn {
    const { kind, count: elements } = slot.field
    const words = this.#wordsOf(slot, start - this.#places.start, count)
    const records = this.#grouped.records.subarray(start, start + count)
    const present = slot.field.optional ? presenceOf(this.#layout, slot, this.#grouped.views, records) : null
    const texts = kind === 'symbol' ? internTexts(words, symbols) : null
    return { kind, count, elements, words, present, texts }
  }

  #wordsOf({ index }: Slot, from: number, count: number): Uint32Array {
    const parts = (this.#columns.get(index) ?? []).map(({ words }) => words.subarray(2 * from, 2 * (from + count)))
    const [first] = parts
    if (first !== undefined && parts.length === 1) return first
    const all = elementsScratch.words(count * parts.length)
    for (const [element, part] of parts.entries()) all.set(part, 2 * count * element)
    return all
  }
}

function elementColumnsOf(slot: Slot, memory: Uint32Array): ElementColumn[] {
  const { kind, count: elements } = slot.field
  const width = slot.bytes / elements
  const length = memory.length / elements
  return Array.from({ length: elements }, (_, element) => {
    const words = memory.subarray(length * element, length * (element + 1))
    const exact = new BigUint64Array(words.buffer, words.byteOffset, length / 2)
    return { kind, isWide: width === 8, offset: slot.offset + element * width, words, exact }
  })
}

function spreadWide({ offset, exact }: ElementColumn, tile: Tile): void {
  const { data, recordBytes, placeOf, start, count, end } = tile
  let at = tile.from * recordBytes + offset
  for (let record = tile.from; record < end; record++) {
    const place = ((placeOf[record] ?? 0) - start) >>> 0
    if (place < count) exact[place] = data.getBigUint64(at, true)
    at += recordBytes
  }
}

function spreadNarrow({ kind, offset, words }: ElementColumn, tile: Tile): void {
  const { data, recordBytes, placeOf, start, count, end } = tile
  let at = tile.from * recordBytes + offset
  for (let record = tile.from; record < end; record++) {
    const place = ((placeOf[record] ?? 0) - start) >>> 0
    if (place < count) {
      const value = narrowAt(kind, data, at)
      words[2 * place] = value
      words[2 * place + 1] = value < 0 ? 0xffffffff : 0
    }
    at += recordBytes
  }
}

/** The reverse: writes a column into records, sample `i` into record `places[i]`. */
export function writeFieldColumn(
  column: WordColumn,
  slot: Slot,
  layout: Layout,
  data: DataView,
  textIds: readonly number[],
  places: Uint32Array,
): void {
  const { count, elements, words, present } = column
  const width = slot.bytes / slot.field.count
  for (let sample = 0; sample < count; sample++) {
    const at = (places[sample] ?? 0) * layout.recordBytes
    if (present !== null && ((present[sample >> 3] ?? 0) & (1 << (sample & 7))) === 0) continue
    if (layout.presenceWords > 0) markPresent(data, at + (slot.index >> 5) * 4, slot.index)
    for (let element = 0; element < elements; element++) {
      const word = 2 * (element * count + sample)
      const low = words[word] ?? 0
      const value = column.texts === null ? low : (textIds[low] ?? 0)
      writeWord(data, at + slot.offset + element * width, width, value, words[word + 1] ?? 0)
    }
  }
}

/** A value of at most 32 bits; for `f32` its bits. */
function narrowAt(kind: Kind, data: DataView, at: number): number {
  switch (kind) {
    case 'u16':
      return data.getUint16(at, true)
    case 'u8':
    case 'bool':
    case 'char':
      return data.getUint8(at)
    case 'i8':
      return data.getInt8(at)
    case 'i16':
      return data.getInt16(at, true)
    case 'i32':
      return data.getInt32(at, true)
    default:
      return data.getUint32(at, true)
  }
}

function writeWord(data: DataView, at: number, width: number, low: number, high: number): void {
  if (width === 1) data.setUint8(at, low)
  else if (width === 2) data.setUint16(at, low, true)
  else data.setUint32(at, low, true)
  if (width === 8) data.setUint32(at + 4, high, true)
}

function presenceOf(layout: Layout, slot: Slot, views: Views, records: Uint32Array): Uint8Array | null {
  const present = new Uint8Array(Math.ceil(records.length / 8))
  const at = (slot.index >> 5) * 4
  let absent = layout.presenceWords === 0 ? 0 : records.length
  for (let i = 0; i < records.length && layout.presenceWords > 0; i++) {
    const word = views.data.getUint32((records[i] ?? 0) * layout.recordBytes + at, true)
    if (((word >>> (slot.index & 31)) & 1) === 0) continue
    present[i >> 3] = (present[i >> 3] ?? 0) | (1 << (i & 7))
    absent--
  }
  return absent === 0 ? null : present
}

function markPresent(data: DataView, at: number, index: number): void {
  data.setUint32(at, data.getUint32(at, true) | (1 << (index & 31)), true)
}

/** Replaces the writer's symbols by indices into a list of the texts in use. */
function internTexts(words: Uint32Array, symbols: Pick<BatchSymbols, 'text'>): string[] {
  const texts: string[] = []
  const indices = new Map<number, number>()
  for (let i = 0; i < words.length; i += 2) {
    const id = words[i] ?? 0
    const key = keyOfNumber(id)
    let index = indices.get(key)
    if (index === undefined) {
      index = texts.push(symbols.text(id)) - 1
      indices.set(key, index)
    }
    words[i] = index
  }
  return texts
}
