import { buckets, counter, defineType, label, timestamp } from '@sonde/sdk'
import { originLabel } from '../origins/metric-origins.ts'

const device = label('RDMA device, such as mlx5_0')

/**
 * Upper edges of the requested bins. The first two bins are 0.1 ms wide, each further bin is twice as wide as the one
 * before. Unit: seconds.
 */
export const TIMEOUT_EDGES: readonly number[] = Array.from({ length: 15 }, (_, bin) => 2 ** bin / 10_000)

/**
 * Adaptive retransmissions of one device. Its metric has the name of the recipe for Kubernetes, although no library and
 * no driver counts packets. Its labels are those of the recipe too.
 */
export const docaAdpRetxType = defineType(
  'doca_adp_retx',
  'Adaptive retransmission',
  {
    time: timestamp(),
    device,
    origin: originLabel('doca_adp_retx_packets'),
    packets: counter('u64', {
      help: 'Events of adaptive retransmission, not packets: retransmissions by the driver, or timeouts, as origin says',
    }),
  },
  { entity: { kind: 'nic', key: ['device'] } },
)

/** Timeouts of adaptive retransmission by their duration, with the bins of {@link TIMEOUT_EDGES}. */
export const docaAdpRetxTimeoutsType = timeoutsType(TIMEOUT_EDGES)

/**
 * Defines the type with the bins of a device, which reports at run time which bins it supports. The durations are of
 * timeouts, not of round trips. Their sum is not available.
 *
 * @param edges Upper edges of all bins except the last. Unit: seconds. At least one.
 */
export function timeoutsType(edges: readonly number[]) {
  return defineType(
    'doca_adp_retx_timeouts',
    'Timeouts of adaptive retransmission, by their duration',
    {
      time: timestamp(),
      rdma_device: device,
      seconds: buckets('u64', edges, {
        unit: 'seconds',
        metric: 'doca_adp_retx_timeout_seconds',
        help: 'Timeouts by duration, since the agent began to count',
      }),
    },
    { entity: { kind: 'nic', key: ['rdma_device'] }, core: ['seconds'] },
  )
}
