/** As many failures within the time that follows open the breaker. */
const FAILURE_COUNT = 3
/** Unit: milliseconds. */
const WITHIN_MS = 60_000
/** How long it stays open; then one request tries. Unit: milliseconds. */
const OPEN_MS = 30_000

/**
 * Spares a server that cannot be reached, and requests that would wait for it: after 3 failures within a minute nothing
 * is asked for 30 s. Then one request tries, and its outcome decides.
 */
export class Breaker {
  readonly #now: () => number
  #failuresMs: number[] = []
  #openUntilMs = 0
  #isTrying = false

  /** @param now Milliseconds of a clock that only goes forward. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** For how long nothing may be asked; 0 if it is closed. Unit: milliseconds. */
  get openMs(): number {
    return this.#openUntilMs === 0 ? 0 : Math.max(1, this.#openUntilMs - this.#now())
  }

  /** For how long nothing may be asked; 0 if the caller may, and then owes {@link settle}. Unit: milliseconds. */
  enter(): number {
    if (this.#openUntilMs === 0) return 0
    const leftMs = this.#openUntilMs - this.#now()
    if (leftMs > 0) return leftMs
    // The next second tells how the one that tries fares.
    if (this.#isTrying) return 1000
    this.#isTrying = true
    return 0
  }

  /** Whether the server was there for a request that was let in. */
  settle(isWell: boolean): void {
    const nowMs = this.#now()
    if (this.#isTrying) {
      this.#isTrying = false
      this.#failuresMs = []
      this.#openUntilMs = isWell ? 0 : nowMs + OPEN_MS
      return
    }
    if (isWell) return
    this.#failuresMs = [...this.#failuresMs.filter((failedMs) => nowMs - failedMs < WITHIN_MS), nowMs]
    if (this.#failuresMs.length >= FAILURE_COUNT) this.#openUntilMs = nowMs + OPEN_MS
  }
}
