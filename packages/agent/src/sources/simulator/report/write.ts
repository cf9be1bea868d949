import type { Views } from '@sonde/sdk'
import type { Column, PlacedColumn } from './column.ts'

const WORD = 2 ** 32

/** Writes one field of a record. False where a number is NaN and the field may be absent: it is zero then, and its presence is up to the caller. */
export function writeColumn(
  views: Views,
  offset: number,
  { slot, column }: PlacedColumn,
  numbers: Float64Array,
): boolean {
  const at = offset + slot.offset
  if ('bins' in column) return writeBins(views, at, column, numbers)
  if ('fraction' in column) {
    const value = (numbers[column.fraction] as number) * (column.factor ?? 1)
    const isAbsent = Number.isNaN(value) && slot.field.optional
    writeNumber(views, at, slot.field.kind, isAbsent ? 0 : value)
    return !isAbsent
  }
  return writeSum(views, at, slot.field.kind, column, numbers, slot.field.optional)
}

/** A sum in two words: a number times a factor does not fit a double where a counter has run for long. */
function writeSum(
  views: Views,
  at: number,
  kind: string,
  { sum, since = 0 }: Extract<Column, { sum: unknown }>,
  numbers: Float64Array,
  isOptional: boolean,
): boolean {
  let low = since % WORD
  let high = Math.floor(since / WORD)
  for (let i = 0; i < sum.length; i++) {
    const term = sum[i] as readonly [number, number]
    const value = numbers[term[0]] as number
    const top = Math.floor(value / WORD)
    high += top * term[1]
    low += (value - top * WORD) * term[1]
  }
  if (Number.isNaN(low)) {
    if (isOptional) {
      writeNumber(views, at, kind, 0)
      return false
    }
    low = 0
    high = 0
  }
  if (kind !== 'u64') {
    writeNumber(views, at, kind, high * WORD + low)
    return true
  }
  const carry = Math.floor(low / WORD)
  views.u32[at >> 2] = low - carry * WORD
  views.u32[(at >> 2) + 1] = high + carry
  return true
}

/** Writes a number that fits its kind; a u64 up to 2^53. */
function writeNumber(views: Views, at: number, kind: string, value: number): void {
  switch (kind) {
    case 'f64':
      views.f64[at >> 3] = value
      return
    case 'u64': {
      const high = Math.floor(value / WORD)
      views.u32[at >> 2] = value - high * WORD
      views.u32[(at >> 2) + 1] = high
      return
    }
    case 'u32':
      views.u32[at >> 2] = value
      return
    case 'u16':
      views.u16[at >> 1] = value
      return
    case 'i16':
      views.i16[at >> 1] = value
      return
    default:
      views.u8[at] = value
  }
}

function writeBins(
  views: Views,
  at: number,
  { bins, shares }: Extract<Column, { bins: unknown }>,
  numbers: Float64Array,
): boolean {
  const total = numbers[bins] as number
  for (let bin = 0; bin < shares.length; bin++) {
    writeNumber(views, at + bin * 8, 'u64', Math.floor(total * (shares[bin] as number)))
  }
  return true
}
