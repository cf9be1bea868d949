import type { Batch, PageId, SourceInfo } from '../schema/batch.ts'

/** The one reason for a drop that is no loss: a destination that cannot carry the record was never meant to have it. */
export const NOT_ENCODED = 'not_encoded'

/** The reason under which a batch is counted that a sink threw for. */
export const FAILED = 'failed'

/**
 * What every sink counts of itself. Unit of all but `seconds`: records or occurrences. `in = out + dropped + what is
 * still queued` at all times.
 */
export interface SinkStats {
  /** Records given to `accept`. */
  in: number
  /** Records made visible (a view) or acknowledged by the far end (delivery). */
  out: number
  /** Records dropped, by reason. */
  readonly dropped: Map<string, number>
  /** Records of pages that it had already, so that a client sent them again for nothing; a part of `out`. */
  duplicates: number
  /** Times it failed. */
  errors: number
  /** Time spent inside `accept`. Unit: seconds. */
  seconds: number
}

/** What a sink counted until now: plain values that stay as they are, and print. */
export interface SinkCounts extends Readonly<Omit<SinkStats, 'dropped'>> {
  /** Records dropped, by reason. */
  readonly dropped: Readonly<Record<string, number>>
  /** Those of them that other sinks keep, and that are only not shown. */
  readonly hidden: Readonly<Record<string, number>>
  /** What the sink says about a reason, such as the last words of a far end that refused records. */
  readonly causes: Readonly<Record<string, string>>
}

/**
 * Takes batches. A view shows them (Prometheus, store, live stream); a push sink sends them through `delivery`. The
 * tests of each run the suite `testSink` of `packages/sdk/test`.
 */
export interface Sink {
  readonly name: string
  readonly stats: SinkStats
  /** Whether records that were flushed are still there when the process is killed. Default: false. */
  readonly durable?: boolean
  /**
   * The last page of a client whose records are durable here, also from before the process was restarted; 0 where none
   * is known. What is accepted up to that page again it leaves out, and counts in `duplicates`. A sink without it may
   * leave out what it has all the same, and is sent everything that was not acknowledged.
   */
  lastPage?(client: bigint): Promise<bigint>
  /**
   * A page of which it is given nothing, because a filter leaves it out: to {@link lastPage} it counts as had. A sink
   * with `lastPage` has it.
   */
  skip?(page: PageId): void
  /**
   * Records that were dropped, by page, of the pages of a client up to `upTo`, since this was asked last. A durable
   * sink has it.
   */
  takeLost?(client: bigint, upTo: bigint): ReadonlyMap<bigint, number>
  /**
   * Records that it does not show, by reason and page, of the pages of a client up to `upTo`, since this was asked
   * last. Default: it shows all.
   */
  takeHidden?(client: bigint, upTo: bigint): ReadonlyMap<string, ReadonlyMap<bigint, number>>
  /**
   * Of the records that it dropped, by reason, those that other sinks keep and that are only not shown. For a view this
   * is `stats.dropped`. Default: none; what it dropped is lost.
   */
  readonly hidden?: ReadonlyMap<string, number>
  /** Why it fails, as a sentence; empty while all is well. Default: it does not say. */
  readonly failing?: string
  /** What it keeps until that is durable; beyond, it drops. Unit: bytes. Default: it does not say. */
  readonly queueLimitBytes?: number
  /**
   * Takes a batch whose bytes are valid only during the call: copies what it keeps. Returns at once, and never throws
   * for what a batch holds: it drops, and counts why. Where it throws all the same, or returns a promise that rejects,
   * the batch is counted as `failed`, and the next flush says so. After `close` it drops everything as `closed`, and
   * bytes that are not `count` records as `wrong_size`.
   */
  accept(batch: Batch): void
  /**
   * Resolves when a producer may go on: there is room, nothing has left the queue for longer than the sink's own limit,
   * or the sink is closed. Never rejects. Undefined if there is room now, and to be asked often. Default: there is
   * always room.
   */
  ready?(): Promise<void> | undefined
  /**
   * What it means that it drops records for a reason, and what to do: a part of a sentence, or empty. Default: the
   * reason speaks for itself.
   */
  causeOf?(reason: string): string
  /**
   * Resolves when everything accepted so far is as durable as this sink makes it. Rejects where some of it was lost.
   */
  flush(): Promise<void>
  /**
   * Resolves when everything accepted so far of the pages of one client is as durable as this sink makes it, or was
   * dropped: {@link takeLost} says what. Default: `flush` is used, and clients wait for each other.
   */
  flushClient?(client: bigint): Promise<void>
  /** The client of a source left: nothing more comes of it. What it reported stays. Default: nobody is told. */
  retire?(source: SourceInfo): void
  /** Flushes within the sink's own time limit, then releases everything. May be called twice. */
  close(): Promise<void>
}

/** Fresh stats, all zero. */
export function sinkStats(): SinkStats {
  return { in: 0, out: 0, dropped: new Map(), duplicates: 0, errors: 0, seconds: 0 }
}

/** The counts of this moment. */
export function countsOf(sink: Sink): SinkCounts {
  const { stats, hidden } = sink
  const causes = [...stats.dropped.keys()].map((reason) => [reason, causeOf(sink, reason)] as const)
  return {
    ...stats,
    dropped: Object.fromEntries(stats.dropped),
    hidden: Object.fromEntries(hidden ?? []),
    causes: Object.fromEntries(causes.filter(([, cause]) => cause !== '')),
  }
}

/** What a sink says about a reason; empty if it says nothing, or throws. */
export function causeOf(sink: Sink, reason: string): string {
  try {
    return sink.causeOf?.(reason) ?? ''
  } catch {
    // The reason has to speak for itself.
    sink.stats.errors++
    return ''
  }
}

/** Counts records as dropped for a reason. */
export function countDrop(stats: Pick<SinkStats, 'dropped'>, reason: string, records: number): void {
  if (records > 0) stats.dropped.set(reason, (stats.dropped.get(reason) ?? 0) + records)
}

/** Records dropped for any reason. */
export function droppedTotal(stats: Pick<SinkStats, 'dropped'>): number {
  let total = 0
  for (const records of stats.dropped.values()) total += records
  return total
}
