import { block, integer, setting } from '@sonde/sdk/config'
import type * as v from 'valibot'
import { devicesOption } from '../device-filter.ts'

/** Options of the rdma source in `data_sources`. */
export const rdmaOptions = block({
  devices: devicesOption,
  sweep_limit_ms: setting(
    integer(0, 1000, 'milliseconds'),
    3,
    'Time that a sweep may take, after which the error counters of further ports wait for their turn; traffic and state of all ports do not wait. Unit: milliseconds',
  ),
})

/** What {@link rdmaOptions} gives. */
export type RdmaOptions = v.InferOutput<typeof rdmaOptions>
