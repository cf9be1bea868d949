import { block, list, setting } from '@sonde/sdk/config'
import * as v from 'valibot'
import { devicesOption } from '../device-filter.ts'
import { ringMsOption, sampleMsOption } from '../fast-samples/config.ts'
import { PORT_COUNTERS } from '../rdma/names.ts'

/** Counters that show bursts and ports that may not send. Each further counter costs a firmware command. */
const DEFAULT_COUNTERS = ['port_xmit_wait', 'port_xmit_data', 'port_rcv_data'] as const

/** Options of the fast samples of port counters in `data_sources`. */
export const rdmaPortSamplesOptions = block({
  devices: devicesOption,
  counters: setting(
    list(v.picklist([...PORT_COUNTERS.keys()]), PORT_COUNTERS.size, 'counters'),
    [...DEFAULT_COUNTERS],
    'Counters of `counters` that are sampled, in the names of the kernel; each is a command of the firmware at every sample',
  ),
  sample_ms: sampleMsOption(
    50,
    'Time between two samples of each port; a counter takes 0.05 to 1 ms of it, by firmware, and none is a repeat',
  ),
  ring_ms: ringMsOption,
})

/** Parsed {@link rdmaPortSamplesOptions}. */
export type RdmaPortSamplesOptions = v.InferOutput<typeof rdmaPortSamplesOptions>
