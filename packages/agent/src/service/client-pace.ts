import { setTimeout as pause } from 'node:timers/promises'

/** What a client did not send in this time it may send later. Unit: milliseconds. */
const SAVED_MS = 50
/** Longest pause; what is not paid then is waited for after the next page. Unit: milliseconds. */
const PAUSE_MS_MAX = 10_000

/** Limits a client to a number of bytes a second; the rest waits in its socket. */
export class ClientPace {
  readonly #bytesPerMs: number
  /** When the client's share covers all that came. Unit: milliseconds of the monotonic clock. */
  #coveredMs = 0

  constructor(bytesPerS: number) {
    this.#bytesPerMs = bytesPerS / 1000
  }

  /** So much came. Resolves when more may come; undefined if that is now. */
  take(bytes: number): Promise<void> | undefined {
    const nowMs = performance.now()
    this.#coveredMs = Math.max(this.#coveredMs, nowMs - SAVED_MS) + bytes / this.#bytesPerMs
    const waitMs = this.#coveredMs - nowMs
    return waitMs <= 0 ? undefined : pause(Math.min(waitMs, PAUSE_MS_MAX))
  }
}
