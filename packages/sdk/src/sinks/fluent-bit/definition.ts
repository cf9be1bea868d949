import { clashOfLimits } from '../../delivery/config.ts'
import { configured, tryAddresses } from '../../delivery/connection/check-http.ts'
import { optionFault } from '../../delivery/connection/option-fault.ts'
import type { SinkDefinition } from '../registry.ts'
import { checkForward, fluentBitEntries } from './config.ts'
import { ConnectionClosed } from './connection.ts'
import { createFluentBit, forwardEndpoints } from './fluent-bit.ts'

/** The row of Fluent Forward. */
export const fluentBitSink: SinkDefinition<typeof fluentBitEntries> = {
  name: 'fluent_bit',
  summary: 'Records as events of Fluent Forward, for Fluent Bit and Fluentd',
  order: 'series',
  isDurable: false,
  entries: fluentBitEntries,
  refuse: (options) => clashOfLimits(options) ?? optionFault(() => checkForward(options)),
  create: (options, { name, onLoss }) =>
    createFluentBit({ ...options, name, ...(onLoss === undefined ? {} : { onLoss }) }),
  look: (options) => configured(forwardEndpoints(options, options.timeoutMs).map(({ shown }) => shown)),
  tryConnection: (options) =>
    tryAddresses(
      forwardEndpoints(options, options.timeoutMs).map((endpoint) => ({
        shown: endpoint.shown,
        open: async (signal) => (await endpoint.open(signal)).destroy(new ConnectionClosed('tried')),
      })),
    ),
}
