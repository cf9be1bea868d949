import type { Disk, DiskFile } from '../../disk/disk.ts'
import { crc32 } from '../../internal/crc32.ts'
import { BLOCK_HEADER_BYTES, BLOCK_MAGIC, BLOCK_TYPE, DTB_LIMITS } from '../../wire/dtb/format.ts'
import { blockHeaderOf, readSource } from './head.ts'
import { filesOfSource } from './tree.ts'

/** Limit of files to read, the newest first. A file has the pages of one client. */
const FILE_COUNT_LIMIT = 256
/**
 * Files of the client that are looked into: names tell the order in which they were made, unless the clock went
 * backwards between.
 */
const FOUND_COUNT_LIMIT = 3
/** Limit of days to search, the newest first. */
const DAY_COUNT_LIMIT = 32
/** How much of the end of a file is looked at first, and more and more as long as no page is found. Unit: bytes. */
const SPAN_BYTES = 1 << 20
const SPAN_BYTES_LIMIT = DTB_LIMITS.payloadBytes * 2

/**
 * The last page of a client that the files of a source hold; 0 if they have none. Pages are written in order, so it
 * is the last in the newest file that has pages of the client, and everything before it is there too. A page that was
 * cut short is none.
 */
export async function lastPageOf(
  disk: Disk,
  root: string,
  source: { readonly id: string; readonly tag: string },
  client: bigint,
): Promise<bigint> {
  let [asked, found, last] = [0, 0, 0n]
  for await (const path of filesOfSource(disk, root, source, DAY_COUNT_LIMIT)) {
    if (asked++ === FILE_COUNT_LIMIT || found === FOUND_COUNT_LIMIT) break
    const inFile = await lastPageIn(disk, path, client)
    if (inFile > 0n) found++
    if (inFile > last) last = inFile
  }
  return last
}

async function lastPageIn(disk: Disk, path: string, client: bigint): Promise<bigint> {
  const handle = await disk.open(path, 'r')
  try {
    const { size } = await handle.stat()
    const entry = await readSource(handle, size)
    return entry?.client === client.toString(16).padStart(16, '0') ? await searchBackwards(handle, size) : 0n
  } finally {
    await handle.close()
  }
}

/** Looks backwards from the end for the last block that is a page and whole. */
async function searchBackwards(handle: DiskFile, size: number): Promise<bigint> {
  for (let span = SPAN_BYTES; ; span *= 4) {
    const start = Math.max(0, (size - span) & ~7)
    const bytes = await handle.readAt(start, size - start)
    for (let at = (bytes.byteLength - BLOCK_HEADER_BYTES) & ~7; at >= 0; at -= 8) {
      if (bytes.readUInt32LE(at) !== BLOCK_MAGIC) continue
      const page = wholePageAt(bytes, at)
      if (page !== undefined) return page
    }
    if (start === 0 || span >= SPAN_BYTES_LIMIT) return 0n
  }
}

/** Sequence of the page in the block at a place; undefined if none is whole there. */
function wholePageAt(bytes: Buffer, at: number): bigint | undefined {
  const payloadAt = at + BLOCK_HEADER_BYTES
  const header = blockHeaderOf(bytes.subarray(at, payloadAt))
  if (header?.blockType !== BLOCK_TYPE.records || header.client === 0n) return undefined
  const payload = bytes.subarray(payloadAt, payloadAt + header.storedBytes)
  const isWhole = payload.byteLength === header.storedBytes && crc32(payload) === header.payloadCrc
  return isWhole ? header.pageSequence : undefined
}
