/** Who holds a part of a limit: a client of the service, or undefined for the sources of this process. */
export type QuotaHolder = bigint | undefined

/** Part of a limit that all clients together may hold. The rest is always free for the sources of this process. */
const CLIENTS_PART = 3 / 4
/** Once all clients together hold this part, a client grows only up to `CLIENT_PART`: other clients still find room. */
const CONTENDED_PART = 1 / 2
const CLIENT_PART = 1 / 8

/** A shared limit, and the part of each holder. Unit: that of the limit. */
export class Quota {
  readonly #limit: number
  readonly #held = new Map<QuotaHolder, number>()
  #total = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** How much each holder has; nobody is listed with 0. */
  get held(): ReadonlyMap<QuotaHolder, number> {
    return this.#held
  }

  /** How much more a holder may take now. At most 0 if it is nothing. */
  roomFor(holder: QuotaHolder): number {
    const free = this.#limit - this.#total
    if (holder === undefined) return free
    const clients = this.#total - (this.#held.get(undefined) ?? 0)
    const own = this.#held.get(holder) ?? 0
    const part = Math.max(this.#part(CLIENT_PART) - own, this.#part(CONTENDED_PART) - clients)
    return Math.min(free, this.#part(CLIENTS_PART) - clients, part)
  }

  /** Gives a holder more, or takes it back where `amount` is below 0. */
  add(holder: QuotaHolder, amount: number): void {
    const held = (this.#held.get(holder) ?? 0) + amount
    if (held === 0) this.#held.delete(holder)
    else this.#held.set(holder, held)
    this.#total += amount
  }

  #part(part: number): number {
    return Math.ceil(this.#limit * part)
  }
}
