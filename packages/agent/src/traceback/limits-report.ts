/** Least time between two log lines about limits. Unit: milliseconds. */
const EVERY_MS = 60_000

/** Logs that limits left events out, at most once a minute. */
export class LimitsReport {
  readonly #log: { warn(facts: object, message: string): void }
  #told = 0
  #toldMs = Number.NEGATIVE_INFINITY

  constructor(log: { warn(facts: object, message: string): void }) {
    this.#log = log
  }

  /** @param total Events that were left out since the start. */
  look(total: number, nowMs: number): void {
    if (total === this.#told || nowMs - this.#toldMs < EVERY_MS) return
    const events = total - this.#told
    this.#told = total
    this.#toldMs = nowMs
    this.#log.warn(
      { events },
      'events were left out: traceback.events_per_minute or the limit of open events was reached',
    )
  }
}
