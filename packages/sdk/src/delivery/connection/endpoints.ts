import { processTimers, type Timers } from '../../internal/timers.ts'
import type { Send, SendResult } from '../sender.ts'

/** After this time on another address, the first address is tried again. Unit: milliseconds. */
const RETURN_AFTER_MS = 60_000

/** Makes one attempt at one address; the rest is as with {@link Send}. */
export type SendTo<P, E> = (payload: P, endpoint: E, signal: AbortSignal) => Promise<SendResult>

/**
 * The addresses of a destination, the preferred address first. After a failed attempt the next address gets the next
 * attempt. An attempt a minute goes to the first address, until it accepts records again.
 */
export class Endpoints<E> {
  readonly #all: readonly [E, ...E[]]
  readonly #timers: Timers
  #currentIndex = 0
  /** When the first address is tried again. */
  #returnAtMs = 0

  constructor(all: readonly [E, ...E[]], timers: Timers = processTimers) {
    this.#all = all
    this.#timers = timers
  }

  /** The number of addresses. */
  get count(): number {
    return this.#all.length
  }

  /** The address of the next attempt. */
  next(): E {
    const [first] = this.#all
    if (this.#currentIndex === 0) return first
    if (this.#timers.nowMs() < this.#returnAtMs) return this.#all[this.#currentIndex] ?? first
    // Only this attempt: others continue with the current address until the first has answered.
    this.#returnAtMs = this.#timers.nowMs() + RETURN_AFTER_MS
    return first
  }

  /** An attempt at this address has failed. */
  failed(endpoint: E): void {
    // Of several attempts in flight, only the first failure moves on.
    if (endpoint !== this.#all[this.#currentIndex]) return
    if (this.#currentIndex === 0) this.#returnAtMs = this.#timers.nowMs() + RETURN_AFTER_MS
    this.#currentIndex = (this.#currentIndex + 1) % this.#all.length
  }

  /** This address has answered. */
  answered(endpoint: E): void {
    if (endpoint === this.#all[0]) this.#currentIndex = 0
  }

  /** The `send` of a destination: each attempt goes to the current address. */
  send<P>(sendTo: SendTo<P, E>): Send<P> {
    return async (payload, signal) => {
      const endpoint = this.next()
      const fail = () => this.failed(endpoint)
      // An attempt that takes too long is aborted, and its result is ignored.
      signal.addEventListener('abort', fail, { once: true })
      try {
        const result = await sendTo(payload, endpoint, signal)
        if (result.outcome === 'retry') fail()
        else this.answered(endpoint)
        return result
      } catch (error) {
        fail()
        throw error
      } finally {
        signal.removeEventListener('abort', fail)
      }
    }
  }
}
