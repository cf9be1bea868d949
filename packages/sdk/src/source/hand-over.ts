import { messageOf, SondeError, warnOfFault } from '../errors.ts'
import type { Batch } from '../schema/batch.ts'
import { lossType } from '../schema/builtin.ts'
import type { LossReason } from '../schema/symbols.ts'
import { countsIn, FlushError, NO_RECORDS, sumOfCounts } from '../sink/flush-error.ts'
import { LateFailures } from '../sink/late-failures.ts'
import { countDrop, droppedTotal, FAILED } from '../sink/sink.ts'
import { UnreportedDrops } from '../sink/unreported-drops.ts'
import type { SourceOptions } from './options.ts'
import { causeOf } from './reasons.ts'

/** Losses of a source. */
export interface SourceLosses {
  /**
   * Dropped records by reason: `symbol_limit`, the symbol table was full; `failed`, `emit` threw; and dropped updates
   * of metrics: see {@link MetricsStats}.
   */
  readonly dropped: Map<string, number>
  /** Number of calls of `flush` or `close` that were not acknowledged. */
  errors: number
}

const NOTHING_TO_WAIT_FOR = Promise.resolve()
const LOSS_REPEAT_MS = 60_000

/** Passes batches of a source to `emit`; counts and reports losses. */
export class HandOver {
  readonly stats: SourceLosses = { dropped: new Map(), errors: 0 }
  /** Dropped records, and which of them were reported. */
  readonly losses: UnreportedDrops
  readonly #id: string
  readonly #options: Pick<SourceOptions, 'emit' | 'acknowledge' | 'onLoss'>
  /** The last error of `emit`, and its pending promises. */
  #thrown: unknown
  readonly #late = new LateFailures()
  /** Dropped records that are already reported. */
  #reportedDrops = 0
  #reportedMs = Number.NEGATIVE_INFINITY

  constructor(id: string, options: Pick<SourceOptions, 'emit' | 'acknowledge' | 'onLoss'>) {
    this.#id = id
    this.#options = options
    this.losses = new UnreportedDrops(this.stats, (reason) => this.#causeOf(reason))
  }

  /** If `emit` throws or rejects, only that batch is lost; the program and the timer go on. */
  emit(batch: Batch): void {
    const { type, count } = batch
    const fail = (error: unknown) => {
      this.#thrown = error
      // A report of losses that did not arrive is repeated.
      if (type !== lossType) this.count(FAILED, count)
    }
    try {
      const returned: unknown = this.#options.emit(batch)
      if (returned !== undefined) this.#late.watch(returned, fail)
    } catch (error) {
      fail(error)
    }
  }

  /** Counts records as dropped. */
  count(reason: LossReason, records: number): void {
    const isFirst = !this.stats.dropped.has(reason)
    countDrop(this.stats, reason, records)
    const { onLoss } = this.#options
    const cause = this.#causeOf(reason)
    if (onLoss === undefined) {
      if (isFirst) warnOfLoss(this.#id, reason, cause)
      return
    }
    try {
      onLoss(reason, records)
    } catch (error) {
      if (isFirst) warnOfLoss(this.#id, reason, `${cause}; onLoss threw: ${messageOf(error)}`)
    }
  }

  /**
   * The totals to report: those that grew, at most once in `apartMs`, and all of them now and then for new readers.
   * Empty if no report is due, or `onLoss` reports them.
   */
  due(apartMs: number): Iterable<[reason: string, recordsTotal: number]> {
    const { dropped } = this.stats
    if (dropped.size === 0 || this.#options.onLoss !== undefined) return []
    const nowMs = performance.now()
    const total = droppedTotal(this.stats)
    if (nowMs - this.#reportedMs < (total === this.#reportedDrops ? LOSS_REPEAT_MS : apartMs)) return []
    this.#reportedMs = nowMs
    this.#reportedDrops = total
    return [...dropped]
  }

  /**
   * Resolves when all emitted records are acknowledged.
   *
   * @throws FlushError `SRC_LOST` if records were dropped since the last call; else the error of `acknowledge`.
   */
  acknowledged(): Promise<void> {
    const { acknowledge } = this.#options
    if (acknowledge === undefined && this.losses.isAllReported && !this.#late.isPending) return NOTHING_TO_WAIT_FOR
    const kept = this.#failWhereLost()
    kept.catch(() => {
      this.stats.errors++
    })
    return kept
  }

  async #failWhereLost(): Promise<void> {
    const { reported } = this.losses
    if (this.#late.isPending) await this.#late.settled()
    const failure = await failureOf(async () => this.#options.acknowledge?.())
    const { lost, words } = this.losses.report(reported)
    if (words === '' && failure === undefined) return
    if (words === '') throw failure?.cause
    const other = failure === undefined ? '' : `; ${messageOf(failure.cause)}`
    const message = `source ${this.#id} ${words}${other}`
    throw new FlushError('SRC_LOST', message, sumOfCounts([{ ...NO_RECORDS, lost }, countsIn(failure?.cause)]), failure)
  }

  #causeOf(reason: string): string {
    return reason === FAILED ? `emit threw: ${messageOf(this.#thrown)}` : causeOf(reason)
  }
}

/** The error of a rejected promise; undefined if it resolved. */
function failureOf(act: () => Promise<void>): Promise<{ readonly cause: unknown } | undefined> {
  return act().then(
    () => undefined,
    (cause: unknown) => ({ cause }),
  )
}

function warnOfLoss(id: string, reason: string, cause: string): void {
  const why = cause === '' ? '' : `: ${cause}`
  warnOfFault(new SondeError('SRC_LOST', `source ${id} drops records as ${reason}${why}; its stats count them`))
}
