import type { ReadIndex } from '../keep/kept-index.ts'

/** Indexes that are kept: a page that pans asks again and again. */
const KEPT_MAX = 4

/** What the files of the events hold that were read last. */
export class ReadIndexes {
  readonly #kept = new Map<number, Promise<ReadIndex>>()

  /** The index of an event, read where it is not kept. */
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
