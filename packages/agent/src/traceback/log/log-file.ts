import { closeSync, fstatSync, ftruncateSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { messageOf, SondeError } from '@sonde/sdk'
import { type FileLock, lockFile, PRIVATE_FILE_MODE } from '@sonde/sdk/internal'

/** Rows that are gathered before they are written. Unit: characters. */
const BUFFER_CHARACTERS = 256 * 1024

/** Where a log is written, and how much of it is kept. */
export interface LogFileOptions {
  readonly path: string
  /** Size from which the next file is begun. Unit: bytes. Range: from 4096. Default: 64 MiB. */
  readonly fileBytesMax?: number
  /** Files that are kept, the newest included: `events.log`, `events.log.1`, … Range: from 1. Default: 8. */
  readonly filesMax?: number
  /** Whether it goes on behind what a file has. Default: the file is kept as `events.log.1`. */
  readonly append?: boolean
}

/** What a log lost. */
export interface LogLosses {
  /** Rows that the disk did not take. */
  rows: number
  /** Why the latest of them were not taken; empty if all were. */
  reason: string
  /** Files that were removed for their number. */
  removedFiles: number
  /** Size of them. Unit: bytes. */
  removedBytes: number
}

/** A text file of rows that rotates by size. Every row in it is whole: where the disk is full, rows are left out. */
export class LogFile {
  readonly losses: LogLosses = { rows: 0, reason: '', removedFiles: 0, removedBytes: 0 }
  /** Bytes that were written since it was opened, whatever was removed since. */
  writtenBytes = 0
  readonly #path: string
  readonly #fileBytesMax: number
  readonly #filesMax: number
  readonly #headOf: () => string
  #file: number
  readonly #lock: FileLock | undefined
  /** Size of the file: whole rows alone. */
  #wholeBytes: number
  #needsHead = true
  /** A terminal or a pipe is neither rotated nor cut. */
  #isRegular: boolean
  #pending = ''
  #pendingRows = 0
  #isWhole = true
  #headBytes = 0

  /**
   * Opens the file and writes its head.
   *
   * @param headOf The rows that each file begins with.
   * @throws SondeError `TRB_LOG` if it cannot be opened or written.
   */
  constructor(
    { path, fileBytesMax = 64 * 1024 * 1024, filesMax = 8, append = false }: LogFileOptions,
    headOf: () => string,
  ) {
    this.#path = path
    this.#fileBytesMax = fileBytesMax
    this.#filesMax = filesMax
    this.#headOf = headOf
    try {
      this.#file = openSync(path, 'a+', PRIVATE_FILE_MODE)
      const stats = fstatSync(this.#file)
      this.#isRegular = stats.isFile()
      this.#wholeBytes = this.#isRegular ? stats.size : 0
      this.#lock = this.#isRegular ? this.#lockOf(path) : undefined
      if (this.#wholeBytes > 0 && append) this.#endLine()
      else if (this.#wholeBytes > 0) this.#begin()
    } catch (cause) {
      throw logFault(path, cause)
    }
    this.#write()
    if (this.losses.reason !== '') throw logFault(path, this.losses.reason)
  }

  /** Adds one row, or several, that end with a line break. They are written at the next {@link flush}, or before. */
  row(text: string): void {
    this.#pending += text
    this.#pendingRows++
    if (this.#pending.length >= Math.min(BUFFER_CHARACTERS, this.#fileBytesMax / 2)) this.#write()
  }

  /** Writes what waits. Returns false if the disk did not take rows since the call before; see {@link losses}. */
  flush(): boolean {
    this.#write()
    const isWhole = this.#isWhole
    this.#isWhole = true
    return isWhole
  }

  /** @throws Error where another process writes the log. */
  #lockOf(path: string): FileLock | undefined {
    try {
      return lockOf(path)
    } catch (error) {
      closeSync(this.#file)
      throw error
    }
  }

  #write(): void {
    if (this.#pendingRows === 0 && !this.#needsHead) return
    const bytes = Buffer.from(this.#pending)
    const rows = this.#pendingRows
    this.#pending = ''
    this.#pendingRows = 0
    try {
      const isFull = this.#wholeBytes > this.#headBytes && this.#wholeBytes + bytes.length > this.#fileBytesMax
      if (this.#isRegular && isFull && !this.#needsHead) this.#begin()
      if (this.#needsHead) this.#putHead()
      this.#put(bytes)
      this.writtenBytes += bytes.length
    } catch (cause) {
      this.#isWhole = false
      this.losses.rows += rows
      this.losses.reason = messageOf(cause)
      this.#cut()
    }
  }

  #putHead(): void {
    const head = Buffer.from(this.#headOf())
    this.#put(head)
    this.#headBytes = head.length
    this.#needsHead = false
  }

  #put(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at)
    this.#wholeBytes += bytes.length
  }

  /** Writes what waits. May be called twice. */
  close(): void {
    if (this.#file < 0) return
    this.#write()
    closeSync(this.#file)
    this.#file = -1
    this.#lock?.close()
  }

  /** Puts the file aside as the newest of the old, and opens an empty one. Where that fails, the file goes on. */
  #begin(): void {
    if (!this.#isRegular) return
    this.#remove(this.#filesMax - 1)
    for (let number = this.#filesMax - 2; number >= 0; number--) this.#move(number)
    const next = openSync(this.#path, 'a+', PRIVATE_FILE_MODE)
    closeSync(this.#file)
    this.#file = next
    this.#wholeBytes = 0
    this.#needsHead = true
  }

  #remove(number: number): void {
    const path = this.#nameOf(number)
    try {
      const file = openSync(path, 'r')
      const { size } = fstatSync(file)
      closeSync(file)
      rmSync(path)
      this.losses.removedFiles++
      this.losses.removedBytes += size
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }

  #move(number: number): void {
    try {
      renameSync(this.#nameOf(number), this.#nameOf(number + 1))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }

  #nameOf(number: number): string {
    return number === 0 ? this.#path : `${this.#path}.${number}`
  }

  /** A process that was killed may have left half a row behind. */
  #endLine(): void {
    const last = Buffer.alloc(1)
    readSync(this.#file, last, 0, 1, this.#wholeBytes - 1)
    if (last.toString() !== '\n') this.#put(Buffer.from('\n'))
  }

  /** Takes half a row away again. */
  #cut(): void {
    if (!this.#isRegular) return
    try {
      ftruncateSync(this.#file, this.#wholeBytes)
    } catch {
      // A disk that does not even shorten a file leaves half a row; the next begins on a line of its own.
      this.#pending = '\n'
      this.#pendingRows = 1
    }
  }
}

/**
 * The lock of a log, beside it: two processes would rotate and cut the rows of each other. Undefined if the folder
 * takes no further file; then the log does not rotate either.
 *
 * @throws Error where another process has it.
 */
function lockOf(path: string): FileLock | undefined {
  let lock: FileLock | undefined
  try {
    lock = lockFile(join(dirname(path), `.${basename(path)}.lock`))
  } catch {
    return undefined
  }
  if (lock === undefined) throw new Error('another process writes it; name another --event-log')
  return lock
}

/** An error of the events log. */
export function logFault(path: string, cause: unknown): SondeError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new SondeError('TRB_LOG', `the events log ${path} cannot be written: ${why}`, { cause })
}
