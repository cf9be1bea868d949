import type { Views } from '@sonde/sdk'
import type { PlacedColumn } from './column.ts'

const WORD = 2 ** 32

/**
 * Writes a field of a record. Returns false if its value is NaN and the field is optional: the field is then zero, and
 * the caller marks it as absent.
 */
export function writeColumn<Reader>(
  views: Views,
  offset: number,
  { slot, read, terms, shares }: PlacedColumn<Reader>,
  reader: Reader,
  counters: Float64Array,
): boolean {
  const at = offset + slot.offset
  if (read === undefined) {
    if (shares === undefined) writeSum(views, at, slot.field.kind, terms, counters)
    else writeBins(views, at, counters[terms[0]?.[0] as number] as number, shares)
    return true
  }
  const value = read(reader, counters)
  const isAbsent = Number.isNaN(value) && slot.field.optional
  writeNumber(views, at, slot.field.kind, isAbsent ? 0 : value)
  return !isAbsent
}

/** Writes a sum as two words: a large counter times a factor may not fit a double. */
function writeSum(
  views: Views,
  at: number,
  kind: string,
  terms: PlacedColumn<never>['terms'],
  counters: Float64Array,
): void {
  let low = 0
  let high = 0
  for (let i = 0; i < terms.length; i++) {
    const term = terms[i] as readonly [number, number]
    const value = counters[term[0]] as number
    const top = Math.floor(value / WORD)
    high += top * term[1]
    low += (value - top * WORD) * term[1]
  }
  if (kind !== 'u64') {
    writeNumber(views, at, kind, high * WORD + low)
    return
  }
  const carry = Math.floor(low / WORD)
  views.u32[at >> 2] = low - carry * WORD
  views.u32[(at >> 2) + 1] = high + carry
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

function writeBins(views: Views, at: number, total: number, shares: readonly number[]): void {
  for (let bin = 0; bin < shares.length; bin++) {
    writeNumber(views, at + bin * 8, 'u64', Math.floor(total * (shares[bin] as number)))
  }
}
