import type { FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { blockBytes } from '../../wire/dtb/encode.ts'
import {
  BLOCK_HEADER_BYTES,
  BLOCK_MAGIC,
  BLOCK_TYPE,
  FILE_HEADER_BYTES,
  FILE_MAGIC,
  HEADER_CRC_AT,
  type SourceEntry,
} from '../../wire/dtb/format.ts'

/** The block of a source is small: labels, and a few names. */
const SOURCE_BYTES_LIMIT = 1 << 20

/** The fingerprint of the schema in the header of a file; undefined where it is no file of records. */
export async function readFingerprint(handle: FileHandle): Promise<string | undefined> {
  const header = await readAt(handle, 0, FILE_HEADER_BYTES)
  const isOurs = FILE_MAGIC.every((byte, i) => header[i] === byte) && hasRightCrc(header)
  return isOurs ? header.toString('hex', 16, 32) : undefined
}

/** Who wrote a file: the second block of it; undefined where that does not hold. */
export async function readSource(handle: FileHandle, size: number): Promise<Partial<SourceEntry> | undefined> {
  const types = await readHeader(handle, FILE_HEADER_BYTES)
  if (types?.blockType !== BLOCK_TYPE.types) return undefined
  const at = FILE_HEADER_BYTES + blockBytes(types.payloadBytes)
  const source = await readHeader(handle, at)
  if (source?.blockType !== BLOCK_TYPE.source || source.payloadBytes > Math.min(SOURCE_BYTES_LIMIT, size))
    return undefined
  const payload = await readAt(handle, at + BLOCK_HEADER_BYTES, source.payloadBytes)
  return crc32(payload) === source.payloadCrc ? (JSON.parse(payload.toString()) as Partial<SourceEntry>) : undefined
}

/** Whether a file was closed by its writer: its last block says so. */
export async function isEnded(handle: FileHandle, size: number): Promise<boolean> {
  if (size < FILE_HEADER_BYTES + BLOCK_HEADER_BYTES) return false
  return (await readHeader(handle, size - BLOCK_HEADER_BYTES))?.blockType === BLOCK_TYPE.end
}

async function readHeader(handle: FileHandle, at: number) {
  const header = await readAt(handle, at, BLOCK_HEADER_BYTES)
  if (header.byteLength < BLOCK_HEADER_BYTES || header.readUInt32LE(0) !== BLOCK_MAGIC || !hasRightCrc(header))
    return undefined
  return { blockType: header.readUInt8(4), payloadBytes: header.readUInt32LE(8), payloadCrc: header.readUInt32LE(56) }
}

async function readAt(handle: FileHandle, at: number, bytes: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, at)
  return buffer.subarray(0, bytesRead)
}

function hasRightCrc(header: Buffer): boolean {
  return (
    header.byteLength > HEADER_CRC_AT && crc32(header.subarray(0, HEADER_CRC_AT)) === header.readUInt32LE(HEADER_CRC_AT)
  )
}
