import type { DiskFile } from '../../disk/disk.ts'
import { SondeError } from '../../errors.ts'
import { crc32 } from '../../internal/crc32.ts'
import { type DtbBlockHeader, decodeBlockHeader, decodeFileHeader } from '../../wire/dtb/decode-header.ts'
import { dtbBlockBytes } from '../../wire/dtb/encode.ts'
import { BLOCK_HEADER_BYTES, BLOCK_TYPE, FILE_HEADER_BYTES, type SourceEntry } from '../../wire/dtb/format.ts'

/** The block of a source is small: labels, and a few names. */
const SOURCE_BYTES_LIMIT = 1 << 20

/** The fingerprint of the schema in the header of a file; undefined if it is no file of records. */
export async function readFingerprint(handle: DiskFile): Promise<string | undefined> {
  const header = await handle.readAt(0, FILE_HEADER_BYTES)
  return untilFault(() => decodeFileHeader(header))?.fingerprint
}

/** The source of a file, from its second block; undefined if that block is invalid. */
export async function readSource(handle: DiskFile, size: number): Promise<Partial<SourceEntry> | undefined> {
  const types = await readHeader(handle, FILE_HEADER_BYTES)
  if (types?.blockType !== BLOCK_TYPE.types) return undefined
  const at = FILE_HEADER_BYTES + dtbBlockBytes(types.storedBytes)
  const source = await readHeader(handle, at)
  if (source?.blockType !== BLOCK_TYPE.source || source.storedBytes > Math.min(SOURCE_BYTES_LIMIT, size))
    return undefined
  const payload = await handle.readAt(at + BLOCK_HEADER_BYTES, source.storedBytes)
  return crc32(payload) === source.payloadCrc ? (JSON.parse(payload.toString()) as Partial<SourceEntry>) : undefined
}

/** Whether a file was closed by its writer: its last block says so. */
export async function isEnded(handle: DiskFile, size: number): Promise<boolean> {
  if (size < FILE_HEADER_BYTES + BLOCK_HEADER_BYTES) return false
  return (await readHeader(handle, size - BLOCK_HEADER_BYTES))?.blockType === BLOCK_TYPE.end
}

/** The header of the block at a place; undefined if none that holds begins there. */
async function readHeader(handle: DiskFile, at: number): Promise<DtbBlockHeader | undefined> {
  return blockHeaderOf(await handle.readAt(at, BLOCK_HEADER_BYTES))
}

/** The header of a block that begins with these bytes; undefined if they hold none. */
export function blockHeaderOf(bytes: Uint8Array): DtbBlockHeader | undefined {
  return untilFault(() => decodeBlockHeader(bytes))
}

/** What a decoder gives; undefined if it finds a fault: files of others may lie here too. */
function untilFault<T>(decode: () => T): T | undefined {
  try {
    return decode()
  } catch (error) {
    if (error instanceof SondeError) return undefined
    throw error
  }
}
