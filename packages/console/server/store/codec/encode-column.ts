import { SondeError } from '@sonde/sdk'
import { crc32 } from '@sonde/sdk/internal'
import { ByteWriter } from './bytes.ts'
import {
  BLOB_VERSION,
  COLUMN_VALUE_COUNT_LIMIT,
  FLAG_PRESENCE,
  FLAG_TEXTS,
  hasColumnValue,
  KIND_CODES,
  SAMPLE_COUNT_LIMIT,
  type WordColumn,
} from './column.ts'
import { encodePresence, presentCount } from './presence.ts'
import { Scratch } from './scratch.ts'
import { type Content, encodeVector } from './vector.ts'

// Reused for each column.
const writer = new ByteWriter()
const vector = new ByteWriter()
const valuesScratch = new Scratch()

/**
 * Packs a column into one blob, which {@link decodeColumn} restores exactly.
 *
 * Layout: head (see `HEAD_BYTES`); the presence if samples are absent; for texts their count, and the length and UTF-8
 * of each; then the length and vector of each element. Counts and lengths are varints. The CRC-32 covers everything
 * except itself.
 *
 * @throws SondeError `STO_COLUMN` if the arrays do not fit the counts, or the counts exceed their limits.
 */
export function encodeColumn(column: WordColumn): Uint8Array {
  const { kind, count, elements, texts } = column
  checkShape(column)
  const valueCount = column.present === null ? count : presentCount(column.present, count)
  const present = valueCount === count ? null : column.present
  writer.begin()
  writer.u8(BLOB_VERSION)
  writer.u8(KIND_CODES.indexOf(kind))
  writer.u8((present === null ? 0 : FLAG_PRESENCE) | (texts === null ? 0 : FLAG_TEXTS))
  writer.u8(0)
  writer.u32(0)
  writer.u32(count)
  writer.u32(elements)
  if (present !== null) encodePresence(present, count, writer)
  if (texts !== null) encodeTexts(texts)
  for (let element = 0; element < elements; element++) {
    const words = valuesOf(column, present, element, valueCount)
    vector.begin()
    encodeVector(words, valueCount, contentOf(kind), vector)
    writer.varint(vector.length)
    writer.append(vector.written())
  }
  const bytes = writer.written()
  writer.setU32(4, crc32(bytes.subarray(8), crc32(bytes.subarray(0, 4))))
  return bytes.slice()
}

function encodeTexts(texts: readonly string[]): void {
  writer.varint(texts.length)
  for (const text of texts) {
    const bytes = Buffer.from(text)
    writer.varint(bytes.length)
    writer.append(bytes)
  }
}

/** The content of the words in a column of a kind. */
export function contentOf(kind: WordColumn['kind']): Content {
  return kind === 'f64' || kind === 'f32' ? kind : 'integer'
}

/** The present values of one element, contiguous; valid until the next call. */
function valuesOf(column: WordColumn, present: Uint8Array | null, element: number, valueCount: number): Uint32Array {
  const { count, words } = column
  const from = 2 * count * element
  if (present === null) {
    const whole = words.subarray(from, from + 2 * count)
    return whole.byteOffset % 8 === 0 ? whole : whole.slice()
  }
  const values = valuesScratch.words(valueCount)
  let to = 0
  for (let i = 0; i < count; i++) {
    if (!hasColumnValue(present, i)) continue
    values[to++] = words[from + 2 * i] ?? 0
    values[to++] = words[from + 2 * i + 1] ?? 0
  }
  return values
}

function checkShape({ kind, count, elements, words, present }: WordColumn): void {
  const fits =
    KIND_CODES.includes(kind) &&
    Number.isInteger(count) &&
    Number.isInteger(elements) &&
    count >= 0 &&
    count <= SAMPLE_COUNT_LIMIT &&
    elements >= 1 &&
    count * elements <= COLUMN_VALUE_COUNT_LIMIT &&
    words.length === 2 * count * elements &&
    (present === null || present.length >= Math.ceil(count / 8))
  if (fits) return
  const limits = `at most ${SAMPLE_COUNT_LIMIT} samples and ${COLUMN_VALUE_COUNT_LIMIT} values, two words a value`
  throw new SondeError(
    'STO_COLUMN',
    `a column of ${count} ${kind} times ${elements} in ${words.length} words; allowed: ${limits}`,
  )
}
