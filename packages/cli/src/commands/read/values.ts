import type { BatchSymbols, Views } from '@sonde/sdk'
import { keyOfNumber, type Slot } from '@sonde/sdk/internal'

/** The text of one field of the record at `offset`. */
export type FieldText = (views: Views, offset: number, symbols: BatchSymbols) => string

/** The text of the element at an offset. */
export type ElementText = (data: DataView, at: number) => string

/** Texts whose quoted form is cached; all are forgotten when there are more. */
const REMEMBERED_LIMIT = 100_000

/**
 * The exact text of a number or a bool. Not-a-number is `NaN`, `Infinity` or `-Infinity`; -0 is `-0.0`, which every
 * parser reads as a fraction.
 */
export function elementText(kind: Slot['field']['kind']): ElementText {
  switch (kind) {
    case 'u8':
      return (data, at) => `${data.getUint8(at)}`
    case 'i8':
      return (data, at) => `${data.getInt8(at)}`
    case 'u16':
      return (data, at) => `${data.getUint16(at, true)}`
    case 'i16':
      return (data, at) => `${data.getInt16(at, true)}`
    case 'i32':
      return (data, at) => `${data.getInt32(at, true)}`
    case 'f32':
      return (data, at) => floatText(data.getFloat32(at, true))
    case 'f64':
      return (data, at) => floatText(data.getFloat64(at, true))
    case 'bool':
      return (data, at) => (data.getUint8(at) === 0 ? 'false' : 'true')
    case 'u64':
      return u64Text
    case 'i64':
      return (data, at) => `${data.getBigInt64(at, true)}`
    default:
      return (data, at) => `${data.getUint32(at, true)}`
  }
}

/** Whether a field is text: a symbol, or `char`. */
export function isText({ field }: Slot): boolean {
  return field.kind === 'symbol' || field.kind === 'char'
}

/** The text of a text field, as `quote` writes it. Symbols repeat, so each is quoted once. */
export function quotedText({ field, offset: at }: Slot, quote: (text: string) => string): FieldText {
  if (field.kind === 'char') return (views, offset) => quote(charsOf(views, offset + at, field.count))
  const known = new Map<number, string>()
  let of: BatchSymbols | undefined
  return (views, offset, symbols) => {
    if (of !== symbols || known.size > REMEMBERED_LIMIT) known.clear()
    of = symbols
    const id = views.data.getUint32(offset + at, true)
    const key = keyOfNumber(id)
    const remembered = known.get(key)
    if (remembered !== undefined) return remembered
    const text = symbols.text(id)
    const quoted = quote(text)
    // A later block may still name this id.
    if (!text.startsWith('?')) known.set(key, quoted)
    return quoted
  }
}

/** Most values are exact as a number, which is many times faster than a bigint. */
function u64Text(data: DataView, at: number): string {
  const high = data.getUint32(at + 4, true)
  return high < 1 << 21 ? `${high * 4294967296 + data.getUint32(at, true)}` : `${data.getBigUint64(at, true)}`
}

function floatText(value: number): string {
  return value === 0 && Object.is(value, -0) ? '-0.0' : `${value}`
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

function charsOf({ u8 }: Views, at: number, room: number): string {
  const bytes = u8.subarray(at, at + room)
  const end = bytes.indexOf(0)
  return utf8.decode(end < 0 ? bytes : bytes.subarray(0, end))
}
