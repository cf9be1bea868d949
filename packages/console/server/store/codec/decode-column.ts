import { crc32 } from '@sonde/sdk/internal'
import { ByteReader, corrupt } from './bytes.ts'
import {
  BLOB_VERSION,
  COLUMN_VALUE_COUNT_LIMIT,
  FLAG_PRESENCE,
  FLAG_TEXTS,
  HEAD_BYTES,
  hasColumnValue,
  KIND_CODES,
  SAMPLE_COUNT_LIMIT,
  type WordColumn,
} from './column.ts'
import { contentOf } from './encode-column.ts'
import { decodePresence, presentCount } from './presence.ts'
import { decodeVector } from './vector.ts'

const utf8 = new TextDecoder()

/** The parts of a column to decode. */
export interface DecodeOptions {
  /** Only these elements, ascending; the result has only them. Default: all. */
  elements?: readonly number[]
  /**
   * Memory for the words, used if it is large enough; the column is then a view of it. Starts at a multiple of 8 bytes.
   * Default: new memory.
   */
  into?: Uint32Array
}

/**
 * Reads a blob of `encodeColumn`. For any bytes, memory stays within the limit of `COLUMN_VALUE_COUNT_LIMIT`.
 *
 * @throws SondeError `STO_CHUNK_CORRUPT` if they are not a whole, unchanged blob of this format.
 */
export function decodeColumn(blob: Uint8Array, options: DecodeOptions = {}): WordColumn {
  const head = readHead(blob)
  const { kind, count, elements } = head
  const wanted = options.elements
  if (wanted?.some((element) => element >= elements)) throw corrupt(`it has ${elements} elements and not ${wanted}`)
  const reader = new ByteReader(blob, HEAD_BYTES)
  const present = head.hasPresence ? decodePresence(reader, count) : null
  const valueCount = present === null ? count : presentCount(present, count)
  const texts = head.hasTexts ? readTexts(reader) : null
  const kept = wanted?.length ?? elements
  const length = 2 * count * kept
  const { into } = options
  const words = into !== undefined && into.length >= length ? into.subarray(0, length) : new Uint32Array(length)
  let to = 0
  for (let element = 0; element < elements; element++) {
    const vector = reader.take(reader.varint())
    if (wanted !== undefined && !wanted.includes(element)) continue
    const target = words.subarray(to, to + 2 * count)
    decodeVector(new ByteReader(vector), valueCount, contentOf(kind), target)
    if (present !== null) spread(target, present, count, valueCount)
    to += 2 * count
  }
  if (reader.remaining !== 0) throw corrupt('bytes follow its end')
  return { kind, count, elements: kept, words, present, texts }
}

function readHead(blob: Uint8Array) {
  const reader = new ByteReader(blob)
  const version = reader.u8()
  const kind = KIND_CODES[reader.u8()]
  const flags = reader.u8()
  reader.u8()
  const crc = reader.u32()
  if (crc !== crc32(blob.subarray(8), crc32(blob.subarray(0, 4)))) throw corrupt('its checksum does not match')
  if (version !== BLOB_VERSION) throw corrupt(`its version ${version} is unknown`)
  const count = reader.u32()
  const elements = reader.u32()
  if (kind === undefined || flags > (FLAG_PRESENCE | FLAG_TEXTS)) throw corrupt('its kind or flags are unknown')
  if (count > SAMPLE_COUNT_LIMIT || elements < 1 || count * elements > COLUMN_VALUE_COUNT_LIMIT) {
    throw corrupt(`it claims ${count} samples of ${elements}`)
  }
  const has = (flag: number) => (flags & flag) !== 0
  return {
    kind,
    count,
    elements,
    hasPresence: has(FLAG_PRESENCE),
    hasTexts: has(FLAG_TEXTS),
  }
}

function readTexts(reader: ByteReader): string[] {
  const count = reader.varint()
  // Every text takes at least a byte, so a wrong count cannot request more memory than the blob has.
  if (count > reader.remaining) throw corrupt('it ends early')
  return Array.from({ length: count }, () => utf8.decode(reader.take(reader.varint())))
}

/** Moves the present values from the start of the array to their samples; the others become 0. */
function spread(words: Uint32Array, present: Uint8Array, count: number, valueCount: number): void {
  let from = 2 * valueCount
  for (let i = count - 1; i >= 0; i--) {
    const has = hasColumnValue(present, i)
    words[2 * i + 1] = has ? (words[--from] ?? 0) : 0
    words[2 * i] = has ? (words[--from] ?? 0) : 0
  }
}
