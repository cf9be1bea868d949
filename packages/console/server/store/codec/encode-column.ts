import { crc32 } from 'node:zlib'
import { SondeError } from '@sonde/sdk'
import { ByteWriter } from './bytes.ts'
import {
  BLOB_VERSION,
  type Column,
  FLAG_PRESENCE,
  FLAG_TIMES,
  isPresent,
  KIND_CODES,
  SAMPLE_COUNT_LIMIT,
  VALUE_COUNT_LIMIT,
} from './column.ts'
import { encodePresence, presentCount } from './presence.ts'
import { type Content, encodeVector } from './vector.ts'

/**
 * Packs a column into one blob that {@link decodeColumn} gives back bit by bit.
 *
 * Layout: head (see `HEAD_BYTES`); with times their range and vector; with absences the presence; then each element's vector after its
 * length as a varint. The CRC-32 covers everything but itself.
 *
 * @throws SondeError `STO_COLUMN` where the arrays do not fit the counts, or the counts their limits.
 */
export function encodeColumn(column: Column): Uint8Array {
  const { kind, count, elements, times } = column
  checkShape(column)
  const valueCount = column.present === null ? count : presentCount(column.present, count)
  const present = valueCount === count ? null : column.present
  const writer = new ByteWriter(64 + 2 * count * elements)
  writer.u8(BLOB_VERSION)
  writer.u8(KIND_CODES.indexOf(kind))
  writer.u8((times === null ? 0 : FLAG_TIMES) | (present === null ? 0 : FLAG_PRESENCE))
  writer.u8(0)
  writer.u32(0)
  writer.u32(count)
  writer.u32(elements)
  if (times !== null) {
    for (const word of rangeOf(times, count)) writer.u32(word)
    encodeVector(times, count, 'integer', writer)
  }
  if (present !== null) encodePresence(present, count, writer)
  for (let element = 0; element < elements; element++) {
    const words = valuesOf(column, present, element, valueCount)
    const vector = new ByteWriter(64 + 2 * valueCount)
    encodeVector(words, valueCount, contentOf(kind), vector)
    writer.varint(vector.length)
    writer.append(vector.finish())
  }
  const bytes = writer.finish()
  writer.setU32(4, crc32(bytes.subarray(8), crc32(bytes.subarray(0, 4))))
  return bytes
}

/** What the words of a kind's column hold. */
export function contentOf(kind: Column['kind']): Content {
  return kind === 'f64' || kind === 'f32' ? kind : 'integer'
}

/** The present values of one element, side by side. */
function valuesOf(column: Column, present: Uint8Array | null, element: number, valueCount: number): Uint32Array {
  const { count, words } = column
  const from = 2 * count * element
  if (present === null) {
    const whole = words.subarray(from, from + 2 * count)
    return whole.byteOffset % 8 === 0 ? whole : whole.slice()
  }
  const values = new Uint32Array(2 * valueCount)
  let to = 0
  for (let i = 0; i < count; i++) {
    if (!isPresent(present, i)) continue
    values[to++] = words[from + 2 * i] ?? 0
    values[to++] = words[from + 2 * i + 1] ?? 0
  }
  return values
}

/** Low and high word of the earliest and of the latest time: the samples need not be in order. */
function rangeOf(times: Uint32Array, count: number): [number, number, number, number] {
  let first = 0
  let last = 0
  for (let i = 1; i < count; i++) {
    if (isBefore(times, i, first)) first = i
    else if (isBefore(times, last, i)) last = i
  }
  return [times[2 * first] ?? 0, times[2 * first + 1] ?? 0, times[2 * last] ?? 0, times[2 * last + 1] ?? 0]
}

function isBefore(times: Uint32Array, a: number, b: number): boolean {
  const highA = times[2 * a + 1] ?? 0
  const highB = times[2 * b + 1] ?? 0
  return highA < highB || (highA === highB && (times[2 * a] ?? 0) < (times[2 * b] ?? 0))
}

function checkShape({ kind, count, elements, times, words, present }: Column): void {
  const fits =
    KIND_CODES.includes(kind) &&
    Number.isInteger(count) &&
    Number.isInteger(elements) &&
    count >= 0 &&
    count <= SAMPLE_COUNT_LIMIT &&
    elements >= 1 &&
    count * elements <= VALUE_COUNT_LIMIT &&
    words.length === 2 * count * elements &&
    (times === null || times.length === 2 * count) &&
    (present === null || present.length >= Math.ceil(count / 8))
  if (fits) return
  const limits = `at most ${SAMPLE_COUNT_LIMIT} samples and ${VALUE_COUNT_LIMIT} values, two words a value`
  throw new SondeError(
    'STO_COLUMN',
    `a column of ${count} ${kind} times ${elements} in ${words.length} words; allowed: ${limits}`,
  )
}
