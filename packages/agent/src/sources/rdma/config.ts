import { block, integer, setting } from '@sonde/sdk/config'
import type * as v from 'valibot'
import { devicesOption } from '../device-filter.ts'

/** Options of the rdma source in `data_sources`. */
export const rdmaOptions = block({
  devices: devicesOption,
  sweep_limit_ms: setting(
    integer(0, 1000, 'milliseconds'),
    3,
    'Time into a sweep at which the error counters of further ports wait for their turn, traffic and state do not. Unit: milliseconds',
  ),
})

/** What {@link rdmaOptions} gives. */
export type RdmaOptions = v.InferOutput<typeof rdmaOptions>
