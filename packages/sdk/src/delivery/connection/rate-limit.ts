import { processTimers, type Timers } from '../../internal/timers.ts'

const MS_PER_S = 1000

/**
 * A limit of bytes a second. A payload goes at once if earlier payloads are paid for, however large it is; the next
 * payload then waits for longer. So the mean never exceeds the limit, and no payload is too large.
 */
export class RateLimit {
  readonly #bytesPerMs: number
  readonly #timers: Timers
  /** When everything sent so far is paid for. */
  #freeAtMs = 0

  /** @param bytesPerSecond Default: no limit. */
  constructor(bytesPerSecond: number | undefined, timers: Timers = processTimers) {
    this.#bytesPerMs = (bytesPerSecond ?? Number.POSITIVE_INFINITY) / MS_PER_S
    this.#timers = timers
  }

  /** How long the next payload waits. Unit: milliseconds. */
  get waitMs(): number {
    return Math.max(0, this.#freeAtMs - this.#timers.nowMs())
  }

  /** Counts the bytes of a payload that is sent now. Each attempt counts. */
  spend(bytes: number): void {
    this.#freeAtMs = Math.max(this.#freeAtMs, this.#timers.nowMs()) + bytes / this.#bytesPerMs
  }
}
