import { type AddressForm, addressFormOf, addressText } from './element.ts'
import { type Layout, type LayoutNode, type Slot, slotsOf } from './layout.ts'
import type { RecordOf, RecordType } from './record-type.ts'
import type { BatchSymbols } from './texts.ts'
import type { Views } from './views.ts'

/** The texts of symbols for a reader: those of a batch, or of a source if records have only labels. */
type SymbolText = Pick<BatchSymbols, 'text'>

/** A record as it is read back: u64 and i64 are always bigint, absent fields are missing. */
export interface ReadRecord {
  [name: string]: ReadValue | ReadRecord | readonly ReadRecord[]
}

/** The value of a field that is no nested record. */
export type ReadValue = bigint | number | string | boolean | readonly (bigint | number | boolean)[]

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** Reads one record into an object: for people, files and tests. Columns are read with {@link numberAt} instead. */
export function readRecord(type: RecordType, views: Views, offset: number, symbols: SymbolText): ReadRecord {
  return readNodes(type.layout, type.layout.tree, views, offset, symbols)
}

function readNodes(
  layout: Layout,
  nodes: readonly LayoutNode[],
  views: Views,
  offset: number,
  symbols: SymbolText,
): ReadRecord {
  const record: ReadRecord = {}
  for (const node of nodes) {
    if ('slot' in node) {
      if (isPresent(layout, node.slot, views, offset)) record[node.key] = readField(node.slot, views, offset, symbols)
      continue
    }
    // Nothing says that a nested record is there but its fields.
    if (node.optional && !slotsOf(node).some((slot) => isPresent(layout, slot, views, offset))) continue
    const elements = node.elements.map((inner) => readNodes(layout, inner, views, offset, symbols))
    record[node.key] = node.field.count === 1 ? (elements[0] ?? {}) : elements
  }
  return record
}

/** Every record of a batch's bytes, as objects typed like those that were reported. */
export function* readRecords<T extends RecordType>(
  type: T,
  views: Views,
  count: number,
  symbols: SymbolText,
): Generator<RecordOf<T>> {
  for (let i = 0; i < count; i++) {
    yield readRecord(type, views, i * type.layout.recordBytes, symbols) as RecordOf<T>
  }
}

/** Whether the record at `offset` carries the field. */
export function isPresent(layout: Layout, slot: Slot, views: Views, offset: number): boolean {
  if (layout.presenceWords === 0) return true
  const word = views.data.getUint32(offset + (slot.index >> 5) * 4, true)
  return ((word >>> (slot.index & 31)) & 1) === 1
}

/** The factor from a type's timestamps to milliseconds. */
export function msFactorOf({ time }: RecordType): number {
  return time?.field.resolution === 'us' ? 1e-3 : 1e-6
}

/** The value of a present field. */
export function readField(slot: Slot, views: Views, offset: number, symbols: SymbolText): ReadValue {
  const { kind, count } = slot.field
  const at = offset + slot.offset
  if (kind === 'char') return readChars(views.u8, at, count)
  if (kind === 'symbol') return symbols.text(views.data.getUint32(at, true))
  const form = addressFormOf(slot.field)
  if (form !== undefined) return readAddress(form, views, at)
  if (count === 1) return readElement(slot, views, at)
  const width = slot.bytes / count
  return Array.from({ length: count }, (_, i) => readElement(slot, views, at + i * width))
}

function readAddress(form: AddressForm, { u8, data }: Views, at: number): string {
  if (form !== 'ipv4') return addressText(form, u8.subarray(at, at + (form === 'mac' ? 6 : 16)))
  const number = data.getUint32(at, true)
  return addressText(form, Uint8Array.of(number >>> 24, number >>> 16, number >>> 8, number))
}

function readElement(slot: Slot, { data }: Views, at: number): bigint | number | boolean {
  switch (slot.field.kind) {
    case 'u64':
      return data.getBigUint64(at, true)
    case 'i64':
      return data.getBigInt64(at, true)
    case 'bool':
      return data.getUint8(at) !== 0
    default:
      return readNumber(slot, data, at)
  }
}

function readNumber(slot: Slot, data: DataView, at: number): number {
  switch (slot.field.kind) {
    case 'u8':
    case 'bool':
      return data.getUint8(at)
    case 'i8':
      return data.getInt8(at)
    case 'u16':
      return data.getUint16(at, true)
    case 'i16':
      return data.getInt16(at, true)
    case 'u32':
    case 'symbol':
      return data.getUint32(at, true)
    case 'i32':
      return data.getInt32(at, true)
    case 'f32':
      return data.getFloat32(at, true)
    case 'f64':
      return data.getFloat64(at, true)
    case 'u64':
      return data.getUint32(at + 4, true) * 4294967296 + data.getUint32(at, true)
    case 'i64':
      return data.getInt32(at + 4, true) * 4294967296 + data.getUint32(at, true)
    case 'char':
      return Number.NaN
  }
}

/** One element of a field as a Float64: exact up to 2^53, the nearest double beyond. */
export function numberAt(slot: Slot, views: Views, offset: number, element = 0): number {
  return readNumber(slot, views.data, offset + slot.offset + (element * slot.bytes) / slot.field.count)
}

/** The text of a label field, as views and queries show it. */
export function labelText(slot: Slot, views: Views, offset: number, symbols: SymbolText): string {
  return String(readField(slot, views, offset, symbols))
}

function readChars(bytes: Uint8Array, at: number, room: number): string {
  let end = at
  while (end < at + room && bytes[end] !== 0) end++
  return utf8.decode(bytes.subarray(at, end))
}
