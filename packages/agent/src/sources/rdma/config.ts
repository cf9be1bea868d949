import { block, integer, setting } from '@sonde/sdk/config'
import type * as v from 'valibot'
import { devicesOption } from '../device-filter.ts'

/** Options of the rdma source in `data_sources`. */
export const rdmaOptions = block({
  devices: devicesOption,
  sweep_limit_ms: setting(
    integer(0, 1000, 'milliseconds'),
    3,
    'Time after which a sweep leaves the error counters of further ports for later sweeps; traffic and state of all ports are always read. Unit: milliseconds',
  ),
})

/** Options of the rdma source after validation. */
export type RdmaOptions = v.InferOutput<typeof rdmaOptions>
