import { buckets, counter, defineType, gauge, label, optional, text, timestamp } from '@sonde/sdk'

const entity = { kind: 'nic', key: ['rdma_device'] }

const rdma_device = label('RDMA device, such as mlx5_0')
const count = (help: string) => optional(counter('u64', { help }))
const ratio = (help: string) => optional(gauge('f64', { unit: 'ratio', help }))

/** Upper edges of buckets of read latency: from 0.25 µs on, each twice the one before. Unit: seconds. */
export const READ_LATENCY_EDGES: readonly number[] = Array.from({ length: 11 }, (_, bucket) => 2 ** bucket / 4_000_000)

/** The PCIe link of a device, as reported by its firmware. */
export const docaPciType = defineType(
  'doca_pci',
  'State and errors of the PCIe link of one device',
  {
    time: timestamp(),
    rdma_device,
    place: text({ help: 'Position of the link in the device: depth.index.node' }),
    link_generation: optional(gauge('u8', { help: 'PCIe generation at which the link runs' })),
    link_generation_enabled: optional(gauge('u8', { help: 'Highest PCIe generation that is enabled' })),
    link_peer_generation_max: optional(gauge('u8', { help: 'Highest PCIe generation of the other end' })),
    link_width_lanes: optional(gauge('u8', { help: 'Lanes in use' })),
    link_width_enabled_lanes: optional(gauge('u8', { help: 'Lanes that are enabled' })),
    max_payload_bytes: optional(gauge('u16', { unit: 'bytes', help: 'Longest payload of a packet' })),
    max_read_request_bytes: optional(gauge('u16', { unit: 'bytes', help: 'Longest read request' })),
    power_limit_watts: optional(gauge('u16', { unit: 'watts', help: 'Power that the slot gives' })),
    physical_functions: optional(gauge('u16', { help: 'Physical functions of the device' })),
    virtual_functions: optional(gauge('u16', { help: 'Virtual functions of the device' })),
    overflow_packets_total: count('Packets from the port to the host, dropped because PCIe buffers were full'),
    overflow_marked_packets_total: count('Packets from the port to the host, marked because PCIe buffers were full'),
    rx_errors_total: count('Times the link was recovered for framing or CRC errors'),
    tx_errors_total: count('Times the other end recovered the link'),
    crc_dllp_errors_total: count('Times the link was recovered for CRC errors of link packets'),
    crc_tlp_errors_total: count('Times the link was recovered for CRC errors of transaction packets'),
    l0_to_recovery_total: count('Times the link was recovered, for any cause'),
    fec_correctable_errors_total: count('Errors that forward error correction corrected'),
    fec_uncorrectable_errors_total: count('Errors that forward error correction could not correct'),
    outbound_stalled_reads_ratio: ratio('Share of the last second in which reads of the host waited for credits'),
    outbound_stalled_writes_ratio: ratio('Share of the last second in which writes to the host waited for credits'),
    outbound_stalled_reads_events_total: count('Times the waiting of reads exceeded the threshold of the device'),
    outbound_stalled_writes_events_total: count('Times the waiting of writes exceeded the threshold of the device'),
    effective_bit_error_ratio: ratio('Share of wrong bits after correction'),
    fber_ratio: ratio('Error ratio that the library calls FBER, without an explanation'),
  },
  { entity, core: ['crc_tlp_errors_total'] },
)

/** Completed reads over PCIe by their latency, with the buckets of {@link READ_LATENCY_EDGES}. */
export const docaPciLatencyType = latencyType(READ_LATENCY_EDGES)

/**
 * Defines the type with the buckets of a device, which reports at run time which buckets it has. The sum of the
 * latencies is not available.
 *
 * @param edges Upper edges of all buckets except the last. Unit: seconds. At least one.
 */
export function latencyType(edges: readonly number[]) {
  return defineType(
    'doca_pci_latency',
    'Completed reads over PCIe, by their latency',
    {
      time: timestamp(),
      rdma_device,
      seconds: buckets('u64', edges, {
        unit: 'seconds',
        metric: 'doca_pci_read_latency_seconds',
        help: 'Completed reads over PCIe by latency',
      }),
    },
    { entity, core: [] },
  )
}
