import { block, list, setting } from '@sonde/sdk/config'
import * as v from 'valibot'
import { devicesOption } from '../device-filter.ts'
import { ringMsOption, sampleMsOption } from '../fast-samples/config.ts'
import { HW_COUNTERS } from '../rdma/names.ts'

/** Counters of loss and congestion, under the driver's names. */
const DEFAULT_COUNTERS = [
  'packet_seq_err',
  'rp_cnp_handled',
  'np_cnp_sent',
  'np_ecn_marked_roce_packets',
  'out_of_buffer',
  'out_of_sequence',
  'local_ack_timeout_err',
  'rnr_nak_retry_err',
] as const

/** Options of the fast samples of RDMA counters in `data_sources`. */
export const rdmaSamplesOptions = block({
  devices: devicesOption,
  counters: setting(
    list(v.picklist([...HW_COUNTERS.keys()]), HW_COUNTERS.size, 'counters'),
    [...DEFAULT_COUNTERS],
    'Counters of `hw_counters` that are sampled, in the names of the driver; others are not read',
  ),
  sample_ms: sampleMsOption(
    10,
    'Time between two samples of each port; within the `lifespan` of the driver they repeat the values, and are marked so',
  ),
  ring_ms: ringMsOption,
})

/** Parsed {@link rdmaSamplesOptions}. */
export type RdmaSamplesOptions = v.InferOutput<typeof rdmaSamplesOptions>
