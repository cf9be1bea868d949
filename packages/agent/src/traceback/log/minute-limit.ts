const MINUTE_NS = 60_000_000_000n

/** Passes a number of things each minute, and counts the rest by name. */
export class MinuteLimit {
  readonly #countMax: number
  #minute = -1n
  #passed = 0
  #refused = new Map<string, number>()

  /** @param countMax Things a minute. Range: from 1. */
  constructor(countMax: number) {
    this.#countMax = countMax
  }

  /** Whether another thing passes now. There are few names: those of rules, and kinds of notes. */
  take(name: string, timeNs: bigint): boolean {
    const minute = timeNs / MINUTE_NS
    if (minute !== this.#minute) {
      this.#minute = minute
      this.#passed = 0
    }
    if (this.#passed < this.#countMax) {
      this.#passed++
      return true
    }
    this.#refused.set(name, (this.#refused.get(name) ?? 0) + 1)
    return false
  }

  /** Whether a new minute began after a refusal. */
  isOver(timeNs: bigint): boolean {
    return this.#refused.size > 0 && timeNs / MINUTE_NS !== this.#minute
  }

  /** Refusals since the last call, by name. */
  takeRefused(): ReadonlyMap<string, number> {
    const refused = this.#refused
    if (refused.size > 0) this.#refused = new Map()
    return refused
  }
}
