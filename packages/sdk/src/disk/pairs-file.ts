import { dirname } from 'node:path'
import { crc32 } from '../internal/crc32.ts'
import { makeFolders } from '../internal/make-folders.ts'
import type { Disk, DiskFile } from './disk.ts'
import { codeOf } from './error-code.ts'

/** Two unsigned numbers of 64 bits. */
export type Pair = readonly [bigint, bigint]

/** Both numbers, a CRC-32 of both, and four bytes of 0. */
const PAIR_BYTES = 24
/** Size of the file; beyond, it is replaced by a new file. Unit: bytes. */
const FILE_BYTES_LIMIT = 1 << 20

/**
 * A small file of pairs of numbers, each with a checksum. Pairs are appended, or the first is replaced. A pair that a
 * killed process wrote in part is left out. Calls must not overlap.
 */
export class PairsFile {
  readonly #disk: Disk
  readonly #path: string
  #file: DiskFile | undefined
  #fileBytes = 0

  /** @param path Of the file, which is made with the first pair. */
  constructor(disk: Disk, path: string) {
    this.#disk = disk
    this.#path = path
  }

  /** The whole pairs that an earlier process left, the oldest first. */
  async read(): Promise<Pair[]> {
    const bytes = await readFile(this.#disk, this.#path)
    const pairs: Pair[] = []
    for (let at = 0; at + PAIR_BYTES <= bytes.byteLength; at += PAIR_BYTES) {
      if (bytes.readUInt32LE(at + 16) !== crc32(bytes.subarray(at, at + 16))) continue
      pairs.push([bytes.readBigUInt64LE(at), bytes.readBigUInt64LE(at + 8)])
    }
    return pairs
  }

  /** Appends pairs. `all` returns the pairs that must be in the file, for the case that it is replaced. */
  async add(pairs: readonly Pair[], all: () => readonly Pair[]): Promise<void> {
    const isFull = this.#fileBytes + pairs.length * PAIR_BYTES > FILE_BYTES_LIMIT
    if (this.#file === undefined || isFull) await this.#renew(all())
    else await this.#append(this.#file, encode(pairs))
  }

  /** Replaces the first pair, and so needs no room on the disk unless the file is missing. */
  async put(pair: Pair): Promise<void> {
    this.#file ??= await this.#disk.open(this.#path, 'r+').catch(() => undefined)
    if (this.#file === undefined) await this.#renew([pair])
    else await this.#file.writev([encode([pair])], 0)
  }

  async close(): Promise<void> {
    await this.#file?.close()
    this.#file = undefined
  }

  async #append(file: DiskFile, bytes: Buffer): Promise<void> {
    const { bytesWritten } = await file.writev([bytes], this.#fileBytes)
    // The next write covers a pair that was cut short.
    this.#fileBytes += bytesWritten - (bytesWritten % PAIR_BYTES)
  }

  /** Replaces the file; the old file stays until the new file is whole. */
  async #renew(pairs: readonly Pair[]): Promise<void> {
    const path = `${this.#path}.new`
    await this.#disk.inTurn(() => makeFolders(dirname(this.#path)))
    // Removes an existing entry first: a partial file of a killed process, or a link of another user.
    await this.#disk.unlink(path).catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw error
    })
    const file = await this.#disk.open(path, 'wx')
    try {
      this.#fileBytes = 0
      await this.#append(file, encode(pairs))
      await this.#disk.rename(path, this.#path)
    } catch (error) {
      await file.close()
      throw error
    }
    await this.#file?.close()
    this.#file = file
  }
}

function encode(pairs: readonly Pair[]): Buffer {
  const bytes = Buffer.alloc(pairs.length * PAIR_BYTES)
  for (const [index, [first, second]] of pairs.entries()) {
    const at = index * PAIR_BYTES
    bytes.writeBigUInt64LE(first, at)
    bytes.writeBigUInt64LE(second, at + 8)
    bytes.writeUInt32LE(crc32(bytes.subarray(at, at + 16)), at + 16)
  }
  return bytes
}

/** The content of a file; empty if there is none. */
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
