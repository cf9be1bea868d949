import type { FailedRead } from '@sonde/sdk/api'
import { messageOf } from '@sonde/sdk/internal'

/** Limit of remembered paths; the path with the oldest failure is forgotten first. */
const PLACE_LIMIT_COUNT = 16

/** Where present hardware could not be read: all are counted, and the last places are remembered. */
export class FailedReads {
  count = 0
  readonly #places = new Map<string, FailedRead>()

  /** Notes a failure. */
  add(place: string, error: unknown, nowMs: number): void {
    this.take({ place, message: messageOf(error), count: 1, lastMs: nowMs })
    this.count++
  }

  /** Takes over what was noted elsewhere, without counting it. */
  take(read: FailedRead): void {
    const before = this.#places.get(read.place)
    this.#places.delete(read.place)
    this.#places.set(read.place, { ...read, count: read.count + (before?.count ?? 0) })
    if (this.#places.size <= PLACE_LIMIT_COUNT) return
    for (const oldest of this.#places.keys()) {
      this.#places.delete(oldest)
      return
    }
  }

  /** The places, the latest first. */
  latest(): FailedRead[] {
    return [...this.#places.values()].reverse()
  }

  clear(): void {
    this.count = 0
    this.#places.clear()
  }
}
