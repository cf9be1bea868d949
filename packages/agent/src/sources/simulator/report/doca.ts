import type { RecordType } from '@sonde/sdk'
import { docaAdpRetxTimeoutsType, docaAdpRetxType, TIMEOUT_EDGES } from '../../doca-telemetry-adp-retx/type.ts'
import { docaDpaProcessType, docaDpaThreadType } from '../../doca-telemetry-dpa/type.ts'
import { docaPccCounterType, docaPccType, docaPccTypes, docaPccValueType } from '../../doca-telemetry-pcc/type.ts'
import { docaPciLatencyType, docaPciType, READ_LATENCY_EDGES } from '../../doca-telemetry-pci/type.ts'
import type { NicPlace } from '../classes/node-class.ts'
import { zeros } from './column.ts'
import type { NicColumns, NicRow, NicTable } from './nic-table.ts'

const DPA_THREADS = [0, 1, 2, 3]
/** Cycles and instructions per thread and millisecond. */
const CYCLES_PER_MS = 558_000
const INSTRUCTIONS_PER_MS = 190_000

/** Shares of the bins of a distribution around a middle bin; half of the values lie within one bin of it. */
function sharesAround(middle: number, bins: number): number[] {
  const weights = Array.from({ length: bins }, (_, bin) => 2 ** -Math.abs(bin - middle))
  const total = weights.reduce((all, weight) => all + weight)
  return weights.map((weight) => weight / total)
}

const ADP_RETX: NicColumns<typeof docaAdpRetxType> = {
  packets: 'tails',
}

const TIMEOUTS: NicColumns<typeof docaAdpRetxTimeoutsType> = {
  // Timeouts take 1 to 20 ms.
  seconds: { bins: 'tails', shares: sharesAround(6, TIMEOUT_EDGES.length + 1) },
}

const PCI: NicColumns<typeof docaPciType> = {
  ...zeros('overflow_marked_packets', 'tx_errors', 'crc_dllp_errors', 'fec_correctable_errors'),
  ...zeros('fec_uncorrectable_errors', 'outbound_stalled_reads_events'),
  link_generation: ({ pci }) => pci.generation,
  link_width_lanes: ({ pci }) => pci.lanes,
  overflow_packets_total: 'discards',
  rx_errors_total: (nic) => nic.recoveries,
  crc_tlp_errors_total: (nic) => nic.recoveries,
  l0_to_recovery_total: (nic) => nic.recoveries,
  outbound_stalled_reads_ratio: (nic) => 0.3 * nic.stallRatio,
  outbound_stalled_writes_ratio: (nic) => nic.stallRatio,
  outbound_stalled_writes_events_total: 'stallEvents',
}

const PCI_LATENCY: NicColumns<typeof docaPciLatencyType> = {
  // Reads take about a microsecond.
  seconds: { bins: 'pcieReads', shares: sharesAround(2, READ_LATENCY_EDGES.length + 1) },
}

/** Counters of the congestion-control algorithm, by the algorithm's names. */
const PCC_COUNTERS: Readonly<Record<string, NicColumns<typeof docaPccCounterType>>> = {
  cnp_events: { events_total: 'throttled' },
  rtt_requests: { events_total: 'requests' },
  nack_events: { events_total: 'lost' },
}

/** The round trip that the algorithm measures: about 8 µs. */
const PCC_RTT: NicColumns<typeof docaPccValueType> = {
  value: ({ live }) => Math.round(8000 + 2000 * (live.own(21) - 0.5)),
}

/** A thread on the accelerator that handles the algorithm's events. */
const DPA_THREAD: NicColumns<typeof docaDpaThreadType> = {
  active_seconds_total: ({ live }) => live.atS * 0.31,
  cycles_total: { elapsedMs: CYCLES_PER_MS },
  instructions_total: { elapsedMs: INSTRUCTIONS_PER_MS },
  executions_total: { throttled: 1, requests: 1 },
}

/** Records of the other DOCA libraries, except those of the accelerator. */
export function docaTables(nics: readonly NicPlace[]): NicTable[] {
  return [
    {
      type: docaAdpRetxType,
      columns: ADP_RETX,
      rows: nics.map((nic) => ({ nic, labels: { device: nic.device, origin: 'timeouts' } })),
    },
    {
      type: docaAdpRetxTimeoutsType,
      columns: TIMEOUTS,
      rows: nics.map((nic) => ({ nic, labels: { rdma_device: nic.device } })),
    },
    { type: docaPciType, columns: PCI, rows: nics.map(pciRow) },
    {
      type: docaPciLatencyType,
      columns: PCI_LATENCY,
      rows: nics.map((nic) => ({ nic, labels: { rdma_device: nic.device } })),
    },
  ]
}

/** Types of a NIC with an accelerator. */
export const DPA_TYPES: readonly RecordType[] = [...docaPccTypes, docaDpaProcessType, docaDpaThreadType]

/** Records of NICs with an accelerator: a congestion-control algorithm, and the process that runs it. */
export function docaDpaTables(nics: readonly NicPlace[]): NicTable[] {
  const programmable = nics.filter(({ model }) => model.hasDpa)
  const rows = (labels: Record<string, number | string>, facts = {}) =>
    programmable.map((nic) => ({ nic, labels: { rdma_device: nic.device, ...labels }, facts }))
  const algorithm = {
    algorithm: 'zero-touch RoCE with round trips',
    algorithm_id: 0xcc01,
    version_major: 1,
    version_minor: 4,
    enabled: 1,
    counters_enabled: 1,
  }
  return [
    { type: docaPccType, columns: {}, rows: rows({ slot: 0 }, algorithm) },
    ...Object.entries(PCC_COUNTERS).map(([counter, columns]) => ({
      type: docaPccCounterType,
      columns,
      rows: rows({ slot: 0, counter }),
    })),
    { type: docaPccValueType, columns: PCC_RTT, rows: rows({ slot: 0, counter: 'rtt_ns' }) },
    { type: docaDpaProcessType, columns: {}, rows: rows({ process: 1 }, { name: 'pcc', threads: DPA_THREADS.length }) },
    ...DPA_THREADS.map((thread) => ({
      type: docaDpaThreadType,
      columns: DPA_THREAD,
      rows: rows({ process: 1, thread }, { name: `pcc_${thread}` }),
    })),
  ]
}

function pciRow(nic: NicPlace): NicRow {
  const { device, model } = nic
  const facts = {
    place: '0.0.0',
    link_generation_enabled: model.pcieGeneration,
    link_peer_generation_max: model.pcieGeneration,
    link_width_enabled_lanes: 16,
    max_payload_bytes: 256,
    max_read_request_bytes: 4096,
    power_limit_watts: 75,
    physical_functions: model.hasDpa ? 2 : 1,
    virtual_functions: 0,
  }
  const noFec = 'the link has no forward error correction below generation 6'
  const reasons = { effective_bit_error_ratio: noFec, fber_ratio: noFec }
  return { nic, labels: { rdma_device: device }, facts, reasons }
}
