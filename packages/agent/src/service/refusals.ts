import type { SondeError } from '@sonde/sdk'
import type { Hello } from '@sonde/sdk/internal'
import type { Logger } from 'pino'

/** A program that is refused for one reason again and again is a line in the log so often. Unit: milliseconds. */
const EVERY_MS = 60_000
/** Programs and reasons that have a line each in that time; a client that has a new name each time gets no more. */
const LINES_MAX = 64

/** One line that was written. */
interface Line {
  readonly atMs: number
  /** Refusals since, that are in no line. */
  more: number
}

/** Tells the log which clients were refused, and why: each program once a minute for each reason. */
export class Refusals {
  readonly #log: Logger
  readonly #now: () => number
  readonly #lines = new Map<string, Line>()

  /** @param now A clock that only rises. Unit: milliseconds. */
  constructor(log: Logger, now = () => performance.now()) {
    this.#log = log
    this.#now = now
  }

  /** @param hello Who it is; undefined if it did not say. */
  tell(hello: Hello | undefined, { code, message }: Pick<SondeError, 'code' | 'message'>): void {
    const { program, pid } = hello ?? {}
    const key = `${code} ${program ?? ''}`
    const nowMs = this.#now()
    const before = this.#lines.get(key)
    if (before !== undefined && nowMs - before.atMs < EVERY_MS) {
      before.more++
      return
    }
    this.#lines.delete(key)
    this.#forget(nowMs)
    if (this.#lines.size >= LINES_MAX) return
    this.#lines.set(key, { atMs: nowMs, more: 0 })
    const line = { code, message: message.slice(0, 1000), program: program?.slice(0, 200), clientPid: pid }
    this.#log.warn({ ...line, untold: before?.more ?? 0 }, 'a client was sent away')
  }

  /** The oldest is the first: each line that is written again becomes the last. */
  #forget(nowMs: number): void {
    for (const [key, { atMs }] of this.#lines) {
      if (this.#lines.size < LINES_MAX || nowMs - atMs < EVERY_MS) return
      this.#lines.delete(key)
    }
  }
}
