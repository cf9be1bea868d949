import type { Batch } from '../schema/batch.ts'
import { timeSpanOfBatch } from '../schema/time-span.ts'
import { wallNs } from '../source/clock.ts'

const NS_PER_S = 1e9

/**
 * How far a destination is behind. Requests take the oldest records first, so the oldest record of a queue is in a
 * request in progress; this also holds for a queue on disk whose records an earlier process wrote. Between requests it
 * is no older than the newest record of the last request, or than the first record that came into the empty queue.
 */
export class Lag {
  /** When the oldest record of each request in progress was made. Unit: nanoseconds since 1970. */
  readonly #oldestNs = new Set<{ readonly atNs: bigint }>()
  /** No waiting record is older; undefined if that is not known. Unit: nanoseconds since 1970. */
  #waitingNs: bigint | undefined

  /** The age of the oldest record of a queue that is not empty; undefined if it is not known. Unit: seconds. */
  get seconds(): number | undefined {
    const oldest = [...this.#oldestNs].map(({ atNs }) => atNs)
    if (oldest.length === 0 && this.#waitingNs !== undefined) oldest.push(this.#waitingNs)
    if (oldest.length === 0) return undefined
    const nowNs = wallNs()
    return Math.max(0, ...oldest.map((atNs) => Number(nowNs - atNs) / NS_PER_S))
  }

  /** A batch came into the empty queue. */
  enter(batch: Batch): void {
    this.#waitingNs = spanOf(batch)[0]
  }

  /** A request with these batches is in progress, until the returned function is called. */
  begin(first: Batch, last: Batch): () => void {
    const request = { atNs: spanOf(first)[0] }
    const [, newestNs] = spanOf(last)
    this.#oldestNs.add(request)
    return () => {
      this.#oldestNs.delete(request)
      this.#waitingNs = newestNs
    }
  }
}

/** The times of the first and last record. A record without a time is as old as this question. */
function spanOf(batch: Batch): readonly [earliestNs: bigint, latestNs: bigint] {
  if (batch.clock === 'wall' && batch.type.time !== undefined) return timeSpanOfBatch(batch)
  const nowNs = wallNs()
  return [nowNs, nowNs]
}
