import { buckets, counter, defineType, label, timestamp } from '@sonde/sdk'

const entity = { kind: 'nic', key: ['device'] }
const device = label('RDMA device, such as mlx5_0')

/**
 * Upper edges of the bins that are asked for: the first bin is 0.1 ms wide, so is the second, and each further one
 * twice as wide as the one before. Unit: seconds.
 */
export const TIMEOUT_EDGES: readonly number[] = Array.from({ length: 15 }, (_, bin) => 2 ** bin / 10_000)

/** Where {@link docaAdpRetxType} counts: of the RDMA driver, or of the histogram. */
export const ORIGINS = { driver: 'roce_adp_retrans', histogram: 'timeouts' } as const

/**
 * Adaptive retransmissions of one device. The name of its metric is that of the recipe for Kubernetes; no library and
 * no driver counts packets.
 */
export const docaAdpRetxType = defineType(
  'doca_adp_retx',
  'Adaptive retransmission',
  {
    time: timestamp(),
    device,
    origin: label(
      `What counts: ${ORIGINS.driver}, a counter of the driver, or ${ORIGINS.histogram}, the histogram; never both`,
    ),
    packets: counter('u64', {
      help: 'Events of adaptive retransmission, not packets: retransmissions by the driver, or timeouts, as origin says',
    }),
  },
  { entity },
)

/** Timeouts of adaptive retransmission, by their duration, with bins as {@link TIMEOUT_EDGES} has them. */
export const docaAdpRetxTimeoutsType = timeoutsType(TIMEOUT_EDGES)

/**
 * The same with the bins of a device, which says at run time what it can do. Durations of timeouts, not round trips;
 * their sum is not obtainable.
 *
 * @param edges Upper edges of all bins but the last. Unit: seconds. At least one.
 */
export function timeoutsType(edges: readonly number[]) {
  return defineType(
    'doca_adp_retx_timeouts',
    'Timeouts of adaptive retransmission, by their duration',
    {
      time: timestamp(),
      device,
      seconds: buckets('u64', edges, {
        unit: 'seconds',
        metric: 'doca_adp_retx_timeout_seconds',
        help: 'Timeouts by duration, since the agent began to count',
      }),
    },
    { entity },
  )
}
