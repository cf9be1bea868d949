import { buckets, counter, defineType, gauge, label, optional, text, timestamp } from '@sonde/sdk'

const entity = { kind: 'nic', key: ['rdma_device'] }

const count = (help: string) => optional(counter('u64', { help }))
const seconds = (help: string) => optional(counter('u64', { unit: 'seconds', help }))
const ratio = (help: string) => optional(gauge('f64', { unit: 'ratio', help }))

/** Upper edges of the bins of read latency. Unit: seconds. */
export const READ_LATENCY_EDGES = Array.from({ length: 11 }, (_, bin) => 0.000_000_25 * 2 ** bin)

/** The PCIe link of a device, as reported by its firmware. */
export const docaPciType = defineType(
  'doca_pci',
  'State, errors and latency of the PCIe link of one device',
  {
    time: timestamp(),
    rdma_device: label('RDMA device, such as mlx5_0'),
    place: text({ help: 'Position of the link in the device: depth.index.node' }),
    link_generation: gauge('u8', { help: 'PCIe generation at which the link runs' }),
    link_generation_enabled: gauge('u8', { help: 'Highest PCIe generation that is enabled' }),
    link_peer_generation_max: optional(gauge('u8', { help: 'Highest PCIe generation of the other end' })),
    link_width_lanes: gauge('u8', { help: 'Lanes in use' }),
    link_width_enabled_lanes: gauge('u8', { help: 'Lanes that are enabled' }),
    max_payload_bytes: gauge('u16', { unit: 'bytes', help: 'Longest payload of a packet' }),
    max_read_request_bytes: gauge('u16', { unit: 'bytes', help: 'Longest read request' }),
    power_limit_watts: optional(gauge('u16', { unit: 'watts', help: 'Power that the slot gives' })),
    physical_functions: gauge('u16', { help: 'Physical functions of the device' }),
    virtual_functions: gauge('u16', { help: 'Virtual functions of the device' }),
    overflow_packets_total: count('Packets dropped because PCIe buffers were full'),
    overflow_marked_packets_total: count('Packets marked because PCIe buffers were full'),
    rx_errors_total: count('Times the link was recovered for framing or CRC errors'),
    tx_errors_total: count('Times the other end recovered the link'),
    crc_dllp_errors_total: count('Times the link was recovered for CRC errors of link packets'),
    crc_tlp_errors_total: count('Times the link was recovered for CRC errors of transaction packets'),
    l0_to_recovery_total: count('Times the link was recovered, for any cause'),
    fec_correctable_errors_total: count('Errors that forward error correction corrected'),
    fec_uncorrectable_errors_total: count('Errors that forward error correction could not correct'),
    outbound_stalled_reads_ratio: ratio('Share of the last second in which reads waited for credits'),
    outbound_stalled_writes_ratio: ratio('Share of the last second in which writes waited for credits'),
    outbound_stalled_reads_seconds_total: seconds('Seconds in which reads waited for more than the threshold'),
    outbound_stalled_writes_seconds_total: seconds('Seconds in which writes waited for more than the threshold'),
    effective_bit_error_ratio: ratio('Share of wrong bits after correction'),
    read_latency_seconds: optional(
      buckets('u64', READ_LATENCY_EDGES, { unit: 'seconds', help: 'Completed reads by their latency' }),
    ),
  },
  { entity },
)
