import type { RecordType } from '@sonde/sdk'
import {
  docaDiagPciBytesType,
  docaDiagPciType,
  docaDiagPciUseType,
  docaDiagPortType,
  docaDiagPriorityType,
  docaDiagType,
} from '../../doca-telemetry-diag/type.ts'
import type { NicPlace } from '../classes/node-class.ts'
import type { NicEffect } from '../effects.ts'
import { isInBurst } from '../model/bursts.ts'
import { PACKET_BYTES, pcieBytesPerS } from '../model/pace.ts'
import { NIC_QUANTITIES as N } from '../model/quantities.ts'
import type { NicReader } from '../observe/nic-reader.ts'
import type { Counter } from '../observe/nic-reading.ts'
import { type ReportColumn, type Sum, zeros } from './column.ts'
import type { NicColumns, NicTable } from './nic-table.ts'
import { PORT, PRIORITY_BYTES, RDMA } from './packets.ts'

/** PCIe bytes of a data packet, with the headers of its PCIe packets, and PCIe bytes of an acknowledgement. */
const PCIE_PACKET_BYTES = 4342
const PCIE_ACK_BYTES = 24
const PORT_NUMBER = 1
/** Priority of RDMA. */
const PRIORITY = 3
/** Shortest and longest latency of a read over PCIe without other traffic. Unit: seconds. */
const LATENCY_MIN_S = 0.45e-6
const LATENCY_MAX_S = 1.5e-6

const DIAG: NicColumns<typeof docaDiagType> = {
  icmc_requests_total: { cacheHits: 1, cacheMisses: 1 },
  icmc_hits_total: 'cacheHits',
  icmc_misses_total: 'cacheMisses',
  rx_cqes_total: 'requests',
  tx_cqes_total: 'requests',
  congestion_deschedules_total: 'deschedules',
  host_receive_buffer_discards_total: 'discards',
  transport_packets_total: RDMA.rxPackets,
}

const DIAG_PORT: NicColumns<typeof docaDiagPortType> = {
  rx_bytes_total: PORT.rxBytes,
  rx_packets_total: PORT.rxPackets,
  tx_bytes_total: PORT.txBytes,
  tx_packets_total: PORT.txPackets,
  rx_discard_packets_total: 'discards',
  ecn_marked_packets_total: 'marked',
  cnp_handled_packets_total: 'throttled',
  cnp_sent_packets_total: 'cnpSent',
}

/** Values of a port by priority. Only the priority of RDMA is ever paused. */
function priorityColumns(priority: number): NicColumns<typeof docaDiagPriorityType> {
  const { rx, tx } = PRIORITY_BYTES[priority as keyof typeof PRIORITY_BYTES] ?? { rx: {}, tx: {} }
  const isPaused = priority === PRIORITY
  return {
    rx_bytes_total: rx,
    rx_packets_total: packetsOf(rx),
    rx_pauses_total: isPaused ? 'rxPauses' : 0,
    tx_bytes_total: tx,
    tx_packets_total: packetsOf(tx),
    tx_pauses_total: isPaused ? 'txPauses' : 0,
  }
}

/** The packets whose bytes are counted. */
function packetsOf(bytes: Readonly<Partial<Record<Counter, number>>>): Sum<Counter> {
  return Object.fromEntries(Object.keys(bytes).map((packets) => [packets, 1]))
}

/** Assumption: inbound means from the host. */
const DIAG_PCI_BYTES: NicColumns<typeof docaDiagPciBytesType> = {
  inbound_bytes_total: {
    txData: PCIE_PACKET_BYTES,
    txAck: PCIE_ACK_BYTES,
    txUnguardedData: PCIE_PACKET_BYTES,
    txUnguardedAck: PCIE_ACK_BYTES,
  },
  outbound_bytes_total: { rxData: PCIE_PACKET_BYTES, rxAck: PCIE_ACK_BYTES },
}

const DIAG_PCI_USE: NicColumns<typeof docaDiagPciUseType> = {
  link_bandwidth_bytes_per_second: ({ pci }) => pcieBytesPerS(pci.generation, pci.lanes),
  inbound_ratio: (nic) => usedShare(nic, [N.txData, N.txUnguardedData], [N.txAck, N.txUnguardedAck]),
  outbound_ratio: (nic) => usedShare(nic, [N.rxData], [N.rxAck]),
}

/** Share of the link that packets and acknowledgements used in the last second. */
function usedShare(nic: NicReader, data: readonly number[], acks: readonly number[]): number {
  const bytesPerS = PCIE_PACKET_BYTES * nic.lastSecond(data) + PCIE_ACK_BYTES * nic.lastSecond(acks)
  return Math.min(1, bytesPerS / pcieBytesPerS(nic.pci.generation, nic.pci.lanes))
}

const DIAG_PCI: NicColumns<typeof docaDiagPciType> = {
  inbound_data_bytes_total: { txData: PACKET_BYTES, txUnguardedData: PACKET_BYTES },
  outbound_data_bytes_total: { rxData: PACKET_BYTES },
  write_data_credit_stall_seconds_total: 'stallS',
  write_header_credit_stall_seconds_total: { stallS: 0.05 },
  read_data_credit_stall_seconds_total: { stallS: 0.01 },
  read_header_credit_stall_seconds_total: { stallS: 0.02 },
  read_completion_stall_seconds_total: { stallS: 0.3 },
  ...zeros('read_ordering_stall_seconds'),
  read_wait_seconds_total: 'readLatencyS',
  reads_total: 'pcieReads',
  read_latency_max_seconds: ({ live }) => readLatencyMaxS(live.effect, isInBurst(live.place)),
  read_latency_min_seconds: LATENCY_MIN_S,
}

/** The longest read over PCIe. Unit: seconds. */
export function readLatencyMaxS({ pcieGeneration, pcieWidth, stalledShare = 0 }: NicEffect, inBurst: boolean): number {
  const isNarrow = pcieGeneration !== undefined || pcieWidth !== undefined || stalledShare > 0.3
  return LATENCY_MAX_S * (inBurst ? (isNarrow ? 6 : 2.2) : 1)
}

/**
 * Column of a diagnostic counter; undefined if simulated NICs lack it.
 *
 * @param priority Priority of the counter; other counters ignore it.
 */
export function diagColumn(
  type: RecordType,
  field: string,
  priority: number,
): ReportColumn<NicReader, Counter> | undefined {
  const columns = new Map<RecordType, NicColumns<RecordType>>([
    [docaDiagType, DIAG],
    [docaDiagPortType, DIAG_PORT],
    [docaDiagPriorityType, priorityColumns(priority)],
    [docaDiagPciBytesType, DIAG_PCI_BYTES],
    [docaDiagPciType, DIAG_PCI],
  ])
  return columns.get(type)?.[field]
}

/** Records of DOCA Telemetry Diagnostics. */
export function docaDiagTables(nics: readonly NicPlace[]): NicTable[] {
  const rows = (labels: Record<string, number>) =>
    nics.map((nic) => ({ nic, labels: { rdma_device: nic.device, ...labels } }))
  return [
    { type: docaDiagType, columns: DIAG, rows: rows({}) },
    { type: docaDiagPortType, columns: DIAG_PORT, rows: rows({ port: PORT_NUMBER }) },
    {
      type: docaDiagPriorityType,
      columns: priorityColumns(PRIORITY),
      rows: rows({ port: PORT_NUMBER, priority: PRIORITY }),
    },
    {
      type: docaDiagPciBytesType,
      columns: DIAG_PCI_BYTES,
      rows: nics.map((nic) => ({ nic, labels: { device: nic.device } })),
    },
    { type: docaDiagPciType, columns: DIAG_PCI, rows: rows({}) },
    {
      type: docaDiagPciUseType,
      columns: DIAG_PCI_USE,
      rows: nics.map((nic) => ({ nic, labels: { device: nic.device, origin: 'pci_files' } })),
    },
  ]
}
