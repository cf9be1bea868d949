/** The limit of reports in an interval; the caller drops more. */
export class FloodBudget {
  /** Unit: bytes. */
  limitBytes: number
  readonly #intervalMs: number
  #usedBytes = 0
  #interval = 0

  constructor(limitBytes: number, intervalMs: number) {
    this.limitBytes = limitBytes
    this.#intervalMs = intervalMs
  }

  /** Gives the whole budget again where another interval has begun; called before calls, and not for each record. */
  renew(nowMs: number): void {
    const interval = Math.floor(nowMs / this.#intervalMs)
    if (interval === this.#interval) return
    this.#interval = interval
    this.#usedBytes = 0
  }

  /** Whether there is room, which is then taken. */
  take(bytes: number): boolean {
    if (this.#usedBytes + bytes > this.limitBytes) return false
    this.#usedBytes += bytes
    return true
  }
}
