import { promisify } from 'node:util'
import { deflateRaw } from 'node:zlib'
import type { Disk, DiskFile } from '../../disk/disk.ts'
import { codeOf } from '../../disk/error-code.ts'
import { SondeError } from '../../errors.ts'
import { type DtbBlockHeader, decodeBlockHeader, paddedBytes } from '../../wire/dtb/decode-header.ts'
import { unpackPayload } from '../../wire/dtb/decode-payload.ts'
import { encodeStoredBlock } from '../../wire/dtb/encode.ts'
import { BLOCK_HEADER_BYTES, BLOCK_TYPE, FILE_HEADER_BYTES } from '../../wire/dtb/format.ts'
import { type DtbBlock, mergeBlocks } from '../../wire/dtb/merge.ts'
import { blockHeaderOf, isEnded } from './head.ts'

/**
 * The stretch of a file whose blocks are merged. Larger stretches hardly compress better, and move records of
 * different types further apart. A larger block is copied as it is, because its checksum would take too long.
 */
const STRETCH_BYTES = 1 << 20
/** Payloads that are not worth the call. Unit: bytes. */
const SMALL_BYTES = 256
/** The fastest: level 6 saves another 4 % for half as much processor time again. */
const LEVEL = 1

const deflate = promisify(deflateRaw)

/** A file that can be compressed. */
export interface Compressible {
  readonly disk: Disk
  readonly path: string
  /** Path of the new file until it is complete, in the same file system. */
  readonly draft: string
  readonly signal: AbortSignal
}

/**
 * Replaces a closed file by a file with the same records in fewer, compressed blocks. A reader that has the old file
 * open reads it to its end. The new file is on the disk before it takes the name, so the end of the process or of power
 * loses nothing. Returns the new size, or undefined if nothing was replaced: the file is not closed, is compressed
 * already, or would not shrink.
 *
 * @throws SondeError `DTB_BLOCK` and others of the decoder if the file is damaged, and errors of the disk.
 */
export async function compressFile({ disk, path, draft, signal }: Compressible): Promise<number | undefined> {
  const input = await disk.open(path, 'r')
  let isDrafted = false
  try {
    const { size, ino } = await input.stat()
    if (!(await isEnded(input, size)) || (await isCompressed(input))) return undefined
    await removeIfThere(disk, draft)
    const output = await disk.open(draft, 'wx')
    isDrafted = true
    const bytes = await copy(input, size, output, signal).finally(() => output.close())
    // Others may have removed or replaced the file: it must not come back.
    if (bytes >= size || (await disk.stat(path)).ino !== ino) return undefined
    await disk.rename(draft, path)
    isDrafted = false
    return bytes
  } finally {
    await input.close()
    if (isDrafted) await removeIfThere(disk, draft)
  }
}

/** Whether a file is compressed: then its first block is, too. */
async function isCompressed(input: DiskFile): Promise<boolean> {
  return blockHeaderOf(await input.readAt(FILE_HEADER_BYTES, BLOCK_HEADER_BYTES))?.isDeflated !== false
}

async function copy(input: DiskFile, size: number, output: DiskFile, signal: AbortSignal): Promise<number> {
  let written = await append(output, 0, [await input.readAt(0, FILE_HEADER_BYTES)])
  for (let at = FILE_HEADER_BYTES; at < size; ) {
    signal.throwIfAborted()
    const { blocks, bytes } = await stretchAt(input, at)
    at += bytes.byteLength
    written += await append(output, written, blocks.length === 0 ? [bytes] : await compressed(blocks))
  }
  await output.datasync()
  return written
}

/** The whole blocks from a place on; none if the first is larger than a stretch, and `bytes` is that block. */
async function stretchAt(input: DiskFile, at: number): Promise<{ blocks: DtbBlock[]; bytes: Uint8Array }> {
  const bytes = await input.readAt(at, STRETCH_BYTES)
  const blocks: DtbBlock[] = []
  let end = 0
  while (end < bytes.byteLength) {
    const headerBytes = bytes.subarray(end, end + BLOCK_HEADER_BYTES)
    if (headerBytes.byteLength < BLOCK_HEADER_BYTES) break
    const header = decodeBlockHeader(headerBytes)
    // Sinks write none, and unpacking what others wrote could take long.
    if (header.isDeflated) throw new SondeError('DTB_CONTENT', 'a block is compressed already')
    const next = end + blockBytes(header)
    if (next > bytes.byteLength) {
      if (end === 0) return { blocks, bytes: await wholeBlockAt(input, at, next) }
      break
    }
    blocks.push({ header, payload: unpackPayload(header, bytes.subarray(end + BLOCK_HEADER_BYTES, next)) })
    end = next
  }
  return { blocks, bytes: bytes.subarray(0, end) }
}

async function wholeBlockAt(input: DiskFile, at: number, bytes: number): Promise<Uint8Array> {
  const block = await input.readAt(at, bytes)
  if (block.byteLength < bytes) throw new SondeError('DTB_TRUNCATED', 'the file ends within a block')
  return block
}

function blockBytes(header: DtbBlockHeader): number {
  return BLOCK_HEADER_BYTES + paddedBytes(header)
}

/** The blocks of a stretch as the new file has them. One call to the compressor at a time: others need the threads. */
async function compressed(blocks: readonly DtbBlock[]): Promise<Uint8Array[]> {
  const stored: Uint8Array[] = []
  for (const { header, payload } of mergeBlocks(blocks)) {
    const packed = isPacked(header, payload) ? await deflate(payload, { level: LEVEL }) : payload
    const isDeflated = packed.byteLength < payload.byteLength || header.blockType === BLOCK_TYPE.types
    stored.push(encodeStoredBlock({ ...header, isDeflated }, isDeflated ? packed : payload))
  }
  return stored
}

/** The types are always compressed, see {@link isCompressed}; the source never, because it is found by its place. */
function isPacked({ blockType }: DtbBlockHeader, { byteLength }: Uint8Array): boolean {
  return blockType === BLOCK_TYPE.types || (blockType !== BLOCK_TYPE.source && byteLength >= SMALL_BYTES)
}

async function append(output: DiskFile, at: number, blocks: readonly Uint8Array[]): Promise<number> {
  const bytes = blocks.reduce((sum, block) => sum + block.byteLength, 0)
  const { bytesWritten } = await output.writev(blocks, at)
  if (bytesWritten < bytes) throw new SondeError('FIL_SHORT', 'there is no room on the disk for a compressed file')
  return bytes
}

async function removeIfThere(disk: Disk, path: string): Promise<void> {
  try {
    await disk.unlink(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}
