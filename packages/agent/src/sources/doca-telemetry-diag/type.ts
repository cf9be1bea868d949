import { counter, defineType, gauge, label, labelNumber, optional, type RecordType, timestamp, value } from '@sonde/sdk'
import { originLabel } from '../origins/metric-origins.ts'

const entity = { kind: 'nic', key: ['rdma_device'] }
const entityOfPort = { kind: 'nic', key: ['rdma_device', 'port'] }

const rdma_device = label('RDMA device, such as mlx5_0')
const port = labelNumber('u8', 'Port of the device, from 1')
const bytes = (help: string) => optional(counter('u64', { unit: 'bytes', help }))
const pciBytes = (direction: 'rx' | 'tx', word: 'inbound' | 'outbound') => {
  const help = `Bytes on the PCIe link, called ${word} by the library, which does not document the direction`
  return optional(counter('u64', { unit: 'bytes', metric: `doca_pci_${direction}_bytes`, help }))
}
const pciUse = (direction: 'rx' | 'tx', word: 'inbound' | 'outbound') => {
  const help = `Bytes of the last interval, called ${word} by the library, divided by what the link carries`
  return optional(gauge('f64', { unit: 'ratio', metric: `doca_pci_${direction}_utilisation_ratio`, help }))
}
const count = (help: string) => optional(counter('u64', { help }))
const seconds = (help: string) => optional(counter('f64', { unit: 'seconds', help }))

/** Diagnostic counters of a whole device. */
export const docaDiagType = defineType(
  'doca_diag',
  'Sampled diagnostic counters of one device',
  {
    time: timestamp(),
    rdma_device,
    icmc_requests_total: count('Look-ups in the cache of internal context memory'),
    icmc_hits_total: count('Look-ups that found their entry'),
    icmc_misses_total: count('Look-ups that had to read host memory'),
    rx_cqes_total: count('Completions of receives'),
    tx_cqes_total: count('Completions of sends'),
    congestion_deschedules_total: count('Queue pairs descheduled because congestion control limits their rate'),
    host_receive_buffer_discards_total: count('Packets dropped because the receive buffer of the host was full'),
    transport_packets_total: count('Packets that the receive transport passed to the host'),
  },
  { entity, core: [] },
)

/** Diagnostic counters of a port. */
export const docaDiagPortType = defineType(
  'doca_diag_port',
  'Sampled diagnostic counters of one port',
  {
    time: timestamp(),
    rdma_device,
    port,
    rx_bytes_total: bytes('Bytes received on the physical port'),
    rx_packets_total: count('Packets received on the physical port'),
    tx_bytes_total: bytes('Bytes sent on the physical port, loopback excluded'),
    tx_packets_total: count('Packets sent on the physical port, loopback excluded'),
    rx_discard_packets_total: count('Packets dropped because no buffer was free'),
    ecn_marked_packets_total: count('RoCE packets received with a congestion mark'),
    cnp_handled_packets_total: count('Congestion notifications that slowed a sender here'),
    cnp_sent_packets_total: count('Congestion notifications sent'),
  },
  { entity: entityOfPort, core: [] },
)

/** Diagnostic counters of a priority of a port. */
export const docaDiagPriorityType = defineType(
  'doca_diag_priority',
  'Sampled diagnostic counters of one priority',
  {
    time: timestamp(),
    rdma_device,
    port,
    priority: labelNumber('u8', 'Priority, 0 to 7'),
    rx_bytes_total: bytes('Bytes received'),
    rx_packets_total: count('Packets received'),
    rx_pauses_total: count('Pause packets received'),
    tx_bytes_total: bytes('Bytes sent'),
    tx_packets_total: count('Packets sent'),
    tx_pauses_total: count('Pause packets sent'),
  },
  { entity: entityOfPort, core: [] },
)

/**
 * Diagnostic counters of the PCIe link of a device. Inbound and outbound are words of the library. It does not document
 * which of them means towards the host.
 */
export const docaDiagPciType = defineType(
  'doca_diag_pci',
  'Sampled diagnostic counters of the PCIe link of one device',
  {
    time: timestamp(),
    rdma_device,
    inbound_data_bytes_total: bytes('Payload bytes, inbound'),
    outbound_data_bytes_total: bytes('Payload bytes, outbound'),
    write_data_credit_stall_seconds_total: seconds('Time in which writes waited for posted data credits'),
    write_header_credit_stall_seconds_total: seconds('Time in which writes waited for posted header credits'),
    read_data_credit_stall_seconds_total: seconds('Time in which reads waited for non-posted data credits'),
    read_header_credit_stall_seconds_total: seconds('Time in which reads waited for non-posted header credits'),
    read_completion_stall_seconds_total: seconds('Time in which reads waited for completion buffers'),
    read_ordering_stall_seconds_total: seconds('Time in which reads waited for ordering'),
    read_wait_seconds_total: seconds('Sum of the latencies of all reads; divide by reads_total'),
    reads_total: count('Reads whose latency was measured'),
    read_latency_max_seconds: optional(gauge('f64', { unit: 'seconds', help: 'Longest latency of a read' })),
    read_latency_min_seconds: optional(gauge('f64', { unit: 'seconds', help: 'Shortest latency of a read' })),
  },
  { entity, core: [] },
)

/**
 * Bytes on the PCIe link of a device. The metrics have the names and the label of the recipe for Kubernetes, which
 * takes inbound for received.
 */
export const docaDiagPciBytesType = defineType(
  'doca_diag_pci_bytes',
  'Sampled bytes on the PCIe link of one device',
  {
    time: timestamp(),
    device: rdma_device,
    inbound_bytes_total: pciBytes('rx', 'inbound'),
    outbound_bytes_total: pciBytes('tx', 'outbound'),
  },
  { entity: { kind: 'nic', key: ['device'] } },
)

/**
 * Use of the PCIe link of a device, of each direction, in relation to its present speed and width. Packet headers are
 * part of the bytes, the line coding is not part of the capacity.
 */
export const docaDiagPciUseType = defineType(
  'doca_diag_pci_use',
  'Use of the PCIe link of one device',
  {
    time: timestamp(),
    device: rdma_device,
    origin: originLabel('doca_pci_link_bandwidth_bytes_per_second'),
    link_bandwidth_bytes_per_second: gauge('u64', {
      unit: 'bytes_per_second',
      metric: 'doca_pci_link_bandwidth_bytes_per_second',
      help: 'Bytes per second that the link carries in one direction, at its present speed and width',
    }),
    inbound_ratio: pciUse('rx', 'inbound'),
    outbound_ratio: pciUse('tx', 'outbound'),
  },
  {
    entity: { kind: 'nic', key: ['device'] },
    core: ['link_bandwidth_bytes_per_second', 'inbound_ratio', 'outbound_ratio'],
  },
)

/** A counter without a field of its own, listed by its data ID. */
export const docaDiagCounterType = defineType(
  'doca_diag_counter',
  'Sampled diagnostic counters by their data ID',
  {
    time: timestamp(),
    rdma_device,
    data_id: label('Data ID, 0x and 16 hexadecimal digits'),
    name: label("NVIDIA's name of the counter; unknown if Sonde does not know it"),
    value: counter('u64', { metric: 'doca_diag_counter', help: 'Value of the counter; its unit is unknown' }),
  },
  { entity, core: [] },
)

/** State of the sampling of one device. */
export const docaDiagSamplingType = defineType(
  'doca_diag_sampling',
  'Sampling of the diagnostic counters of one device',
  {
    time: timestamp(),
    rdma_device,
    device_ticks: value('u64', { help: 'Clock of the device at the latest sample' }),
    sample_bytes: value('u32', { unit: 'bytes', help: 'Size of a sample' }),
    samples_total: counter('u64', { help: 'Samples read' }),
    skipped_samples_total: counter('u64', { help: 'Samples that the device overwrote before they were read' }),
    counters: gauge('u32', { help: 'Counters that are sampled' }),
    refused_counters: gauge('u32', { help: 'Counters that the device refused' }),
    period_seconds: optional(
      gauge('f64', { unit: 'seconds', help: 'Time between two samples, reported by the device' }),
    ),
    drain_cpu_ratio: optional(
      gauge('f64', {
        unit: 'ratio',
        help: 'Share of a core that the process of all DOCA sources used in the first 10 s',
      }),
    ),
  },
  { entity, core: [] },
)

/** Returns the field of {@link sampleTypeOf} that holds the value of a counter. */
export function sampleFieldOf(id: bigint): string {
  return `id_${id.toString(16).padStart(16, '0')}`
}

/** Samples at full rate, which stay in the memory of their host; see {@link sampleTypeOf}. */
export const docaDiagSampleType = sampleTypeOf([])

/**
 * Defines the type of the samples of some counters: time, ticks, stamp and number of the sample, then the value of each
 * counter in a field that is named by its data ID. The stamp is the number that NVIDIA's reference application prints.
 * With a real-time clock it combines the seconds of the first value with the nanoseconds of the last value. It is not a
 * time: differences are wrong if a second starts within the sample.
 */
export function sampleTypeOf(ids: readonly bigint[]): RecordType {
  return defineType(
    'doca_diag_sample',
    'Samples of diagnostic counters at full rate',
    {
      time: timestamp(),
      device_ticks: value('u64', { help: 'Clock of the device' }),
      stamp: value('u64', {
        help: 'Two words of the sample: the high word of its first time and the low word of its last time',
      }),
      rdma_device,
      sample: value('u32', { help: 'Number of the sample in the device' }),
      ...Object.fromEntries(ids.map((id) => [sampleFieldOf(id), value('u64')])),
    },
    { entity },
  )
}
