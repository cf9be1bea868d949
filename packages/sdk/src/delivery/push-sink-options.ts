import type { Timers } from '../internal/timers.ts'
import type { OnLoss } from './ledger.ts'

/** What every push sink takes, beside its own options and the limits of delivery. */
export interface PushSinkOptions {
  /** Name of the sink in statistics. Default: that of its kind. */
  readonly name?: string
  /** Given records of `sonde_loss`. Default: drops are only counted. */
  readonly onLoss?: OnLoss
  /** Timers of attempts, pauses and the rate limit. Default: those of the process. */
  readonly timers?: Timers
}
