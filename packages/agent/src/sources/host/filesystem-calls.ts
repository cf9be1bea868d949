import type { StatsFs } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { messageOf } from '@sonde/sdk/internal'

/** The size of a file system, or why there is none. */
export type Answer = { readonly values: FilesystemValues } | { readonly failure: string }

/** Fields of `host_filesystem` that the file system gives. Unit: bytes and numbers of files. */
export interface FilesystemValues {
  readonly size_bytes: number
  readonly free_bytes: number
  readonly available_bytes: number
  readonly files: number
  readonly files_free: number
}

/** A call that was started. */
interface OpenCall {
  readonly path: string
  readonly startMs: number
}

/** A call that is open for longer hangs, as one to a file server that is gone does. */
const PATIENCE_MS = 5000
/** Calls that may hang at a time: each keeps a thread of the pool, in which the agent also writes its files. */
const HANGING_MAX = 2

/**
 * Asks file systems for their size, one after the other. A call that hangs delays the others by a few seconds, once;
 * its file system is asked again when the call has come back.
 */
export class FilesystemCalls {
  readonly #answers = new Map<string, Answer>()
  readonly #hanging = new Map<string, OpenCall>()
  #waiting: string[] = []
  #open: OpenCall | undefined
  #isClosed = false

  /** Starts no further call. */
  close(): void {
    this.#isClosed = true
    this.#waiting = []
  }

  /** Asks these file systems, unless the last round still runs. */
  ask(paths: readonly string[]): void {
    for (const path of this.#answers.keys()) if (!paths.includes(path)) this.#answers.delete(path)
    if (this.#open === undefined && this.#waiting.length === 0) this.#waiting = [...paths]
    this.#next()
  }

  /** The last answer of a file system; undefined while its first call is awaited. */
  answer(path: string): Answer | undefined {
    const hanging = this.#hanging.get(path)
    if (hanging !== undefined)
      return { failure: `the file system at ${path} has not answered for ${secondsSince(hanging.startMs)} s` }
    if (this.#hanging.size >= HANGING_MAX && this.#waiting.includes(path))
      return { failure: `not asked, because ${[...this.#hanging.keys()].join(' and ')} hang` }
    return this.#answers.get(path)
  }

  /** Lets the next call start if this one hangs. An answer that waits for its turn in a busy process comes first. */
  #watch(call: OpenCall): NodeJS.Timeout {
    const look = () => {
      if (this.#open !== call) return
      this.#hanging.set(call.path, call)
      this.#open = undefined
      this.#next()
    }
    return setTimeout(() => setImmediate(look), PATIENCE_MS).unref()
  }

  #next(): void {
    if (this.#open !== undefined || this.#hanging.size >= HANGING_MAX) return
    const path = this.#waiting.find((each) => !this.#hanging.has(each))
    if (path === undefined) {
      this.#waiting = []
      return
    }
    this.#waiting = this.#waiting.filter((each) => each !== path)
    const call = { path, startMs: performance.now() }
    this.#open = call
    const timer = this.#watch(call)
    statfs(path).then(
      (found) => this.#ended(call, timer, { values: valuesOf(found) }),
      (error: unknown) => this.#ended(call, timer, { failure: messageOf(error) }),
    )
  }

  #ended(call: OpenCall, timer: NodeJS.Timeout, answer: Answer): void {
    clearTimeout(timer)
    if (this.#isClosed) return
    this.#answers.set(call.path, answer)
    if (this.#hanging.get(call.path) === call) this.#hanging.delete(call.path)
    if (this.#open === call) this.#open = undefined
    this.#next()
  }
}

function valuesOf({ bsize, blocks, bfree, bavail, files, ffree }: StatsFs): FilesystemValues {
  return {
    size_bytes: blocks * bsize,
    free_bytes: bfree * bsize,
    available_bytes: bavail * bsize,
    files,
    files_free: ffree,
  }
}

function secondsSince(startMs: number): number {
  return Math.floor((performance.now() - startMs) / 1000)
}
