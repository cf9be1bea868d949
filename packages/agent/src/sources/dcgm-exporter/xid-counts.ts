/**
 * Counts the XID errors of one GPU by number. The exporter has only a gauge with the last error. Repeated equal errors
 * are not visible in it, nor all but the last of several errors between two scrapes. Each count is therefore a minimum.
 */
export class XidCounts {
  readonly #counts = new Map<number, number>()
  #last = 0

  /** Adds a value of the gauge: undefined if the gauge has no value, 0 if there was no error. */
  take(xid: number | undefined): void {
    if (xid === undefined || xid === this.#last) return
    this.#last = xid
    if (xid !== 0) this.#counts.set(xid, (this.#counts.get(xid) ?? 0) + 1)
  }

  /** Numbers seen so far, with their counts. */
  [Symbol.iterator](): IterableIterator<[xid: number, count: number]> {
    return this.#counts.entries()
  }
}
