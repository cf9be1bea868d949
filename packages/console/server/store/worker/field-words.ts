import type { BatchSymbols, Kind, Layout, Slot, Views } from '@sonde/sdk'
import { keyOfNumber } from '@sonde/sdk/internal'
import type { WordColumn } from '../codec/column.ts'

/** Records whose fields are all read before the next: they stay in the processor's cache. */
const TILE_COUNT = 256

/** Words that a field of so many records takes. */
export function wordCountOf(slot: Slot, count: number): number {
  return 2 * count * slot.field.count
}

/**
 * Reads fields of the records at `offsets` into columns of 64-bit words, side by side in `memory`, which has room for
 * them.
 */
export function columnsOf(
  layout: Layout,
  slots: readonly Slot[],
  views: Views,
  offsets: Uint32Array,
  symbols: Pick<BatchSymbols, 'text'>,
  memory: Uint32Array,
): WordColumn[] {
  const count = offsets.length
  const wordsOf: Uint32Array[] = []
  let at = 0
  for (const slot of slots) {
    const length = wordCountOf(slot, count)
    const words = memory.subarray(at, at + length)
    at += length
    // Narrow values write one word of two.
    if (slot.bytes < 8 * slot.field.count) words.fill(0)
    wordsOf.push(words)
  }
  for (let from = 0; from < count; from += TILE_COUNT) {
    const tile = offsets.subarray(from, from + TILE_COUNT)
    for (const [i, slot] of slots.entries()) readTile(slot, views.data, tile, wordsOf[i] ?? memory, from, count)
  }
  return slots.map((slot, i): WordColumn => {
    const { kind, count: elements } = slot.field
    const words = wordsOf[i] ?? memory
    const present = slot.field.optional ? presenceOf(layout, slot, views, offsets) : null
    const texts = kind === 'symbol' ? internTexts(words, symbols) : null
    return { kind, count, elements, words, present, texts }
  })
}

/** Reads a field of some records, the first of which is number `from` of `count`. */
function readTile(
  slot: Slot,
  data: DataView,
  tile: Uint32Array,
  words: Uint32Array,
  from: number,
  count: number,
): void {
  const { kind, count: elements } = slot.field
  const width = slot.bytes / elements
  for (let element = 0; element < elements; element++) {
    readWords(kind, data, tile, slot.offset + element * width, words, 2 * (element * count + from))
  }
}

/** The reverse: writes a column into records, sample `i` into record `places[i]`. */
export function writeColumn(
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

function readWords(kind: Kind, data: DataView, offsets: Uint32Array, at: number, words: Uint32Array, to: number): void {
  const count = offsets.length
  switch (kind) {
    case 'u64':
    case 'i64':
    case 'f64':
      for (let i = 0; i < count; i++) {
        const from = (offsets[i] ?? 0) + at
        words[to + 2 * i] = data.getUint32(from, true)
        words[to + 2 * i + 1] = data.getUint32(from + 4, true)
      }
      return
    case 'u32':
    case 'f32':
    case 'symbol':
      for (let i = 0; i < count; i++) words[to + 2 * i] = data.getUint32((offsets[i] ?? 0) + at, true)
      return
    case 'u16':
      for (let i = 0; i < count; i++) words[to + 2 * i] = data.getUint16((offsets[i] ?? 0) + at, true)
      return
    case 'u8':
    case 'bool':
    case 'char':
      for (let i = 0; i < count; i++) words[to + 2 * i] = data.getUint8((offsets[i] ?? 0) + at)
      return
    default:
      for (let i = 0; i < count; i++) {
        const value = readSigned(kind, data, (offsets[i] ?? 0) + at)
        words[to + 2 * i] = value
        words[to + 2 * i + 1] = value >> 31
      }
  }
}

function readSigned(kind: 'i8' | 'i16' | 'i32', data: DataView, at: number): number {
  if (kind === 'i8') return data.getInt8(at)
  return kind === 'i16' ? data.getInt16(at, true) : data.getInt32(at, true)
}

function writeWord(data: DataView, at: number, width: number, low: number, high: number): void {
  if (width === 1) data.setUint8(at, low)
  else if (width === 2) data.setUint16(at, low, true)
  else data.setUint32(at, low, true)
  if (width === 8) data.setUint32(at + 4, high, true)
}

function presenceOf(layout: Layout, slot: Slot, views: Views, offsets: Uint32Array): Uint8Array | null {
  const present = new Uint8Array(Math.ceil(offsets.length / 8))
  const at = (slot.index >> 5) * 4
  let absent = layout.presenceWords === 0 ? 0 : offsets.length
  for (let i = 0; i < offsets.length && layout.presenceWords > 0; i++) {
    if (((views.data.getUint32((offsets[i] ?? 0) + at, true) >>> (slot.index & 31)) & 1) === 0) continue
    present[i >> 3] = (present[i >> 3] ?? 0) | (1 << (i & 7))
    absent--
  }
  return absent === 0 ? null : present
}

function markPresent(data: DataView, at: number, index: number): void {
  data.setUint32(at, data.getUint32(at, true) | (1 << (index & 31)), true)
}

/** Replaces the writer's symbols by indices into a list of just the texts that occur. */
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
