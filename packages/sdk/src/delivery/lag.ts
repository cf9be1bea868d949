import type { Batch } from '../schema/batch.ts'
import { timeSpanOfBatch } from '../schema/time-span.ts'
import { wallNs } from '../source/clock.ts'

const NS_PER_S = 1e9

/**
 * How far a destination is behind. Requests take the oldest records first, so the oldest record of a queue is in a
 * request in progress; this also holds for a queue on disk whose records an earlier process wrote.
 */
export class Lag {
  /** When the oldest record of each request in progress was made. Unit: nanoseconds since 1970. */
  readonly #oldestNs = new Set<{ readonly atNs: bigint }>()

  /** The age of the oldest record; undefined if no request is in progress. Unit: seconds. */
  get seconds(): number | undefined {
    if (this.#oldestNs.size === 0) return undefined
    const nowNs = wallNs()
    return Math.max(0, ...[...this.#oldestNs].map(({ atNs }) => Number(nowNs - atNs) / NS_PER_S))
  }

  /** A request with this batch first is in progress, until the returned function is called. */
  begin(batch: Batch): () => void {
    const isTimed = batch.clock === 'wall' && batch.type.time !== undefined
    // A record without a time is as old as its request.
    const request = { atNs: isTimed ? timeSpanOfBatch(batch)[0] : wallNs() }
    this.#oldestNs.add(request)
    return () => this.#oldestNs.delete(request)
  }
}
