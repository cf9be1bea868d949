import { type Holder, Quota } from '@sonde/sdk/internal'

/** Holds the names that nobody reported since the file was opened. They count as those of a client. */
export const EARLIER = 0n

/** The places for names of one kind, and which client has how many of them. */
export class Places {
  readonly #quota: Quota
  readonly #holders = new Map<number, Holder>()

  constructor(limitCount: number) {
    this.#quota = new Quota(limitCount)
  }

  /** Whether a client, or undefined for this process, may bring another name. */
  hasRoom(holder: Holder): boolean {
    return this.#quota.roomFor(holder) > 0
  }

  /** A name is stored. */
  take(id: number, holder: Holder): void {
    this.#holders.set(id, holder)
    this.#quota.add(holder, 1)
  }

  /** A name is reported: if that is for the first time since the file was opened, it is known now who holds it. */
  claim(id: number, holder: Holder): void {
    if (this.#holders.get(id) !== EARLIER) return
    this.leave(id)
    this.take(id, holder)
  }

  /** A name left the file. */
  leave(id: number): void {
    if (!this.#holders.has(id)) return
    this.#quota.add(this.#holders.get(id), -1)
    this.#holders.delete(id)
  }
}
