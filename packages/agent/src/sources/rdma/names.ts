import type { RecordOf } from '@sonde/sdk'
import type { rdmaHwFirstType, rdmaHwType, rdmaPortCountersType, rdmaPortType } from './type.ts'

/** Fields of a type that are counters. */
type CounterOf<T> = Extract<keyof RecordOf<T>, `${string}_total`>

/** A counter of `rdma_port` or `rdma_port_counters`. */
export type PortField = CounterOf<typeof rdmaPortType> | CounterOf<typeof rdmaPortCountersType>
/** A counter of `rdma_hw_first` or `rdma_hw`. */
export type HwField = CounterOf<typeof rdmaHwFirstType> | CounterOf<typeof rdmaHwType>

/** How the file of a counter is read. */
export interface CounterForm<F extends string> {
  readonly field: F
  /**
   * Width of a counter that stays at its maximum; 32 for `data` counters of old devices. Undefined if it does not stay
   * there.
   */
  readonly stuckBits?: number
  /** Bytes that a count of 1 means. */
  readonly bytes?: number
  /** Whether the device keeps 32 bits that wrap. */
  readonly wraps?: boolean
  /** Whether it is read in every sweep, instead of in turns if there are very many ports. */
  readonly frequent?: boolean
}

/** A `data` counter counts words of four bytes, on every kind of link. */
const WORD_BYTES = 4

/**
 * Counters of `ports/N/counters` by file. Their widths are those of the InfiniBand attribute PortCounters, whose
 * counters stay at their maximum.
 */
export const PORT_COUNTERS: ReadonlyMap<string, CounterForm<PortField>> = new Map<string, CounterForm<PortField>>([
  ['port_xmit_data', { field: 'xmit_data_bytes_total', bytes: WORD_BYTES, stuckBits: 32, frequent: true }],
  ['port_rcv_data', { field: 'rcv_data_bytes_total', bytes: WORD_BYTES, stuckBits: 32, frequent: true }],
  ['port_xmit_packets', { field: 'xmit_packets_total', stuckBits: 32 }],
  ['port_rcv_packets', { field: 'rcv_packets_total', stuckBits: 32 }],
  ['unicast_xmit_packets', { field: 'unicast_xmit_packets_total' }],
  ['unicast_rcv_packets', { field: 'unicast_rcv_packets_total' }],
  ['multicast_xmit_packets', { field: 'multicast_xmit_packets_total' }],
  ['multicast_rcv_packets', { field: 'multicast_rcv_packets_total' }],
  ['port_xmit_wait', { field: 'xmit_wait_ticks_total', stuckBits: 32 }],
  ['port_xmit_discards', { field: 'xmit_discards_total', stuckBits: 16 }],
  ['port_xmit_constraint_errors', { field: 'xmit_constraint_errors_total', stuckBits: 8 }],
  ['port_rcv_discards', { field: 'rcv_discards_total' }],
  ['port_rcv_errors', { field: 'rcv_errors_total', stuckBits: 16 }],
  ['port_rcv_remote_physical_errors', { field: 'rcv_remote_physical_errors_total', stuckBits: 16 }],
  ['port_rcv_switch_relay_errors', { field: 'rcv_switch_relay_errors_total', stuckBits: 16 }],
  ['port_rcv_constraint_errors', { field: 'rcv_constraint_errors_total', stuckBits: 8 }],
  ['symbol_error', { field: 'symbol_error_total', stuckBits: 16 }],
  ['link_error_recovery', { field: 'link_error_recovery_total', stuckBits: 8 }],
  ['link_downed', { field: 'link_downed_total', stuckBits: 8 }],
  ['local_link_integrity_errors', { field: 'local_link_integrity_errors_total', stuckBits: 4 }],
  ['excessive_buffer_overrun_errors', { field: 'excessive_buffer_overrun_errors_total', stuckBits: 4 }],
  ['VL15_dropped', { field: 'vl15_dropped_total', stuckBits: 16 }],
])

/**
 * Counters of `hw_counters` that count the traffic of a port, by file. efa, bnxt_re and mana have no folder `counters`
 * and count bytes and packets here; erdma does so with `_cnt` at the end of the names.
 */
export const HW_PORT_COUNTERS: ReadonlyMap<string, CounterForm<PortField>> = new Map(
  ['', '_cnt'].flatMap((end): [string, CounterForm<PortField>][] => [
    [`tx_bytes${end}`, { field: 'xmit_data_bytes_total', frequent: true }],
    [`rx_bytes${end}`, { field: 'rcv_data_bytes_total', frequent: true }],
    [end === '' ? 'tx_pkts' : 'tx_packets_cnt', { field: 'xmit_packets_total' }],
    [end === '' ? 'rx_pkts' : 'rx_packets_cnt', { field: 'rcv_packets_total' }],
  ]),
)

const queue = (...names: readonly string[]) => names.map((name) => hw(name, { wraps: true }))
const wide = (...names: readonly string[]) => names.map((name) => hw(name, {}))
/** The counters that first show lost packets or slowed senders. */
const FREQUENT: ReadonlySet<string> = new Set(['packet_seq_err', 'rp_cnp_handled'])

function hw(name: string, form: Omit<CounterForm<HwField>, 'field'>): [string, CounterForm<HwField>] {
  // Avoids `rdma_hw_rdma_tx_bytes_total`.
  const field = `${name.replace(/^rdma_/, '')}_total` as HwField
  return [name, { ...form, field, frequent: FREQUENT.has(name) }]
}

/** Counters of `hw_counters` by file, under the names of mlx5. mlx5 keeps the counters of queues in 32 bits. */
export const HW_COUNTERS: ReadonlyMap<string, CounterForm<HwField>> = new Map([
  ...queue('rx_write_requests', 'rx_read_requests', 'rx_atomic_requests', 'rx_dct_connect', 'out_of_buffer'),
  ...queue('out_of_sequence', 'duplicate_request', 'rnr_nak_retry_err', 'packet_seq_err', 'implied_nak_seq_err'),
  ...queue('local_ack_timeout_err', 'resp_local_length_error', 'resp_cqe_error', 'resp_cqe_flush_error'),
  ...queue('resp_remote_access_errors', 'req_cqe_error', 'req_cqe_flush_error', 'req_remote_invalid_request'),
  ...queue('req_remote_access_errors', 'req_transport_retries_exceeded', 'req_rnr_retries_exceeded'),
  ...queue('roce_adp_retrans', 'roce_adp_retrans_to'),
  ...queue('roce_slow_restart', 'roce_slow_restart_cnps', 'roce_slow_restart_trans'),
  ...wide('rp_cnp_handled', 'rp_cnp_ignored', 'np_ecn_marked_roce_packets', 'np_cnp_sent', 'rx_icrc_encapsulated'),
  ...wide('cc_rx_ce_pkts', 'cc_rx_cnp_pkts', 'cc_tx_cnp_pkts'),
  ...wide('rdma_tx_packets', 'rdma_tx_bytes', 'rdma_rx_packets', 'rdma_rx_bytes'),
])
