import { dirname } from 'node:path'
import { crc32 } from '../internal/crc32.ts'
import { makeFolders } from '../internal/make-folders.ts'
import type { PageId } from '../schema/batch.ts'
import type { Disk, DiskFile } from './disk.ts'
import { codeOf } from './error-code.ts'

/** Client and page, 64 bits each, a CRC-32 of both, and four bytes of 0. */
const ENTRY_BYTES = 24
/** Clients that are remembered; with more, the client that was silent longest is forgotten, and sends pages again. */
const CLIENT_COUNT_LIMIT = 4096
/** Size of the file; beyond, it is replaced by a new file. Unit: bytes. */
const FILE_BYTES_LIMIT = 1 << 20

/** Pages by client. */
type Pages = Map<bigint, bigint>

/**
 * The last page of each client up to which all records are in the files, or were removed by a filter. The marks have a
 * file of their own, because a filtered page is in no other file. If a mark is lost, the client sends pages again; no
 * record is lost.
 */
export class PageMarks {
  readonly #disk: Disk
  readonly #path: string
  /** Pages that came since the last flush began. */
  #seen: Pages = new Map()
  /** Pages that are written, or about to be; a promise while an earlier process's are read. */
  #marked: Promise<Pages> | undefined
  #file: DiskFile | undefined
  #fileBytes = 0
  #writing = Promise.resolve()

  /** @param path Of the file, which is made with the first page. */
  constructor(disk: Disk, path: string) {
    this.#disk = disk
    this.#path = path
  }

  /** A page was accepted, or left out. */
  see({ client, sequence }: PageId): void {
    this.#seen.set(client, sequence)
    if (this.#seen.size > CLIENT_COUNT_LIMIT) dropOldest(this.#seen)
  }

  /** Takes the marks since the last call, at the start of a flush. */
  takeSeen(): ReadonlyMap<bigint, bigint> | undefined {
    if (this.#seen.size === 0) return undefined
    const seen = this.#seen
    this.#seen = new Map()
    return seen
  }

  /** The last page of a client; 0 if none is known. */
  async lastPage(client: bigint): Promise<bigint> {
    return (await this.#load()).get(client) ?? 0n
  }

  /** Everything up to these pages is where it belongs. Rejects where that cannot be written. */
  mark(pages: ReadonlyMap<bigint, bigint>): Promise<void> {
    this.#writing = this.#writing.catch(() => undefined).then(() => this.#write(pages))
    return this.#writing
  }

  async close(): Promise<void> {
    await this.#writing.catch(() => undefined)
    await this.#file?.close()
    this.#file = undefined
  }

  async #write(pages: ReadonlyMap<bigint, bigint>): Promise<void> {
    const marked = await this.#load()
    for (const [client, sequence] of pages) {
      if (sequence < (marked.get(client) ?? 0n)) continue
      marked.delete(client)
      marked.set(client, sequence)
    }
    while (marked.size > CLIENT_COUNT_LIMIT) dropOldest(marked)
    const entries = encode(pages)
    if (this.#file === undefined || this.#fileBytes + entries.byteLength > FILE_BYTES_LIMIT) await this.#renew(marked)
    else await this.#append(this.#file, entries)
  }

  async #append(file: DiskFile, entries: Buffer): Promise<void> {
    const { bytesWritten } = await file.writev([entries], this.#fileBytes)
    // The next write covers an entry that was cut short.
    this.#fileBytes += bytesWritten - (bytesWritten % ENTRY_BYTES)
  }

  /** Replaces the file by one that has each client once; the old file stays until the new file is whole. */
  async #renew(marked: Pages): Promise<void> {
    const path = `${this.#path}.new`
    // What a filter leaves nothing of has made no folder yet.
    await this.#disk.inTurn(() => makeFolders(dirname(this.#path)))
    // Removes an existing entry first: a partial file of a killed process, or a link of another user.
    await this.#disk.unlink(path).catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw error
    })
    const file = await this.#disk.open(path, 'wx')
    try {
      this.#fileBytes = 0
      await this.#append(file, encode(marked))
      await this.#disk.rename(path, this.#path)
    } catch (error) {
      await file.close()
      throw error
    }
    await this.#file?.close()
    this.#file = file
  }

  #load(): Promise<Pages> {
    this.#marked ??= readMarks(this.#disk, this.#path).catch((error: unknown) => {
      this.#marked = undefined
      throw error
    })
    return this.#marked
  }
}

function dropOldest(pages: Pages): void {
  for (const client of pages.keys()) {
    pages.delete(client)
    return
  }
}

function encode(pages: ReadonlyMap<bigint, bigint>): Buffer {
  const bytes = Buffer.alloc(pages.size * ENTRY_BYTES)
  let at = 0
  for (const [client, sequence] of pages) {
    bytes.writeBigUInt64LE(client, at)
    bytes.writeBigUInt64LE(sequence, at + 8)
    bytes.writeUInt32LE(crc32(bytes.subarray(at, at + 16)), at + 16)
    at += ENTRY_BYTES
  }
  return bytes
}

async function readMarks(disk: Disk, path: string): Promise<Pages> {
  const pages: Pages = new Map()
  const bytes = await readFile(disk, path)
  for (let at = 0; at + ENTRY_BYTES <= bytes.byteLength; at += ENTRY_BYTES) {
    if (bytes.readUInt32LE(at + 16) !== crc32(bytes.subarray(at, at + 16))) continue
    const [client, sequence] = [bytes.readBigUInt64LE(at), bytes.readBigUInt64LE(at + 8)]
    if (sequence > (pages.get(client) ?? 0n)) pages.set(client, sequence)
  }
  return pages
}

/** What an earlier process left; empty if it left nothing. */
async function readFile(disk: Disk, path: string): Promise<Buffer> {
  try {
    const file = await disk.open(path, 'r')
    try {
      return await file.readAt(0, FILE_BYTES_LIMIT)
    } finally {
      await file.close()
    }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return Buffer.alloc(0)
    throw error
  }
}
