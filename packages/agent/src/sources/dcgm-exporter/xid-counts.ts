/**
 * XID errors of one GPU by number, counted from a gauge that tells the last of them. Two equal ones in a row, and all
 * but the last of a burst between two scrapes, cannot be seen in it: each count is the least that there were.
 */
export class XidCounts {
  readonly #counts = new Map<number, number>()
  #last = 0

  /** Takes what the gauge says; undefined if it says nothing, 0 if there was none. */
  take(xid: number | undefined): void {
    if (xid === undefined || xid === this.#last) return
    this.#last = xid
    if (xid !== 0) this.#counts.set(xid, (this.#counts.get(xid) ?? 0) + 1)
  }

  /** Numbers that were told, and how often. */
  [Symbol.iterator](): IterableIterator<[xid: number, count: number]> {
    return this.#counts.entries()
  }
}
