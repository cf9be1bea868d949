import { constants, type Dirent, type Stats } from 'node:fs'
import * as fs from 'node:fs/promises'
import { PRIVATE_FILE_MODE } from '../internal/private-files.ts'

const { O_RDONLY, O_RDWR, O_WRONLY, O_CREAT, O_EXCL, O_APPEND, O_NOFOLLOW } = constants
/** As Node spells them; `a` may read too. */
const FLAGS = { r: O_RDONLY, 'r+': O_RDWR, wx: O_WRONLY | O_CREAT | O_EXCL, a: O_RDWR | O_CREAT | O_APPEND } as const

/** Threads that Node has for everything that may wait: files, names of hosts, compression. */
const THREADS = Number(process.env.UV_THREADPOOL_SIZE ?? 4) || 4
/**
 * Limit of concurrent calls to disks in this process. A call to a hanging disk blocks its thread; one thread is left
 * for all other work.
 */
const CALL_COUNT_LIMIT = Math.max(1, THREADS - 1)

/** A disk that is silent for so long hangs. Unit: milliseconds. */
const HANG_MS = 5000

const inUse = new Set<Disk>()
/** Disks with waiting calls; the disk with the oldest last turn is first. */
const waiting = new Set<Disk>()
let underWay = 0

/**
 * The way of one sink to its disk. Each disk in use leaves a call to every other: one that hangs delays its own sink
 * alone, unless as many hang as calls may be under way.
 */
export class Disk {
  readonly #waiting: (() => void)[] = []
  #underWay = 0
  /** When a call last ended, or the first of those under way began. Unit: milliseconds since the process started. */
  #answeredMs = 0

  constructor() {
    inUse.add(this)
  }

  /** For how long no call has ended although some are under way. Unit: milliseconds. */
  get silentMs(): number {
    return this.#underWay === 0 ? 0 : performance.now() - this.#answeredMs
  }

  /** A sentence if the disk below a folder hangs; empty if it does not. */
  hanging(folder: string): string {
    if (this.silentMs < HANG_MS) return ''
    return `the disk of ${folder} takes nothing; look whether it hangs: what was reported waits in memory`
  }

  /** The disk is no longer used: its share of calls goes to other disks. Calls are still accepted. */
  leave(): void {
    inUse.delete(this)
  }

  /** Does something on the disk, with one call at a time, once it is its turn. */
  async inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#hasTurn) this.#begin()
    else await this.#wait()
    try {
      return await work()
    } finally {
      this.#end()
    }
  }

  /**
   * `open` of Node, in turn; a file that it makes is private, and a link is not followed. Rejects as that does, like
   * all below.
   */
  open(path: string, flags: keyof typeof FLAGS): Promise<DiskFile> {
    return this.inTurn(
      async () => new DiskFile(this, await fs.open(path, FLAGS[flags] | O_NOFOLLOW, PRIVATE_FILE_MODE)),
    )
  }

  /** Has the disk take the entries of a folder, in turn. */
  async syncFolder(path: string): Promise<void> {
    const folder = await this.inTurn(async () => new DiskFile(this, await fs.open(path, O_RDONLY)))
    try {
      await folder.sync()
    } finally {
      await folder.close()
    }
  }

  /** `lstat` of Node, in turn. */
  lstat(path: string): Promise<Stats> {
    return this.inTurn(() => fs.lstat(path))
  }

  /** `stat` of Node, in turn. */
  stat(path: string): Promise<Stats> {
    return this.inTurn(() => fs.stat(path))
  }

  /** `unlink` of Node, in turn. */
  unlink(path: string): Promise<void> {
    return this.inTurn(() => fs.unlink(path))
  }

  /** `rmdir` of Node, in turn. */
  rmdir(path: string): Promise<void> {
    return this.inTurn(() => fs.rmdir(path))
  }

  /** `rename` of Node, in turn. */
  rename(from: string, to: string): Promise<void> {
    return this.inTurn(() => fs.rename(from, to))
  }

  /** `lutimes` of Node, in turn. */
  lutimes(path: string, accessed: Date, changed: Date): Promise<void> {
    return this.inTurn(() => fs.lutimes(path, accessed, changed))
  }

  /** The entries of a folder, one after the other. */
  entriesIn(path: string): Promise<Dirent[]> {
    return this.inTurn(() => fs.readdir(path, { withFileTypes: true }))
  }

  get #hasTurn(): boolean {
    const others = inUse.size - (inUse.has(this) ? 1 : 0)
    return underWay < CALL_COUNT_LIMIT && this.#underWay < Math.max(1, CALL_COUNT_LIMIT - others)
  }

  #wait(): Promise<void> {
    waiting.add(this)
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #begin(): void {
    if (this.#underWay === 0) this.#answeredMs = performance.now()
    this.#underWay++
    underWay++
  }

  #end(): void {
    this.#answeredMs = performance.now()
    this.#underWay--
    underWay--
    for (const disk of [...waiting]) disk.#beginNext()
  }

  #beginNext(): void {
    if (!this.#hasTurn) return
    waiting.delete(this)
    const next = this.#waiting.shift()
    if (this.#waiting.length > 0) waiting.add(this)
    this.#begin()
    next?.()
  }
}

/** An open file, each of whose calls waits for its turn. */
export class DiskFile {
  readonly #disk: Disk
  readonly #handle: fs.FileHandle

  constructor(disk: Disk, handle: fs.FileHandle) {
    this.#disk = disk
    this.#handle = handle
  }

  writev(blocks: readonly Uint8Array[], at: number): Promise<{ bytesWritten: number }> {
    return this.#disk.inTurn(() => this.#handle.writev(blocks as Uint8Array[], at))
  }

  writeText(text: string): Promise<void> {
    return this.#disk.inTurn(() => this.#handle.writeFile(text))
  }

  /** Fills bytes from a place on; fewer where the file ends. */
  async readAt(at: number, bytes: number): Promise<Buffer> {
    const buffer = Buffer.allocUnsafeSlow(bytes)
    const { bytesRead } = await this.#disk.inTurn(() => this.#handle.read(buffer, 0, bytes, at))
    return buffer.subarray(0, bytesRead)
  }

  stat(): Promise<Stats> {
    return this.#disk.inTurn(() => this.#handle.stat())
  }

  truncate(bytes: number): Promise<void> {
    return this.#disk.inTurn(() => this.#handle.truncate(bytes))
  }

  /** Syncs the data of a file to the disk. */
  datasync(): Promise<void> {
    return this.#disk.inTurn(() => this.#handle.datasync())
  }

  /** Syncs the data and metadata of a file to the disk. */
  sync(): Promise<void> {
    return this.#disk.inTurn(() => this.#handle.sync())
  }

  close(): Promise<void> {
    return this.#disk.inTurn(() => this.#handle.close())
  }
}
