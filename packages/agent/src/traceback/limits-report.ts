/** Shortest time between two log lines about limits. Unit: milliseconds. */
const EVERY_MS = 60_000

/** Logs that limits left events out, at most once a minute. */
export class LimitsReport {
  readonly #log: { warn(facts: object, message: string): void }
  #reported = 0
  #reportedMs = Number.NEGATIVE_INFINITY

  constructor(log: { warn(facts: object, message: string): void }) {
    this.#log = log
  }

  /** @param total Events that were left out since the start. */
  look(total: number, nowMs: number): void {
    if (total === this.#reported || nowMs - this.#reportedMs < EVERY_MS) return
    const events = total - this.#reported
    this.#reported = total
    this.#reportedMs = nowMs
    this.#log.warn(
      { events },
      'events were left out: traceback.events_per_minute or the limit of open events was reached',
    )
  }
}
