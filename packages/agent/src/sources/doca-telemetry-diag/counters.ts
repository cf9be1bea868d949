import type { RecordType } from '@sonde/sdk'
import { docaDiagPciBytesType, docaDiagPciType, docaDiagPortType, docaDiagPriorityType, docaDiagType } from './type.ts'

/** What a counter belongs to: its device, a port or a priority. */
export type CounterScope = 'device' | 'port' | 'priority'

/** A counter with a field of its own. */
export interface DiagCounter {
  /** The data ID without properties: group, counter, and 32 bits of zeros. */
  readonly id: bigint
  /** Its name at NVIDIA, without the number of the port. */
  readonly name: string
  readonly scope: CounterScope
  readonly type: RecordType
  readonly field: string
  /** Whether the device counts nanoseconds; the field has seconds. */
  readonly isNs?: true
  /** Whether it can fall as well as rise. Then the highest or lowest value of an interval is reported. */
  readonly extreme?: 'max' | 'min'
}

type ListedCounter = readonly [id: number, name: string, field: string, more?: Pick<DiagCounter, 'isNs' | 'extreme'>]

const NS = { isNs: true } as const

const DEVICE: readonly ListedCounter[] = [
  [0x1180_0001, 'global_icmc_request', 'icmc_requests_total'],
  [0x1180_0002, 'global_icmc_hit', 'icmc_hits_total'],
  [0x1180_0003, 'global_icmc_miss', 'icmc_misses_total'],
  [0x10c0_0001, 'rx_cqes', 'rx_cqes_total'],
  [0x10c0_0004, 'tx_cqes', 'tx_cqes_total'],
  [0x1100_0002, 'tx_transport_done_due_to_cc_deschedule_events', 'congestion_deschedules_total'],
  [0x1040_0001, 'host_rx_buffer_discards', 'host_receive_buffer_discards_total'],
  [0x1080_0001, 'rx_transport_host_pass_packets', 'transport_packets_total'],
]

const PORT: readonly ListedCounter[] = [
  [0x1020_0001, 'port_rx_bytes', 'rx_bytes_total'],
  [0x1020_0003, 'port_rx_packets', 'rx_packets_total'],
  [0x1020_0005, 'port_rx_discard_buf_packets', 'rx_discard_packets_total'],
  [0x1140_0001, 'port_tx_bytes', 'tx_bytes_total'],
  [0x1140_0003, 'port_tx_packets', 'tx_packets_total'],
  [0x1080_0004, 'port_rx_transport_ecn_packets', 'ecn_marked_packets_total'],
  [0x1080_0005, 'port_rx_transport_cnp_handled_packets', 'cnp_handled_packets_total'],
  [0x1100_0001, 'port_tx_transport_cnp_sent_packets', 'cnp_sent_packets_total'],
]

const PCI_BYTES: readonly ListedCounter[] = [
  [0x1160_0001, 'pcie_link_inbound_bytes', 'inbound_bytes_total'],
  [0x1160_0002, 'pcie_link_outbound_bytes', 'outbound_bytes_total'],
]

const PCI: readonly ListedCounter[] = [
  [0x1160_0003, 'pcie_link_inbound_data_bytes', 'inbound_data_bytes_total'],
  [0x1160_0004, 'pcie_link_outbound_data_bytes', 'outbound_data_bytes_total'],
  [0x1160_0005, 'pcie_write_stall_no_posted_data_credits', 'write_data_credit_stall_seconds_total', NS],
  [0x1160_0006, 'pcie_write_stall_no_posted_header_credits', 'write_header_credit_stall_seconds_total', NS],
  [0x1160_0007, 'pcie_read_stall_no_non_posted_data_credits', 'read_data_credit_stall_seconds_total', NS],
  [0x1160_0008, 'pcie_read_stall_no_non_posted_header_credits', 'read_header_credit_stall_seconds_total', NS],
  [0x1160_0009, 'pcie_read_stall_no_completion_buffers', 'read_completion_stall_seconds_total', NS],
  [0x1160_000a, 'pcie_read_stall_ordering', 'read_ordering_stall_seconds_total', NS],
  [0x1160_000b, 'pcie_read_latency_total', 'read_wait_seconds_total', NS],
  [0x1160_000c, 'pcie_read_latency_packets', 'reads_total'],
  [0x1160_000d, 'pcie_read_latency_max', 'read_latency_max_seconds', { isNs: true, extreme: 'max' }],
  [0x1160_000e, 'pcie_read_latency_min', 'read_latency_min_seconds', { isNs: true, extreme: 'min' }],
]

const PRIORITY: readonly ListedCounter[] = [
  [0x1020_0002, 'port_priority_rx_bytes', 'rx_bytes_total'],
  [0x1020_0004, 'port_priority_rx_packets', 'rx_packets_total'],
  [0x1020_0006, 'port_priority_rx_pauses_packets', 'rx_pauses_total'],
  [0x1140_0002, 'port_priority_tx_bytes', 'tx_bytes_total'],
  [0x1140_0004, 'port_priority_tx_packets', 'tx_packets_total'],
  [0x1140_0005, 'port_priority_tx_pauses_packets', 'tx_pauses_total'],
]

const of = (rows: readonly ListedCounter[], type: RecordType, scope: CounterScope): DiagCounter[] =>
  rows.map(([id, name, field, more]) => ({ id: BigInt(id) << 32n, name, scope, type, field, ...more }))

/**
 * All counters with a field. A device with room for few counters gets the first ones. Numbers and names are from the
 * sources and guides of DOCA 3. Each device reports which of them it has.
 */
export const COUNTERS: readonly DiagCounter[] = [
  ...of(DEVICE, docaDiagType, 'device'),
  ...of(PORT, docaDiagPortType, 'port'),
  ...of(PCI_BYTES, docaDiagPciBytesType, 'device'),
  ...of(PCI, docaDiagPciType, 'device'),
  ...of(PRIORITY, docaDiagPriorityType, 'priority'),
]

const PRIORITIES = 8
const PORT_BITS = 0xffn
const PRIORITY_SHIFT = 8n
const PRIORITY_BITS = 0xfn
const PROPERTY_BITS = 0xffff_ffffn
const HEXADECIMAL = /^0x[0-9a-f]{16}$/i

/** Whether a text names a counter: a name of the table, or an ID of 16 hexadecimal digits. */
export function isCounterName(text: string): boolean {
  return HEXADECIMAL.test(text) || COUNTERS.some(({ name }) => name === text)
}

/** Returns the IDs of a list of names and IDs, each once; for an empty list, those of the table. */
export function idsOf(names: readonly string[], ports: number): bigint[] {
  if (names.length === 0) return COUNTERS.flatMap((counter) => expanded(counter, ports))
  const listed = names.flatMap((text) => {
    const counter = COUNTERS.find(({ name }) => name === text)
    return counter === undefined ? [BigInt(text)] : expanded(counter, ports)
  })
  return [...new Set(listed)]
}

/** Returns the ID for each port and each priority of a counter. */
function expanded({ id, scope }: DiagCounter, ports: number): bigint[] {
  if (scope === 'device') return [id]
  const ofPorts = Array.from({ length: ports }, (_, port) => id | BigInt(port))
  if (scope === 'port') return ofPorts
  const priorities = Array.from({ length: PRIORITIES }, (_, priority) => BigInt(priority) << PRIORITY_SHIFT)
  return ofPorts.flatMap((ofPort) => priorities.map((priority) => ofPort | priority))
}

/** A counter with the labels that its properties give. */
export interface PlacedCounter {
  readonly id: bigint
  /** Undefined if it is not in the table. */
  readonly counter: DiagCounter | undefined
  readonly labels: Readonly<Record<string, number | string>>
}

/** Returns the counter and the labels of an ID. */
export function placedCounter(id: bigint): PlacedCounter {
  const properties = id & PROPERTY_BITS
  const counter = COUNTERS.find((known) => known.id === (id ^ properties))
  const port = Number(properties & PORT_BITS)
  const priority = Number((properties >> PRIORITY_SHIFT) & PRIORITY_BITS)
  const known = { device: 0n, port: PORT_BITS, priority: PORT_BITS | (PRIORITY_BITS << PRIORITY_SHIFT) }
  // An ID with unknown properties is another counter.
  if (counter === undefined || (properties & ~known[counter.scope]) !== 0n)
    return { id, counter: undefined, labels: {} }
  const labels = { device: {}, port: { port: port + 1 }, priority: { port: port + 1, priority } }
  return { id, counter, labels: labels[counter.scope] }
}

/** Whether a text is the data ID of a counter of the table, on the first port. */
export function isFirstPortCounter(text: string): boolean {
  if (!HEXADECIMAL.test(text)) return false
  const id = BigInt(text)
  return placedCounter(id).counter !== undefined && (id & PORT_BITS) === 0n
}

/** Returns NVIDIA's name for the counter of an ID, whatever its properties; `unknown` if the table does not have it. */
export function nameOf(id: bigint): string {
  return COUNTERS.find((known) => known.id >> 32n === id >> 32n)?.name ?? 'unknown'
}
