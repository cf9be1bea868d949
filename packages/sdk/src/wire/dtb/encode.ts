import { createHash } from 'node:crypto'
import { crc32 } from '../../internal/crc32.ts'
import type { Batch } from '../../schema/batch.ts'
import { definitionOf } from '../../schema/fingerprint.ts'
import { align } from '../../schema/layout.ts'
import type { RecordType } from '../../schema/record-type.ts'
import { type TimeSpan, timeSpanOf } from '../../schema/time-span.ts'
import type { DtbBlockHeader } from './decode-header.ts'
import {
  BLOCK_HEADER_BYTES,
  BLOCK_MAGIC,
  BLOCK_TYPE,
  CLOCK_SHIFT,
  CLOCKS,
  DEFLATE_FLAG,
  FILE_HEADER_BYTES,
  FILE_MAGIC,
  FORMAT_MAJOR,
  FORMAT_MINOR,
  HEADER_CRC_AT,
  type SourceEntry,
  type TypeEntry,
} from './format.ts'

/** The header of a file. */
export interface FileHeader {
  /** Of the set of types with which the file begins; see {@link schemaFingerprint}. 32 hex digits. */
  readonly fingerprint: string
  /** Unit: microseconds since the Unix epoch. */
  readonly createdUs: bigint
  /** Random, of one writer. */
  readonly writerId: bigint
}

/** The header of a file. */
export function encodeFileHeader({ fingerprint, createdUs, writerId }: FileHeader): Uint8Array {
  const header = new Uint8Array(FILE_HEADER_BYTES)
  const data = new DataView(header.buffer)
  header.set(FILE_MAGIC)
  data.setUint16(8, FORMAT_MAJOR, true)
  data.setUint16(10, FORMAT_MINOR, true)
  data.setUint32(12, FILE_HEADER_BYTES, true)
  header.set(Buffer.from(fingerprint, 'hex'), 16)
  data.setBigUint64(32, createdUs, true)
  data.setBigUint64(40, writerId, true)
  data.setUint32(HEADER_CRC_AT, crc32(header.subarray(0, HEADER_CRC_AT)), true)
  return header
}

/**
 * The fingerprint of a set of types: the first 128 bits of SHA-256 over their fingerprints, sorted, each followed by a
 * newline, in hex.
 */
export function schemaFingerprint(types: readonly RecordType[]): string {
  const hash = createHash('sha256')
  for (const fingerprint of types.map((type) => type.fingerprint).sort()) hash.update(`${fingerprint}\n`)
  return hash.digest('hex').slice(0, 32)
}

/** A type as a file announces it. */
export function typeEntry(type: RecordType, index: number): TypeEntry {
  return { index, fingerprint: type.fingerprint, definition: definitionOf(type) }
}

/** A block that announces types. */
export function encodeTypesBlock(entries: readonly TypeEntry[]): Uint8Array {
  return encodeBlock(BLOCK_TYPE.types, Buffer.from(JSON.stringify(entries)))
}

/** The block with the source of the file. */
export function encodeSourceBlock(entry: SourceEntry): Uint8Array {
  return encodeBlock(BLOCK_TYPE.source, Buffer.from(JSON.stringify(entry)))
}

/** A block with the source of the records that follow. */
export function encodeOriginBlock(entry: SourceEntry): Uint8Array {
  return encodeBlock(BLOCK_TYPE.origin, Buffer.from(JSON.stringify(entry)))
}

/** A block that holds the place of another, of `bytes` in all: see {@link dtbBlockBytes}. */
export function encodeReservedBlock(bytes: number): Uint8Array {
  return encodeBlock(BLOCK_TYPE.reserved, new Uint8Array(bytes - BLOCK_HEADER_BYTES))
}

/** A block of texts whose ids run from `firstId`. */
export function encodeSymbolsBlock(firstId: number, texts: readonly string[]): Uint8Array {
  const encoded = texts.map((text) => Buffer.from(text))
  const payload = Buffer.alloc(8 + encoded.reduce((bytes, text) => bytes + 4 + text.length, 0))
  payload.writeUInt32LE(firstId, 0)
  payload.writeUInt32LE(texts.length, 4)
  let at = 8
  for (const text of encoded) {
    payload.writeUInt32LE(text.length, at)
    payload.set(text, at + 4)
    at += 4 + text.length
  }
  return encodeBlock(BLOCK_TYPE.symbols, payload)
}

/** A block that begins a table of texts. */
export function encodeTextsBlock(firstId: number): Uint8Array {
  const payload = Buffer.alloc(4)
  payload.writeUInt32LE(firstId)
  return encodeBlock(BLOCK_TYPE.texts, payload)
}

/** The last block of a file that was closed. */
export function encodeEndBlock(): Uint8Array {
  return encodeBlock(BLOCK_TYPE.end, new Uint8Array(0))
}

/** Size of a block whose payload takes `payloadBytes`: header, payload, padding. */
export function dtbBlockBytes(payloadBytes: number): number {
  return BLOCK_HEADER_BYTES + align(payloadBytes, 8)
}

/** The parts of a batch in the header of its block. */
type HeaderedBatch = Pick<Batch, 'type' | 'clock' | 'count' | 'symbols' | 'page'>

/** Properties of records that may be known already; computed if absent. */
interface KnownOfRecords {
  /** CRC-32 of the records. */
  readonly crc?: number | undefined
  readonly timeSpan?: TimeSpan
}

/**
 * Makes a block of a batch's records in place, but for {@link sealRecordsBlock}: `block` is {@link dtbBlockBytes} long
 * and has the records behind its header, where whoever took the batch has copied them. Header and padding are written.
 */
export function fillRecordsBlock(block: Uint8Array, batch: HeaderedBatch, known: KnownOfRecords = {}): void {
  const { type, clock, count, page } = batch
  const { recordBytes } = type.layout
  const data = new DataView(block.buffer, block.byteOffset, block.byteLength)
  beginHeader(data, BLOCK_TYPE.records, count * recordBytes)
  data.setUint8(5, CLOCKS.indexOf(clock) << CLOCK_SHIFT)
  data.setUint32(16, count, true)
  data.setUint32(20, recordBytes, true)
  const [earliestNs, latestNs] = known.timeSpan ?? timeSpanOf(type, data, BLOCK_HEADER_BYTES, count)
  data.setBigUint64(24, earliestNs, true)
  data.setBigUint64(32, latestNs, true)
  data.setBigUint64(40, page?.client ?? 0n, true)
  data.setBigUint64(48, page?.sequence ?? 0n, true)
  endPayload(block, data, known.crc)
}

/** Completes a block of records with the index of their type in the file. */
export function sealRecordsBlock(block: Uint8Array, typeIndex: number): void {
  const data = new DataView(block.buffer, block.byteOffset, BLOCK_HEADER_BYTES)
  data.setUint16(6, typeIndex, true)
  endHeader(block, data)
}

/** A block with a header that is known, such as that of another file. `stored` is its payload, compressed or not. */
export function encodeStoredBlock(
  header: Omit<DtbBlockHeader, 'payloadCrc' | 'storedBytes'>,
  stored: Uint8Array,
): Uint8Array {
  const block = new Uint8Array(dtbBlockBytes(stored.byteLength))
  const data = new DataView(block.buffer)
  block.set(stored, BLOCK_HEADER_BYTES)
  beginHeader(data, header.blockType, stored.byteLength)
  data.setUint8(5, (CLOCKS.indexOf(header.clock) << CLOCK_SHIFT) | (header.isDeflated ? DEFLATE_FLAG : 0))
  data.setUint16(6, header.typeIndex, true)
  data.setUint32(12, header.unpackedBytes, true)
  data.setUint32(16, header.count, true)
  data.setUint32(20, header.recordBytes, true)
  data.setBigUint64(24, header.firstNs, true)
  data.setBigUint64(32, header.lastNs, true)
  data.setBigUint64(40, header.client, true)
  data.setBigUint64(48, header.pageSequence, true)
  endPayload(block, data)
  endHeader(block, data)
  return block
}

function encodeBlock(blockType: number, payload: Uint8Array): Uint8Array {
  const block = new Uint8Array(dtbBlockBytes(payload.byteLength))
  const data = new DataView(block.buffer)
  block.set(payload, BLOCK_HEADER_BYTES)
  beginHeader(data, blockType, payload.byteLength)
  endPayload(block, data)
  endHeader(block, data)
  return block
}

/** Everything but what is particular to records is zero until told otherwise: memory is used again. */
function beginHeader(data: DataView, blockType: number, payloadBytes: number): void {
  data.setUint32(0, BLOCK_MAGIC, true)
  data.setUint32(4, blockType, true)
  data.setUint32(8, payloadBytes, true)
  data.setUint32(12, payloadBytes, true)
  for (let at = 16; at < 56; at += 4) data.setUint32(at, 0, true)
}

function endPayload(block: Uint8Array, data: DataView, crc?: number): void {
  const payloadEnd = BLOCK_HEADER_BYTES + data.getUint32(8, true)
  block.fill(0, payloadEnd)
  data.setUint32(56, crc ?? crc32(block.subarray(BLOCK_HEADER_BYTES, payloadEnd)), true)
}

function endHeader(block: Uint8Array, data: DataView): void {
  data.setUint32(HEADER_CRC_AT, crc32(block.subarray(0, HEADER_CRC_AT)), true)
}
