import { PACKET_BYTES } from '../model/pace.ts'
import { NIC_READ as N } from '../observe/readings.ts'
import { type Column, type Columns, constant, fraction, sum, whole } from './column.ts'

/** Bytes of a packet of each kind: as RDMA counts it, and at the port with Ethernet header and checksum. */
const DATA = PACKET_BYTES
const ACK = 20
const HEADERS = 62
const MANAGEMENT = 90
const NOTIFICATION = 78

const none = constant(0)
const rdmaBytes = (data: number, ack: number) => sum([data, DATA], [ack, ACK])
/** Priority 3 is that of RDMA, 6 that of congestion notifications; all else goes with priority 0. */
const priority3Bytes = (data: number, ack: number): readonly (readonly [number, number])[] => [
  [data, DATA + HEADERS],
  [ack, ACK + HEADERS],
]
const priority0TxBytes: readonly (readonly [number, number])[] = [
  [N.txManagement, MANAGEMENT],
  [N.txOther, DATA + HEADERS],
]
const priority0RxBytes: readonly (readonly [number, number])[] = [[N.rxManagement, MANAGEMENT]]
const priority6TxBytes: readonly (readonly [number, number])[] = [[N.cnpSent, NOTIFICATION]]
const priority6RxBytes: readonly (readonly [number, number])[] = [[N.throttled, NOTIFICATION]]
/** What a priority counts that is never paused, and drops nothing. */
const UNTROUBLED: Columns = {
  rx_discards_total: none,
  rx_buf_discard_total: none,
  rx_cong_discard_total: none,
  rx_marked_total: none,
}
/** A priority that nothing goes with. */
const UNUSED: Columns = {
  rx_bytes_total: none,
  tx_bytes_total: none,
  rx_packets_total: none,
  tx_packets_total: none,
  ...UNTROUBLED,
}

/** How the parts of `rdma_port` that change are filled. */
export const RDMA_PORT_COLUMNS: Columns = {
  state: whole(N.portState),
  phys_state: whole(N.physicalState),
  rate_bytes: fraction(N.speed),
  xmit_data_bytes_total: sum([N.txData, DATA], [N.txAck, ACK], [N.txOther, DATA]),
  rcv_data_bytes_total: rdmaBytes(N.rxData, N.rxAck),
  xmit_packets_total: sum([N.txData, 1], [N.txAck, 1], [N.txOther, 1]),
  rcv_packets_total: sum([N.rxData, 1], [N.rxAck, 1]),
  unicast_xmit_packets_total: sum([N.txData, 1], [N.txAck, 1], [N.txOther, 1]),
  unicast_rcv_packets_total: sum([N.rxData, 1], [N.rxAck, 1]),
  multicast_xmit_packets_total: none,
  multicast_rcv_packets_total: none,
  xmit_wait_total: whole(N.waitTicks),
  xmit_discards_total: none,
  xmit_constraint_errors_total: none,
  rcv_errors_total: none,
  rcv_remote_physical_errors_total: none,
  rcv_switch_relay_errors_total: none,
  rcv_constraint_errors_total: none,
  symbol_error_total: whole(N.symbolErrors16),
  link_error_recovery_total: whole(N.linkRecoveries8),
  link_downed_total: whole(N.linkDowned8),
  local_link_integrity_errors_total: none,
  excessive_buffer_overrun_errors_total: whole(N.bufferOverruns4),
  vl15_dropped_total: none,
  saturated_counters: whole(N.saturated),
}

/** How `rdma_hw` is filled. Counters that are 32 bits wide are reported as the source does: widened. */
export const RDMA_HW_COLUMNS: Columns = {
  ...Object.fromEntries(
    [
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
      'rp_cnp_ignored',
    ].map((name): [string, Column] => [`${name}_total`, none]),
  ),
  rx_write_requests_total: whole(N.requests),
  out_of_sequence_total: whole(N.outOfSequence),
  duplicate_request_total: whole(N.duplicates),
  rnr_nak_retry_err_total: whole(N.rnrRetries),
  packet_seq_err_total: whole(N.sequenceErrors),
  local_ack_timeout_err_total: whole(N.ackTimeoutsAll),
  req_transport_retries_exceeded_total: whole(N.retriesExceeded),
  roce_adp_retrans_total: whole(N.adaptiveRetries),
  roce_slow_restart_total: whole(N.tails),
  roce_slow_restart_cnps_total: none,
  roce_slow_restart_trans_total: whole(N.tails),
  rp_cnp_handled_total: whole(N.throttled),
  np_ecn_marked_roce_packets_total: whole(N.marked),
  np_cnp_sent_total: whole(N.cnpSent),
  rx_icrc_encapsulated_total: whole(N.icrcErrors),
}

/** How the parts of `ethtool_link` that change are filled. */
export const ETHTOOL_LINK_COLUMNS: Columns = {
  link_detected: whole(N.up),
  speed_bytes: fraction(N.speed),
}

/** How `ethtool_port` is filled. */
export const ETHTOOL_PORT_COLUMNS: Columns = {
  ...Object.fromEntries(
    [
      'tx_discards_phy',
      'tx_errors_phy',
      'rx_oversize_pkts_phy',
      'rx_out_of_buffer',
      'dev_out_of_buffer',
      'rx_oversize_pkts_buffer',
      'rx_steer_missed_packets',
      'rx_ecn_mark',
      'module_bus_stuck',
      'module_high_temp',
      'module_bad_shorted',
      'module_unplug',
      'outbound_pci_buffer_overflow',
    ].map((name): [string, Column] => [`${name}_total`, none]),
  ),
  rx_phy_bytes_total: sum(...priority3Bytes(N.rxData, N.rxAck), ...priority0RxBytes, ...priority6RxBytes),
  tx_phy_bytes_total: sum(...priority3Bytes(N.txData, N.txAck), ...priority0TxBytes, ...priority6TxBytes),
  rx_packets_phy_total: sum([N.rxData, 1], [N.rxAck, 1], [N.rxManagement, 1], [N.throttled, 1]),
  tx_packets_phy_total: sum([N.txData, 1], [N.txAck, 1], [N.txManagement, 1], [N.txOther, 1], [N.cnpSent, 1]),
  rx_crc_errors_phy_total: whole(N.crcErrors),
  rx_symbol_err_phy_total: whole(N.crcErrors),
  rx_pcs_symbol_err_phy_total: whole(N.effectiveErrors),
  rx_corrected_bits_phy_total: whole(N.correctedBits),
  rx_bits_phy_total: whole(N.bits),
  rx_discards_phy_total: whole(N.discards),
  link_down_events_phy_total: whole(N.linkDowns),
  rx_pause_ctrl_phy_total: whole(N.rxPauses),
  tx_pause_ctrl_phy_total: whole(N.txPauses),
  tx_pause_storm_warning_events_total: whole(N.stormWarnings),
  tx_pause_storm_error_events_total: whole(N.stormErrors),
  rx_buffer_passed_thres_phy_total: whole(N.bufferPassed),
  rx_vport_rdma_unicast_bytes_total: rdmaBytes(N.rxData, N.rxAck),
  tx_vport_rdma_unicast_bytes_total: rdmaBytes(N.txData, N.txAck),
  rx_vport_rdma_unicast_packets_total: sum([N.rxData, 1], [N.rxAck, 1]),
  tx_vport_rdma_unicast_packets_total: sum([N.txData, 1], [N.txAck, 1]),
  rx_pci_signal_integrity_total: whole(N.recoveries),
  tx_pci_signal_integrity_total: none,
  outbound_pci_stalled_rd_ratio: fraction(N.stallRatio, 0.3),
  outbound_pci_stalled_wr_ratio: fraction(N.stallRatio),
  outbound_pci_stalled_rd_events_total: none,
  outbound_pci_stalled_wr_events_total: whole(N.stallEvents),
}

const PRIORITIES_IN_USE: Readonly<Record<number, Columns>> = {
  0: {
    rx_bytes_total: sum(...priority0RxBytes),
    tx_bytes_total: sum(...priority0TxBytes),
    rx_packets_total: whole(N.rxManagement),
    tx_packets_total: sum([N.txManagement, 1], [N.txOther, 1]),
    ...UNTROUBLED,
  },
  3: {
    rx_bytes_total: sum(...priority3Bytes(N.rxData, N.rxAck)),
    tx_bytes_total: sum(...priority3Bytes(N.txData, N.txAck)),
    rx_packets_total: sum([N.rxData, 1], [N.rxAck, 1]),
    tx_packets_total: sum([N.txData, 1], [N.txAck, 1]),
    rx_pause_total: whole(N.rxPauses),
    tx_pause_total: whole(N.txPauses),
    rx_pause_seconds_total: fraction(N.rxPauseS),
    tx_pause_seconds_total: fraction(N.txPauseS),
    rx_pause_transition_total: whole(N.rxPauses),
    rx_discards_total: whole(N.discards),
    rx_buf_discard_total: whole(N.discards),
    rx_cong_discard_total: none,
    rx_marked_total: none,
  },
  6: {
    rx_bytes_total: sum(...priority6RxBytes),
    tx_bytes_total: sum(...priority6TxBytes),
    rx_packets_total: whole(N.throttled),
    tx_packets_total: whole(N.cnpSent),
    ...UNTROUBLED,
  },
}

/** How `ethtool_priority` is filled, by priority: an adapter tells all eight. */
export const ETHTOOL_PRIORITY_COLUMNS: readonly Columns[] = Array.from(
  { length: 8 },
  (_, priority) => PRIORITIES_IN_USE[priority] ?? UNUSED,
)

/** How `netdev` is filled: what the kernel's own stack sends and receives, without RDMA. */
export const NETDEV_COLUMNS: Columns = {
  ...Object.fromEntries(
    ['errors', 'dropped', 'fifo', 'compressed'].flatMap((name): [string, Column][] => [
      [`rx_${name}_total`, none],
      [`tx_${name}_total`, none],
    ]),
  ),
  rx_bytes_total: sum(...priority0RxBytes),
  rx_packets_total: whole(N.rxManagement),
  rx_frame_total: none,
  rx_multicast_total: none,
  tx_bytes_total: sum([N.txManagement, MANAGEMENT]),
  tx_packets_total: whole(N.txManagement),
  tx_collisions_total: none,
  tx_carrier_total: none,
  up: whole(N.up),
  carrier: whole(N.up),
  speed_bytes: fraction(N.speed),
  carrier_changes_total: { sum: [[N.carrierChanges, 1]], since: 2 },
}
