import { type DeliveryLimits, deliveryEntries } from '../../delivery/config.ts'
import { type HttpOptions, httpEntries } from '../../delivery/connection/config.ts'
import type { PushSinkOptions } from '../../delivery/push-sink-options.ts'

/** Options of {@link createJsonl}: those of an HTTP connection, and the limits that every push sink has. */
export interface JsonlOptions extends DeliveryLimits, HttpOptions, PushSinkOptions {}

/** Keys of this destination in a configuration. */
export const jsonlEntries = { ...httpEntries, ...deliveryEntries }
