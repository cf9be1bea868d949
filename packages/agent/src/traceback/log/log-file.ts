import { closeSync, fstatSync, ftruncateSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { SondeError } from '@sonde/sdk'
import { type FileLock, lockFile, messageOf, PRIVATE_FILE_MODE } from '@sonde/sdk/internal'

/** Size of the write buffer. Unit: characters. */
const BUFFER_CHARACTERS = 256 * 1024

/** Path of a log, and how much of it is kept. */
export interface LogFileOptions {
  readonly path: string
  /** Size at which the next file starts. Unit: bytes. Range: from 4096. Default: 64 MiB. */
  readonly fileBytesMax?: number
  /** Most files, including the newest: `events.log`, `events.log.1`, … Range: from 1. Default: 8. */
  readonly filesMax?: number
  /** Whether to append to an existing file. Default: the existing file is renamed to `events.log.1`. */
  readonly append?: boolean
}

/** Losses of a log. */
export interface LogLosses {
  /** Rows that the disk refused. */
  rows: number
  /** Reason of the latest loss; empty if there was none. */
  reason: string
  /** Files that were removed because of `filesMax`. */
  removedFiles: number
  /** Their size. Unit: bytes. */
  removedBytes: number
}

/** A text file of rows that rotates by size. Every row is whole: rows are left out when the disk is full. */
export class LogFile {
  readonly losses: LogLosses = { rows: 0, reason: '', removedFiles: 0, removedBytes: 0 }
  /** Bytes that were written since it was opened, including removed files. */
  writtenBytes = 0
  readonly #path: string
  readonly #fileBytesMax: number
  readonly #filesMax: number
  readonly #headOf: () => string
  #file: number
  readonly #lock: FileLock | undefined
  /** Size of the file's whole rows. */
  #wholeBytes: number
  #needsHead = true
  /** A terminal or pipe is neither rotated nor cut. */
  #isRegular: boolean
  #pending = ''
  #pendingRows = 0
  #isWhole = true
  #headBytes = 0

  /**
   * Opens the file and writes its head.
   * @param headOf The first rows of each file.
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

  /** Adds one or more rows that end with a line break. They are written at the next {@link flush} or earlier. */
  row(text: string): void {
    this.#pending += text
    this.#pendingRows++
    if (this.#pending.length >= Math.min(BUFFER_CHARACTERS, this.#fileBytesMax / 2)) this.#write()
  }

  /** Writes the buffer. Returns false if the disk refused rows since the last call; see {@link losses}. */
  flush(): boolean {
    this.#write()
    const isWhole = this.#isWhole
    this.#isWhole = true
    return isWhole
  }

  /** @throws Error if another process writes the log. */
  #lockOf(path: string): FileLock | undefined {
    try {
      return lockLog(path)
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

  /** Writes the buffer and closes the file. May be called twice. */
  close(): void {
    if (this.#file < 0) return
    this.#write()
    closeSync(this.#file)
    this.#file = -1
    this.#lock?.close()
  }

  /** Renames the file to the newest old file, and opens an empty file. If that fails, the current file continues. */
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

  /** A killed process may have left half a row. */
  #endLine(): void {
    const last = Buffer.alloc(1)
    readSync(this.#file, last, 0, 1, this.#wholeBytes - 1)
    if (last.toString() !== '\n') this.#put(Buffer.from('\n'))
  }

  /** Removes half a row. */
  #cut(): void {
    if (!this.#isRegular) return
    try {
      ftruncateSync(this.#file, this.#wholeBytes)
    } catch {
      // A disk that cannot even truncate leaves half a row. The next row begins on a new line.
      this.#pending = '\n'
      this.#pendingRows = 1
    }
  }
}

/**
 * The lock of a log, beside it, because two processes would rotate and cut each other's rows. Undefined if the folder
 * accepts no further file; then the log does not rotate either.
 * @throws Error if another process has the lock.
 */
function lockLog(path: string): FileLock | undefined {
  let lock: FileLock | undefined
  try {
    lock = lockFile(join(dirname(path), `.${basename(path)}.lock`))
  } catch {
    return undefined
  }
  if (lock === undefined) throw new Error('another process writes it; choose another --event-log')
  return lock
}

/** An error of the events log. */
export function logFault(path: string, cause: unknown): SondeError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new SondeError('TRB_LOG', `the events log ${path} cannot be written: ${why}`, { cause })
}
