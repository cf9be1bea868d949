import type { Batch, PageId, SourceInfo } from '../schema/batch.ts'

/** The only reason for a drop that is no loss: the destination cannot carry records of this kind. */
export const NOT_ENCODED = 'not_encoded'

/** The reason of a batch that is dropped because the sink threw. */
export const FAILED = 'failed'

/**
 * Counts of a sink. Unit of all but `seconds`: records or occurrences. `in = out + dropped + queued` at all times.
 */
export interface SinkStats {
  /** Records passed to `accept`. */
  in: number
  /** Records made visible (a view) or acknowledged by the peer (delivery). */
  out: number
  /** Records dropped, by reason. */
  readonly dropped: Map<string, number>
  /** Records of pages that a client sent again and that the sink already had; a part of `out`. */
  duplicates: number
  /** Number of failures. */
  errors: number
  /** Time spent inside `accept`. Unit: seconds. */
  seconds: number
  /**
   * Records that an interval let go before `in`, because a later record of their series follows. These are no drops.
   * Absent if the sink gets every record.
   */
  thinned?: number
}

/** A snapshot of the counts of a sink, as plain values. */
export interface SinkCounts extends Readonly<Omit<SinkStats, 'dropped'>> {
  /** Records dropped, by reason. */
  readonly dropped: Readonly<Record<string, number>>
  /** Dropped records that are only not shown here: other sinks keep them. */
  readonly hidden: Readonly<Record<string, number>>
  /** Records that wait or are being sent, and their size in bytes; absent if the sink does not say. */
  readonly queuedRecords?: number
  readonly queuedBytes?: number
  /** The age of the oldest of them; absent if it is not known. Unit: seconds. */
  readonly lagS?: number
  /** See {@link Sink.fallback}; absent while the far end gets the configured version. */
  readonly fallback?: string
  /** Explanations of reasons by the sink, for example the last message of a peer that refused records. */
  readonly causes: Readonly<Record<string, string>>
}

/**
 * Accepts batches. A view shows them (Prometheus, store, live stream); a push sink sends them through `delivery`. The
 * tests of each run the suite `testSink` of `packages/sdk/test`.
 */
export interface Sink {
  readonly name: string
  readonly stats: SinkStats
  /** Whether flushed records survive a kill of the process. Default: false. */
  readonly durable?: boolean
  /**
   * The last page of a client whose records are durable here, even across a restart; 0 if none is known. The sink skips
   * repeated records up to that page and counts them in `duplicates`. A sink without this method receives every page
   * that was not acknowledged.
   */
  lastPage?(client: bigint): Promise<bigint>
  /**
   * Notes a page whose records a filter removed entirely: it counts for {@link lastPage}. Required with `lastPage`.
   */
  skip?(page: PageId): void
  /**
   * Takes the dropped records by page, of the pages of a client up to `upTo`, since the last call. Required for a
   * durable sink.
   */
  takeLost?(client: bigint, upTo: bigint): ReadonlyMap<bigint, number>
  /**
   * Takes the records that are not shown, by reason and page, of the pages of a client up to `upTo`, since the last
   * call. Default: all records are shown.
   */
  takeHidden?(client: bigint, upTo: bigint): ReadonlyMap<string, ReadonlyMap<bigint, number>>
  /**
   * The dropped records, by reason, that other sinks keep: only this sink does not show them. For a view this is
   * `stats.dropped`. Default: none; all dropped records are lost.
   */
  readonly hidden?: ReadonlyMap<string, number> | undefined
  /** Accepted records that are neither passed on nor dropped. Default: unknown. */
  readonly queuedRecords?: number | undefined
  /** Size of these records. Unit: bytes. Default: unknown. */
  readonly queuedBytes?: number | undefined
  /** Limit of `queuedBytes`. Unit: bytes. Default: unknown. */
  readonly queuedBytesMax?: number | undefined
  /** The age of the oldest of these records, 0 without any. Unit: seconds. Default: unknown. */
  readonly lagS?: number | undefined
  /** Why the sink fails, as a sentence; empty if it does not fail. Default: unknown. */
  readonly failing?: string | undefined
  /**
   * Why the far end gets an older version of the protocol than configured, as a sentence; empty while it gets the
   * configured version. Default: there is only one version.
   */
  readonly fallback?: string | undefined
  /** Limit of the records that wait until they are durable; more are dropped. Unit: bytes. Default: unknown. */
  readonly queueLimitBytes?: number
  /**
   * Accepts a batch whose bytes are valid only during the call; the sink copies what it keeps. Returns at once. A sink
   * drops and counts records that it cannot keep, and does not throw. If it throws, or returns a promise that rejects,
   * the batch counts as `failed` and the next flush rejects. After `close` it drops every batch as `closed`; it drops
   * bytes that are not `count` records as `wrong_size`.
   */
  accept(batch: Batch): void
  /**
   * Resolves when a producer may continue: the queue has space, nothing has left it for the limit of the sink, or the
   * sink is closed. Never rejects. Undefined if the producer need not wait; called often. Default: producers never
   * wait.
   */
  ready?(): Promise<void> | undefined
  /**
   * The cause of drops with a reason, and what to do: a part of a sentence, or empty. Default: empty.
   */
  causeOf?(reason: string): string
  /**
   * Resolves when all batches accepted so far are as durable as this sink makes them. Rejects if some were lost.
   */
  flush(): Promise<void>
  /**
   * Resolves when all accepted pages of one client are as durable as this sink makes them, or were dropped:
   * {@link takeLost} returns the drops. Default: `flush` is used, and clients wait for each other.
   */
  flushClient?(client: bigint): Promise<void>
  /** The client of a source has disconnected for good; its records stay. Default: ignored. */
  retire?(source: SourceInfo): void
  /**
   * Flushes within the time limit of the sink, then releases everything. May be called twice.
   *
   * @param limitMs A shorter limit, for a program that must end by then. Unit: milliseconds. Default: that of the sink.
   */
  close(limitMs?: number): Promise<void>
}

/** New counts, all zero. */
export function sinkStats(): SinkStats {
  return { in: 0, out: 0, dropped: new Map(), duplicates: 0, errors: 0, seconds: 0 }
}

/** A snapshot of the counts. */
export function countsOf(sink: Sink): SinkCounts {
  const { stats, hidden, queuedRecords, queuedBytes, lagS, fallback = '' } = sink
  const causes = [...stats.dropped.keys()].map((reason) => [reason, sinkDropCause(sink, reason)] as const)
  return {
    ...stats,
    dropped: Object.fromEntries(stats.dropped),
    hidden: Object.fromEntries(hidden ?? []),
    ...(queuedRecords === undefined ? {} : { queuedRecords }),
    ...(queuedBytes === undefined ? {} : { queuedBytes }),
    ...(lagS === undefined ? {} : { lagS }),
    ...(fallback === '' ? {} : { fallback }),
    causes: Object.fromEntries(causes.filter(([, cause]) => cause !== '')),
  }
}

/** The explanation of a reason by a sink; empty if it has none, or throws. */
export function sinkDropCause(sink: Sink, reason: string): string {
  try {
    return sink.causeOf?.(reason) ?? ''
  } catch {
    // Without an explanation, only the reason is shown.
    sink.stats.errors++
    return ''
  }
}

/** Counts dropped records by reason. */
export function countDrop(stats: Pick<SinkStats, 'dropped'>, reason: string, records: number): void {
  if (records > 0) stats.dropped.set(reason, (stats.dropped.get(reason) ?? 0) + records)
}

/** The number of dropped records of all reasons. */
export function droppedTotal(stats: Pick<SinkStats, 'dropped'>): number {
  let total = 0
  for (const records of stats.dropped.values()) total += records
  return total
}
