import type { DeliverySink } from '../../delivery/delivery.ts'
import type { Batch, SourceInfo } from '../../schema/batch.ts'
import { countDrop, type SinkStats, sinkStats } from '../../sink/sink.ts'

/** A live lane whose oldest record is older is behind: new records take the other lane. Unit: seconds. */
const BEHIND_S = 10

/**
 * Two lanes to one receiver. While the live lane gets through, records take it. While it fails or is behind, new
 * records wait in the backlog, which is sent at a limited rate: after an outage the receiver has current samples at
 * once, and the old ones beside them. The lanes overtake each other.
 */
export class LiveFirst implements DeliverySink {
  readonly name: string
  readonly stats: SinkStats
  readonly #live: DeliverySink
  readonly #backlog: DeliverySink

  constructor(live: DeliverySink, backlog: DeliverySink) {
    this.name = live.name
    this.#live = live
    this.#backlog = backlog
    this.stats = sumOf(live.stats, backlog.stats)
  }

  get failing(): string {
    return this.#live.failing || this.#backlog.failing
  }

  get queuedRecords(): number {
    return this.#live.queuedRecords + this.#backlog.queuedRecords
  }

  get queuedBytes(): number {
    return this.#live.queuedBytes + this.#backlog.queuedBytes
  }

  get queuedBytesMax(): number {
    return this.#live.queuedBytesMax + this.#backlog.queuedBytesMax
  }

  get lagS(): number | undefined {
    const [live, backlog] = [this.#live.lagS, this.#backlog.lagS]
    return live === undefined || backlog === undefined ? undefined : Math.max(live, backlog)
  }

  get lettersOverflowed(): number {
    return this.#live.lettersOverflowed + this.#backlog.lettersOverflowed
  }

  accept(batch: Batch): void {
    this.#lane.accept(batch)
  }

  offer(batch: Batch): boolean {
    return this.#lane.offer(batch)
  }

  whenRoom(): Promise<void> {
    return this.#lane.whenRoom()
  }

  ready(): Promise<void> | undefined {
    return this.#lane.ready?.()
  }

  causeOf(reason: string): string {
    return this.#live.causeOf?.(reason) || this.#backlog.causeOf?.(reason) || ''
  }

  retire(source: SourceInfo): void {
    this.#live.retire?.(source)
    this.#backlog.retire?.(source)
  }

  async flush(): Promise<void> {
    await both(this.#live.flush(), this.#backlog.flush())
  }

  async close(limitMs?: number): Promise<void> {
    await both(this.#live.close(limitMs), this.#backlog.close(limitMs))
  }

  get #lane(): DeliverySink {
    const { queuedRecords, failing, lagS = 0 } = this.#live
    // An empty lane has nothing to try again: its next record shows whether the receiver is back.
    const isBehind = queuedRecords > 0 && (failing !== '' || lagS > BEHIND_S)
    return isBehind ? this.#backlog : this.#live
  }
}

/** Waits for both, and then rejects if one of them did. */
async function both(...promises: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(promises)
  for (const result of results) if (result.status === 'rejected') throw result.reason
}

const COUNTS = ['in', 'out', 'duplicates', 'errors', 'seconds'] as const

/** The sums of two lanes. What is added from outside counts for the live lane. */
function sumOf(live: SinkStats, backlog: SinkStats): SinkStats {
  const sums = sinkStats()
  for (const count of COUNTS) {
    Object.defineProperty(sums, count, {
      enumerable: true,
      get: () => live[count] + backlog[count],
      set(value: number) {
        live[count] = value - backlog[count]
      },
    })
  }
  const get = () => {
    const dropped = new Map(live.dropped)
    for (const [reason, records] of backlog.dropped) countDrop({ dropped }, reason, records)
    return dropped
  }
  return Object.defineProperty(sums, 'dropped', { get, enumerable: true })
}
