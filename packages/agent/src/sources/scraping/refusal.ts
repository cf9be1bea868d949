import { SondeError } from '@sonde/sdk'

/**
 * Why a complete answer was refused. `unanswered`: no answer in time; `status`: a status other than 200; `packed`:
 * compressed without request; `too_long`: more than `max_bytes`; `truncated`: the end is missing; `cpu_time`: more work
 * than `max_cpu_ms`; `no_series`: no series of this kind of exporter; `frozen`: its values do not change;
 * `credentials`: the credentials could not be read; `fault`: any other error.
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

/** A refused answer of an exporter: nothing in it is reported. */
export class ScrapeRefusal extends SondeError {
  readonly reason: RefusalReason

  /** @param why Text that follows the address in the message. */
  constructor(reason: RefusalReason, address: string, why: string, cause?: unknown) {
    super('SRC_SCRAPE', `${address} ${why}`, { cause })
    this.reason = reason
  }
}

/** Reason for any error of a scrape. */
export function reasonOf(error: unknown): RefusalReason {
  if (error instanceof ScrapeRefusal) return error.reason
  return error instanceof SondeError && error.code === 'SRC_CREDENTIALS' ? 'credentials' : 'fault'
}
