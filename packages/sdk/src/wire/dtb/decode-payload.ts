import { inflateRawSync } from 'node:zlib'
import { messageOf, SondeError } from '../../errors.ts'
import { crc32 } from '../../internal/crc32.ts'
import { JsonReader } from '../../internal/json-reader.ts'
import { parseDefinition } from '../../schema/parse-definition.ts'
import type { RecordType } from '../../schema/record-type.ts'
import { TEXT_ID_MIN } from '../../schema/texts.ts'
import { shapeOfJson } from '../json-shape.ts'
import type { DtbBlockHeader } from './decode-header.ts'
import { DTB_LIMITS, type SourceEntry } from './format.ts'

const JSON_BYTES_LIMIT = 16 << 20
/** Nothing that a file says nests deeper; JSON that does costs many times its size in memory. */
const JSON_DEPTH_LIMIT = 64
const TEXT_BYTES_LIMIT = 16_384
const LABEL_COUNT_LIMIT = 256

const read = new JsonReader((message) => new SondeError('DTB_CONTENT', message))
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * The payload out of the bytes behind a block's header, padding included.
 *
 * @throws SondeError `DTB_PAYLOAD` if it does not hold.
 */
export function unpackPayload(header: DtbBlockHeader, padded: Uint8Array): Uint8Array {
  const { storedBytes, unpackedBytes, payloadCrc, isDeflated } = header
  const stored = padded.subarray(0, storedBytes)
  if (crc32(stored) !== payloadCrc) {
    throw new SondeError('DTB_PAYLOAD', 'the payload of the block is damaged: its CRC-32 is another')
  }
  for (let at = storedBytes; at < padded.length; at++) {
    if (padded[at] !== 0) throw new SondeError('DTB_PAYLOAD', 'the padding of the block is damaged: it is not zero')
  }
  const payload = isDeflated ? inflate(stored, unpackedBytes) : stored
  if (payload.length !== unpackedBytes) {
    throw new SondeError('DTB_PAYLOAD', `the payload unpacks to ${payload.length} bytes instead of ${unpackedBytes}`)
  }
  return payload
}

/** Never unpacks more than it says that there is. */
function inflate(stored: Uint8Array, unpackedBytes: number): Uint8Array {
  try {
    return inflateRawSync(stored, { maxOutputLength: Math.max(1, unpackedBytes) })
  } catch (cause) {
    throw new SondeError('DTB_PAYLOAD', `the payload does not unpack: ${messageOf(cause)}`, { cause })
  }
}

/** The types that a block announces, with their indexes. */
export function decodeTypes(payload: Uint8Array): (readonly [index: number, type: RecordType])[] {
  return read.list('types', parseJson(payload), DTB_LIMITS.typeCount).map((entry) => {
    const { index: given, fingerprint, definition } = read.object('a type', entry)
    const index = read.integer('the index of a type', given, 0, DTB_LIMITS.typeCount - 1)
    if (typeof fingerprint !== 'string') throw read.wrong('the fingerprint of a type', fingerprint, '32 hex digits')
    try {
      return [index, parseDefinition(definition, fingerprint)] as const
    } catch (cause) {
      throw new SondeError('DTB_CONTENT', messageOf(cause), { cause })
    }
  })
}

/** Who made the records. */
export function decodeSource(payload: Uint8Array): SourceEntry {
  const entry = read.object('the source', parseJson(payload))
  const { pid, client, hasOrigins } = entry
  if (typeof pid !== 'number') throw read.wrong('pid', pid, 'a number')
  if (client !== undefined && !/^[0-9a-f]{16}$/.test(String(client)))
    throw read.wrong('client', client, '16 hex digits')
  const labels = Object.entries(read.object('labels', entry.labels))
  if (labels.length > LABEL_COUNT_LIMIT) throw read.wrong('labels', labels, `at most ${LABEL_COUNT_LIMIT}`)
  return {
    id: read.text('id', entry.id, TEXT_BYTES_LIMIT),
    tag: read.text('tag', entry.tag, TEXT_BYTES_LIMIT),
    labels: Object.freeze(
      Object.fromEntries(labels.map(([name, text]) => [name, read.text(`label ${name}`, text, TEXT_BYTES_LIMIT)])),
    ),
    schema: read.text('schema', entry.schema, TEXT_BYTES_LIMIT),
    host: read.text('host', entry.host, TEXT_BYTES_LIMIT),
    pid,
    version: read.text('version', entry.version, TEXT_BYTES_LIMIT),
    ...(client === undefined ? {} : { client: String(client) }),
    ...(hasOrigins === true ? { hasOrigins } : {}),
  }
}

/** The texts that a block announces, and the id of the first. */
export function decodeSymbols(payload: Uint8Array): { readonly firstId: number; readonly texts: readonly string[] } {
  if (payload.length < 8) throw read.wrong('a block of symbols', `${payload.length} bytes`, '8 or more')
  const data = new DataView(payload.buffer, payload.byteOffset, payload.byteLength)
  const firstId = data.getUint32(0, true)
  const count = data.getUint32(4, true)
  // Each takes four bytes at least: a count that lies reserves nothing.
  if (count > (payload.length - 8) / 4 || firstId + count > 2 ** 32) {
    throw read.wrong('the number of symbols', count, 'as many as follow')
  }
  if (count > DTB_LIMITS.symbolCount) {
    throw new SondeError('DTB_LIMIT', `a block of ${count} symbols; allowed: ${DTB_LIMITS.symbolCount}`)
  }
  const texts: string[] = []
  let at = 8
  for (let i = 0; i < count; i++) {
    if (at + 4 > payload.length) throw read.wrong('a symbol', 'cut off', 'whole ones')
    const bytes = data.getUint32(at, true)
    at += 4
    if (bytes > Math.min(TEXT_BYTES_LIMIT, payload.length - at)) {
      throw read.wrong('the length of a symbol', bytes, `what follows, ${TEXT_BYTES_LIMIT} bytes at most`)
    }
    texts.push(utf8Text(payload.subarray(at, at + bytes)))
    at += bytes
  }
  if (at !== payload.length)
    throw read.wrong('a block of symbols', `${payload.length - at} bytes longer`, 'its symbols alone')
  return { firstId, texts }
}

/** The id of the first text of the table that a block begins. */
export function decodeTexts(payload: Uint8Array): number {
  if (payload.length !== 4) throw read.wrong('a block that begins texts', `${payload.length} bytes`, '4')
  const firstId = new DataView(payload.buffer, payload.byteOffset, 4).getUint32(0, true)
  if (firstId < TEXT_ID_MIN) throw read.wrong('the first id of texts', firstId, `${TEXT_ID_MIN} or more`)
  return firstId
}

function parseJson(payload: Uint8Array): unknown {
  if (payload.length > JSON_BYTES_LIMIT) {
    throw new SondeError('DTB_LIMIT', `JSON of ${payload.length} bytes; allowed: ${JSON_BYTES_LIMIT}`)
  }
  if (shapeOfJson(payload).depth > JSON_DEPTH_LIMIT) {
    throw new SondeError('DTB_LIMIT', `JSON that nests deeper than ${JSON_DEPTH_LIMIT} levels`)
  }
  const text = utf8Text(payload)
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new SondeError('DTB_CONTENT', 'the block is not JSON', { cause })
  }
}

function utf8Text(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new SondeError('DTB_CONTENT', 'a text of the block is not UTF-8', { cause })
  }
}
