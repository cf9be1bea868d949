import { processTimers, type Timers } from '@sonde/sdk/internal'

/** What a client did not send in this time it may send later. Unit: milliseconds. */
const SAVED_MS = 50
/** Longest pause; what is not paid then is waited for after the next page. Unit: milliseconds. */
const PAUSE_MS_MAX = 10_000

/** Limits a client to a number of bytes a second; the rest waits in its socket. */
export class ClientPace {
  readonly #bytesPerMs: number
  readonly #timers: Timers
  /** When the client's share covers all that came. Unit: milliseconds of the monotonic clock. */
  #coveredMs = 0

  constructor(bytesPerS: number, timers = processTimers) {
    this.#bytesPerMs = bytesPerS / 1000
    this.#timers = timers
  }

  /** So much came. Resolves when more may come; undefined if that is now. */
  take(bytes: number): Promise<void> | undefined {
    const nowMs = this.#timers.nowMs()
    this.#coveredMs = Math.max(this.#coveredMs, nowMs - SAVED_MS) + bytes / this.#bytesPerMs
    const waitMs = this.#coveredMs - nowMs
    if (waitMs <= 0) return undefined
    return new Promise((resolve) => this.#timers.after(Math.min(waitMs, PAUSE_MS_MAX), resolve))
  }
}
