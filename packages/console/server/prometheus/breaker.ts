/** Number of failures within the following time that open the breaker. */
const FAILURE_COUNT = 3
/** Unit: milliseconds. */
const WITHIN_MS = 60_000
/** How long it stays open; then one request tries. Unit: milliseconds. */
const OPEN_MS = 30_000

/**
 * Protects an unreachable server, and requests that would wait for it. After 3 failures within a minute no request is
 * sent for 30 s. Then one request tries, and its outcome decides.
 */
export class Breaker {
  readonly #now: () => number
  #failuresMs: number[] = []
  #openUntilMs = 0
  #isTrying = false

  /** @param now Returns the milliseconds of a monotonic clock. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** For how long no request may be sent; 0 if the breaker is closed. Unit: milliseconds. */
  get openMs(): number {
    return this.#openUntilMs === 0 ? 0 : Math.max(1, this.#openUntilMs - this.#now())
  }

  /**
   * For how long no request may be sent. After 0 the caller must send it and call {@link settle}. Unit: milliseconds.
   */
  enter(): number {
    if (this.#openUntilMs === 0) return 0
    const leftMs = this.#openUntilMs - this.#now()
    if (leftMs > 0) return leftMs
    // The next second shows the outcome of the trial.
    if (this.#isTrying) return 1000
    this.#isTrying = true
    return 0
  }

  /** Records whether the server answered a request that was let in. */
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
