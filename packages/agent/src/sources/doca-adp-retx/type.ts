import { buckets, counter, defineType, label, timestamp } from '@sonde/sdk'

const entity = { kind: 'nic', key: ['device'] }

/**
 * Upper edges of the bins: the device's first bin is 0.1 ms wide, and each further one twice as wide as the one before.
 * Unit: seconds.
 */
export const TIMEOUT_EDGES = Array.from({ length: 15 }, (_, bin) => 0.0001 * 2 ** bin)

/**
 * Timeouts of adaptive retransmission of one device. Durations of timeouts, not round trips; the sum of durations is
 * not obtainable.
 */
export const docaAdpRetxType = defineType(
  'doca_adp_retx',
  'Timeouts of adaptive retransmission, by their duration',
  {
    time: timestamp(),
    device: label('RDMA device, such as mlx5_0'),
    timeouts_total: counter('u64', { help: 'Timeouts since the agent began to count' }),
    timeout_seconds: buckets('u64', TIMEOUT_EDGES, { unit: 'seconds', help: 'Timeouts by duration' }),
  },
  { entity },
)
