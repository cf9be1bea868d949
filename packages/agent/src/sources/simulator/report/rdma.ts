import { rdmaHwFirstType, rdmaHwType, rdmaPortCountersType, rdmaPortType } from '../../rdma/type.ts'
import type { NicPlace } from '../classes/node-class.ts'
import type { NicReader } from '../observe/nic-reader.ts'
import { COUNTERS as N } from '../observe/nic-reading.ts'
import { stuckAt } from '../observe/origin.ts'
import { zeros } from './column.ts'
import type { NicColumns, NicRow, NicTable } from './nic-table.ts'
import { RDMA } from './packets.ts'

/** Generations of signalling; each has half the rate of the one before. */
const SIGNALLINGS = ['NDR', 'HDR', 'EDR']
/** The NIC whose narrow counters have long reached their largest value. */
const OVERRUN_NIC = 2
const FLAPPED_NIC = 6

const symbolErrors = ({ live }: NicReader) => stuckAt(Math.floor(live.count(N.effectiveErrors) * 0.1), 16)
const linkDowns = ({ live }: NicReader) =>
  stuckAt(live.count(N.linkDowns) + (live.nic.index === FLAPPED_NIC ? 300 : 1), 8)
const bufferOverruns = ({ live }: NicReader) => (live.nic.index === OVERRUN_NIC ? stuckAt(40, 4) : 0)

/** Names of the counters that have reached their largest value. */
function saturatedOf(nic: NicReader): string[] {
  return [
    ...(symbolErrors(nic) === 0xffff ? ['symbol_error'] : []),
    ...(linkDowns(nic) === 0xff ? ['link_downed'] : []),
    ...(bufferOverruns(nic) === 0xf ? ['excessive_buffer_overrun_errors'] : []),
  ]
}

/** Signalling generation of the link. */
function signallingOf({ live }: NicReader): string {
  const { signalling } = live.nic.model
  const generation = SIGNALLINGS.indexOf(signalling) + Math.round(Math.log2(1 / (live.effect.speedShare ?? 1)))
  return SIGNALLINGS[generation] ?? signalling
}

const RDMA_PORT: NicColumns<typeof rdmaPortType> = {
  state: ({ live }) => (live.isUp ? 4 : 1),
  phys_state: ({ live }) => (live.isUp ? 5 : 2),
  rate_bytes_per_second: ({ live }) => live.speedBytesPerS,
  xmit_data_bytes_total: { ...RDMA.txBytes, txOther: RDMA.txBytes.txData },
  rcv_data_bytes_total: RDMA.rxBytes,
  saturated_counters: (nic) => saturatedOf(nic).length,
}

/** Counters of a port in files of the driver. */
export const RDMA_PORT_COUNTERS: NicColumns<typeof rdmaPortCountersType> = {
  ...zeros(
    'multicast_xmit_packets',
    'multicast_rcv_packets',
    'xmit_discards',
    'xmit_constraint_errors',
    'rcv_errors',
    'rcv_remote_physical_errors',
    'rcv_switch_relay_errors',
    'rcv_constraint_errors',
    'local_link_integrity_errors',
    'vl15_dropped',
  ),
  xmit_packets_total: { ...RDMA.txPackets, txOther: 1 },
  rcv_packets_total: RDMA.rxPackets,
  unicast_xmit_packets_total: { ...RDMA.txPackets, txOther: 1 },
  unicast_rcv_packets_total: RDMA.rxPackets,
  xmit_wait_ticks_total: 'waitTicks',
  symbol_error_total: symbolErrors,
  link_error_recovery_total: ({ live }) => stuckAt(live.events('link_recovery'), 8),
  link_downed_total: linkDowns,
  excessive_buffer_overrun_errors_total: bufferOverruns,
}

const RDMA_HW_FIRST: NicColumns<typeof rdmaHwFirstType> = {
  packet_seq_err_total: ({ hardware }) => hardware.count(N.lost) + hardware.rare(2, 2),
  rp_cnp_handled_total: 'throttled',
}

/** 32-bit counters are widened as in the real source. */
const RDMA_HW: NicColumns<typeof rdmaHwType> = {
  ...zeros(
    'rx_read_requests',
    'rx_atomic_requests',
    'rx_dct_connect',
    'out_of_buffer',
    'implied_nak_seq_err',
    'resp_local_length_error',
    'resp_cqe_error',
    'resp_cqe_flush_error',
    'resp_remote_access_errors',
    'req_cqe_error',
    'req_cqe_flush_error',
    'req_remote_invalid_request',
    'req_remote_access_errors',
    'req_rnr_retries_exceeded',
    'roce_adp_retrans_to',
    'roce_slow_restart_cnps',
    'rp_cnp_ignored',
  ),
  rx_write_requests_total: 'requests',
  out_of_sequence_total: 'outOfSequence',
  duplicate_request_total: ({ hardware }) => hardware.count(N.tails) + hardware.rare(1, 1.5),
  rnr_nak_retry_err_total: ({ hardware }) => hardware.events('rnr_retry'),
  local_ack_timeout_err_total: ({ hardware }) =>
    hardware.count(N.ackTimeouts) + hardware.events('ack_timeout') + hardware.rare(3, 0.5),
  req_transport_retries_exceeded_total: ({ hardware }) => hardware.events('retries_exceeded'),
  roce_adp_retrans_total: ({ hardware }) => hardware.count(N.tails) + (hardware.nic.index % 4),
  roce_slow_restart_total: 'tails',
  roce_slow_restart_trans_total: 'tails',
  np_ecn_marked_roce_packets_total: 'marked',
  np_cnp_sent_total: 'cnpSent',
  rx_icrc_encapsulated_total: ({ hardware }) => Math.floor(hardware.count(N.effectiveErrors) * 0.15),
}

const OPTIONAL_COUNTERS = Object.fromEntries(
  ['cc_rx_ce_pkts', 'cc_rx_cnp_pkts', 'cc_tx_cnp_pkts', 'tx_packets', 'tx_bytes', 'rx_packets', 'rx_bytes'].map(
    (name) => [`${name}_total`, 'an optional counter that is off'],
  ),
)

/** Records of RDMA devices. */
export function rdmaTables(nics: readonly NicPlace[]): NicTable[] {
  const texts = { saturated: (nic: NicReader) => saturatedOf(nic).join(' '), signalling: signallingOf }
  return [
    { type: rdmaPortType, columns: RDMA_PORT, texts, rows: nics.map(portRow) },
    { type: rdmaPortCountersType, columns: RDMA_PORT_COUNTERS, rows: nics.map(counterRow) },
    { type: rdmaHwFirstType, columns: RDMA_HW_FIRST, origin: 'hardware', rows: nics.map(counterRow) },
    { type: rdmaHwType, columns: RDMA_HW, origin: 'hardware', rows: nics.map(hardwareRow) },
  ]
}

function portRow(nic: NicPlace): NicRow {
  const { device, netdev, address, model, index } = nic
  const facts = {
    link_layer: 'Ethernet',
    netdevs: netdev,
    address,
    driver: 'mlx5_core',
    firmware: model.firmware,
    model: model.name,
    board: model.board,
    node_guid: `a088:c203:00${(0x12 + index).toString(16)}:4e${(0x20 + index * 8).toString(16)}`,
    width_lanes: model.lanes,
    signalling: model.signalling,
    saturated: '',
    turn_age_seconds: 0,
  }
  return { nic, labels: { rdma_device: device, port: 1 }, facts }
}

function counterRow(nic: NicPlace): NicRow {
  return { nic, labels: { rdma_device: nic.device, port: 1 } }
}

function hardwareRow(nic: NicPlace): NicRow {
  const facts = { lifespan_seconds: 0.01 }
  return { ...counterRow(nic), facts, reasons: OPTIONAL_COUNTERS }
}
