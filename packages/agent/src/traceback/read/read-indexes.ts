import type { ReadIndex } from '../keep/kept-index.ts'

/** Indexes in memory. A page that pans reads the same index repeatedly. */
const KEPT_MAX = 4

/** The indexes of the events that were read last. */
export class ReadIndexes {
  readonly #kept = new Map<number, Promise<ReadIndex>>()

  /** The index of an event. It is read if it is not in memory. */
  of(id: number, read: () => Promise<ReadIndex>): Promise<ReadIndex> {
    const known = this.#kept.get(id)
    if (known !== undefined) return known
    const reading = read()
    this.#kept.set(id, reading)
    reading.catch(() => this.#kept.delete(id))
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= KEPT_MAX) break
      this.#kept.delete(oldest)
    }
    return reading
  }
}
