import { SondeError } from '../errors.ts'

/** What became of the records that a flush does not call acknowledged. Unit: records. */
export interface FlushCounts {
  /** They are gone: no sink that keeps records has them. */
  readonly lost: number
  /**
   * A view does not show them, such as those of a series that it has no room for. All other sinks have them: to report
   * them again would store them twice.
   */
  readonly hidden: number
  /** They wait, and are sent again. To report them again would store them twice. */
  readonly pending: number
}

/** Nothing is lost, hidden or pending. */
export const NO_RECORDS: FlushCounts = { lost: 0, hidden: 0, pending: 0 }

/**
 * The error of a flush, with three counts. `lost` may be 0 with a code of loss where a sink cannot say how many records
 * it lost.
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

/** The counts that something thrown by a flush carries. */
export function countsIn(thrown: unknown): FlushCounts {
  return thrown instanceof FlushError ? thrown : NO_RECORDS
}

/** The counts of several sinks or sources together. */
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
