import type { Dirent, Stats } from 'node:fs'
import * as fs from 'node:fs/promises'

/** Threads that Node has for everything that may wait: files, names of hosts, compression. */
const THREADS = Number(process.env.UV_THREADPOOL_SIZE ?? 4) || 4
/**
 * Calls to the disk that are under way at once in this process. A call to a disk that hangs keeps its thread, and one
 * is left to all others.
 */
const CALL_COUNT_LIMIT = Math.max(1, THREADS - 1)

let underWay = 0
/** When a call last ended, or the first of those under way began. Unit: milliseconds since the process started. */
let answeredMs = 0
const waiting: (() => void)[] = []

/** Does something on the disk, with one call at a time, once it is its turn. */
export async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (underWay === 0) answeredMs = performance.now()
  if (underWay < CALL_COUNT_LIMIT) underWay++
  else await new Promise<void>((resolve) => waiting.push(resolve))
  try {
    return await work()
  } finally {
    answeredMs = performance.now()
    const next = waiting.shift()
    if (next === undefined) underWay--
    else next()
  }
}

/** For how long no call has ended although some are under way. Unit: milliseconds. */
export function silentMs(): number {
  return underWay === 0 ? 0 : performance.now() - answeredMs
}

/** An open file, each of whose calls waits for its turn. */
export class DiskFile {
  readonly #handle: fs.FileHandle

  constructor(handle: fs.FileHandle) {
    this.#handle = handle
  }

  writev(blocks: readonly Uint8Array[], at: number): Promise<{ bytesWritten: number }> {
    return inTurn(() => this.#handle.writev(blocks as Uint8Array[], at))
  }

  writeText(text: string): Promise<void> {
    return inTurn(() => this.#handle.writeFile(text))
  }

  /** Fills bytes from a place on; fewer where the file ends. */
  async readAt(at: number, bytes: number): Promise<Buffer> {
    const buffer = Buffer.alloc(bytes)
    const { bytesRead } = await inTurn(() => this.#handle.read(buffer, 0, bytes, at))
    return buffer.subarray(0, bytesRead)
  }

  stat(): Promise<Stats> {
    return inTurn(() => this.#handle.stat())
  }

  truncate(bytes: number): Promise<void> {
    return inTurn(() => this.#handle.truncate(bytes))
  }

  /** Has the disk take what was written. */
  datasync(): Promise<void> {
    return inTurn(() => this.#handle.datasync())
  }

  /** Has the disk take what was written, and what is known of it. */
  sync(): Promise<void> {
    return inTurn(() => this.#handle.sync())
  }

  close(): Promise<void> {
    return inTurn(() => this.#handle.close())
  }
}

/** `open` of Node, in turn. Rejects as that does, like all below. */
export function open(path: string, flags: string): Promise<DiskFile> {
  return inTurn(async () => new DiskFile(await fs.open(path, flags)))
}

/** `stat` of Node, in turn. */
export const stat = (path: string): Promise<Stats> => inTurn(() => fs.stat(path))
/** `unlink` of Node, in turn. */
export const unlink = (path: string) => inTurn(() => fs.unlink(path))
/** `rmdir` of Node, in turn. */
export const rmdir = (path: string) => inTurn(() => fs.rmdir(path))
/** `rename` of Node, in turn. */
export const rename = (from: string, to: string) => inTurn(() => fs.rename(from, to))
/** `utimes` of Node, in turn. */
export const utimes = (path: string, accessed: Date, changed: Date) => inTurn(() => fs.utimes(path, accessed, changed))
/** What is in a folder, in turn. */
export const entriesIn = (path: string): Promise<Dirent[]> => inTurn(() => fs.readdir(path, { withFileTypes: true }))
