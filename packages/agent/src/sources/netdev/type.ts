import { counter, defineType, gauge, label, optional, timestamp } from '@sonde/sdk'

const entity = { kind: 'netdev', key: ['device'] }

const bytes = (help: string) => counter('u64', { unit: 'bytes', help })
const count = (help: string) => counter('u64', { help })

/** Counters and state of one network interface, as the kernel's own drivers keep them. */
export const netdevType = defineType(
  'netdev',
  'Counters and link state of one network interface',
  {
    time: timestamp(),
    device: label('Name of the interface'),
    rx_bytes_total: bytes('Bytes received'),
    rx_packets_total: count('Packets received'),
    rx_errors_total: count('Packets received with an error of any kind'),
    rx_dropped_total: count('Packets received and dropped because no buffer was free or no protocol accepts them'),
    rx_fifo_errors_total: count('Packets lost because the receive FIFO was full'),
    rx_frame_errors_total: count('Packets received with a length, alignment, checksum or overrun error'),
    rx_compressed_packets_total: count('Compressed packets received'),
    rx_multicast_packets_total: count('Multicast packets received'),
    tx_bytes_total: bytes('Bytes sent'),
    tx_packets_total: count('Packets sent'),
    tx_errors_total: count('Packets that could not be sent for an error of any kind'),
    tx_dropped_total: count('Packets dropped before they were sent'),
    tx_fifo_errors_total: count('Packets lost because the transmit FIFO ran empty'),
    tx_collisions_total: count('Collisions while sending'),
    tx_carrier_errors_total: count(
      'Packets lost to a missing carrier, an abort, a window or a heartbeat error while sending',
    ),
    tx_compressed_packets_total: count('Compressed packets sent'),
    up: optional(
      gauge('u8', { help: '1 when the interface can pass packets: operstate is up, or unknown with a carrier' }),
    ),
    carrier: optional(
      gauge('u8', { help: '1 when the link has a carrier; absent while the interface is switched off' }),
    ),
    speed_bytes_per_second: optional(
      gauge('u64', { unit: 'bytes_per_second', help: 'Speed of the link in bytes per second' }),
    ),
    mtu_bytes: optional(gauge('u32', { unit: 'bytes', help: 'Longest packet that the interface sends in one piece' })),
  },
  {
    entity: { ...entity, defines: true },
    core: [
      'rx_bytes_total',
      'rx_packets_total',
      'rx_errors_total',
      'rx_dropped_total',
      'tx_bytes_total',
      'tx_packets_total',
      'tx_errors_total',
      'tx_dropped_total',
      'up',
      'carrier',
      'speed_bytes_per_second',
    ],
  },
)

/**
 * What is counted of the carrier: a record each time that it is read, which with many interfaces is not every sweep.
 */
export const netdevCarrierType = defineType(
  'netdev_carrier',
  'Changes of the carrier of one network interface, read in turns',
  {
    time: timestamp(),
    device: label('Name of the interface'),
    carrier_changes_total: optional(
      counter('u64', { metric: 'netdev_carrier_changes_total', help: 'Times the carrier came or went' }),
    ),
  },
  { inTurns: true, entity },
)
