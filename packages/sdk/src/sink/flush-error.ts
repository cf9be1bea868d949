import { SondeError } from '../errors.ts'

/** The records that a flush could not acknowledge. Unit: records. */
export interface FlushCounts {
  /** Lost: no sink that keeps records has them. */
  readonly lost: number
  /**
   * Hidden: a view does not show them, for example because its limit of series is reached. All other sinks have them; a
   * second report would store them twice.
   */
  readonly hidden: number
  /** Pending: they wait and are sent again. A second report would store them twice. */
  readonly pending: number
}

/** No record is lost, hidden or pending. */
export const NO_RECORDS: FlushCounts = { lost: 0, hidden: 0, pending: 0 }

/**
 * The error of a flush, with three counts. `lost` may be 0 with a code of loss if a sink does not know the number of
 * lost records.
 *
 * @example
 * // Reports a batch again only if none of it was kept.
 * source.reportMany(type, batch)
 * await source.flush().catch((error) => {
 *   if (error instanceof FlushError && error.lost === batch.length) retryLater(batch)
 *   else throw error
 * })
 */
export class FlushError extends SondeError implements FlushCounts {
  readonly lost: number
  readonly hidden: number
  readonly pending: number

  constructor(code: string, message: string, counts: FlushCounts, options?: { cause?: unknown }) {
    super(code, message, options)
    this.lost = counts.lost
    this.hidden = counts.hidden
    this.pending = counts.pending
  }
}

/** The counts of an error of a flush. */
export function countsIn(thrown: unknown): FlushCounts {
  return thrown instanceof FlushError ? thrown : NO_RECORDS
}

/** The sums of the counts of several sinks or sources. */
export function sumOfCounts(all: readonly FlushCounts[]): FlushCounts {
  return all.reduce(
    (sum, { lost, hidden, pending }) => ({
      lost: sum.lost + lost,
      hidden: sum.hidden + hidden,
      pending: sum.pending + pending,
    }),
    NO_RECORDS,
  )
}
