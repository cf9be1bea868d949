import { type DeliveryLimits, deliveryEntries } from '../../delivery/config.ts'
import { type HttpOptions, httpEntries } from '../../delivery/connection/config.ts'
import type { OnLoss } from '../../delivery/ledger.ts'

/** Options of {@link createJsonl}: those of an HTTP connection, and the limits that every push sink has. */
export interface JsonlOptions extends DeliveryLimits, HttpOptions {
  /** Name of the sink in statistics. Default: `jsonl`. */
  readonly name?: string
  /** Given records of `sonde_loss`. Default: drops are only counted. */
  readonly onLoss?: OnLoss
}

/** Keys of this destination in a configuration. */
export const jsonlEntries = { ...httpEntries, ...deliveryEntries }
