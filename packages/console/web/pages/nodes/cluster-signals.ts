import type { MetricQuery } from '@sonde/sdk/api'
import { BITS_PER_SECOND, CELSIUS, type DisplayQuantity, PER_SECOND, PERCENT, WATTS } from '../../format/quantity.ts'

/** Windows beyond this read recorded series: raw ones of a large cluster hold more than a server loads. Unit: ms. */
export const RAW_WINDOW_MS = 3_600_000

/** A number that each node of a cluster has. */
export interface ClusterSignal {
  readonly id: string
  readonly title: string
  readonly quantity: DisplayQuantity
  /** Metric of the recording rule, which has a series for each node. */
  readonly recorded: string
  /** The same from raw series. */
  readonly raw: Pick<MetricQuery, 'metric' | 'function'> & { readonly aggregate: 'avg' | 'sum' | 'max' }
}

/** In display order. Names of rules are those of `deploy/prometheus/rules/cluster.yaml`. */
export const CLUSTER_SIGNALS: readonly ClusterSignal[] = [
  {
    id: 'cluster-sm-active',
    title: 'SM active',
    quantity: PERCENT,
    recorded: 'instance:sonde_gpu_sm_active_ratio:avg',
    raw: { metric: 'DCGM_FI_PROF_SM_ACTIVE', function: 'avg', aggregate: 'avg' },
  },
  {
    id: 'cluster-power',
    title: 'Power of GPUs',
    quantity: WATTS,
    recorded: 'instance:sonde_gpu_power_watts:sum',
    raw: { metric: 'DCGM_FI_DEV_POWER_USAGE', function: 'avg', aggregate: 'sum' },
  },
  {
    id: 'cluster-temperature',
    title: 'Hottest GPU',
    quantity: CELSIUS,
    recorded: 'instance:sonde_gpu_temperature_celsius:max',
    raw: { metric: 'DCGM_FI_DEV_GPU_TEMP', function: 'avg', aggregate: 'max' },
  },
  {
    id: 'cluster-sent',
    title: 'RDMA sent',
    quantity: BITS_PER_SECOND,
    recorded: 'instance:sonde_rdma_xmit_bytes:rate1m',
    raw: { metric: 'rdma_port_xmit_data_bytes_total', function: 'rate', aggregate: 'sum' },
  },
  {
    id: 'cluster-sequence-errors',
    title: 'RDMA sequence errors',
    quantity: PER_SECOND,
    recorded: 'instance:sonde_rdma_sequence_errors:rate1m',
    raw: { metric: 'rdma_hw_packet_seq_err_total', function: 'rate', aggregate: 'sum' },
  },
]

/** What is drawn of the nodes, so that a chart of ten thousand has three lines. */
const SPREAD = [
  { aggregate: 'max', label: 'highest node' },
  { aggregate: 'avg', label: 'mean of nodes' },
  { aggregate: 'min', label: 'lowest node' },
] as const

/** A line of a chart, and its query. */
export interface SpreadLine {
  readonly label: string
  readonly query: MetricQuery
}

/** The lines of a signal over a window, from recorded series where the window is long and the server has them. */
export function nodeLines(
  { recorded, raw }: ClusterSignal,
  windowMs: number,
  isKnown: (metric: string) => boolean,
): SpreadLine[] {
  const isRecorded = windowMs > RAW_WINDOW_MS && isKnown(recorded)
  const { aggregate: ofNode, ...ofDevices } = raw
  return SPREAD.map(({ aggregate, label }) => ({
    label,
    query: {
      ...(isRecorded ? ({ metric: recorded, function: 'avg' } as const) : ofDevices),
      ...{ matchers: [], by: [], aggregate },
      ...(isRecorded ? {} : { within: { by: ['cluster', 'instance'], aggregate: ofNode } }),
    },
  }))
}
