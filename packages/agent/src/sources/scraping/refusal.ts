import { SondeError } from '@sonde/sdk'

/**
 * Why an answer was refused as a whole. `unanswered`: none came in time; `status`: another status than 200; `packed`:
 * compressed, unasked; `too_long`: more than `max_bytes`; `truncated`: its end is missing; `cpu_time`: more work than
 * `max_cpu_ms`; `no_series`: of no exporter of this kind; `frozen`: its values stand still; `credentials`: there was
 * nothing to show it; `fault`: anything else.
 */
export type RefusalReason =
  | 'unanswered'
  | 'status'
  | 'packed'
  | 'too_long'
  | 'truncated'
  | 'cpu_time'
  | 'no_series'
  | 'frozen'
  | 'credentials'
  | 'fault'

/** An answer of an exporter that is refused as a whole: nothing of it is reported. */
export class ScrapeRefusal extends SondeError {
  readonly reason: RefusalReason

  /** @param why Follows the address in the message. */
  constructor(reason: RefusalReason, address: string, why: string, cause?: unknown) {
    super('SRC_SCRAPE', `${address} ${why}`, { cause })
    this.reason = reason
  }
}

/** The reason of anything that a scrape threw. */
export function reasonOf(error: unknown): RefusalReason {
  if (error instanceof ScrapeRefusal) return error.reason
  return error instanceof SondeError && error.code === 'SRC_CREDENTIALS' ? 'credentials' : 'fault'
}
