import { counter, defineType, gauge, label, labelNumber, optional, text, timestamp } from '@sonde/sdk'

const entity = { kind: 'nic', key: ['rdma_device', 'port'] }

const count = (help: string) => optional(counter('u64', { help }))
/** A counter whose metric has the prefix of the neighbouring type, because both types have the same series. */
const portCount = (name: string, help: string) => optional(counter('u64', { metric: `rdma_port_${name}_total`, help }))
const hwCount = (name: string, help: string) => optional(counter('u64', { metric: `rdma_hw_${name}_total`, help }))
const bytes = (help: string) => optional(counter('u64', { unit: 'bytes', help }))
const word = (help: string) => optional(text({ help }))
const rdmaDevice = () => label('Name of the RDMA device, such as mlx5_0')
const port = (help = 'Number of the port, from 1') => labelNumber('u32', help)

/** Identity, link and traffic of a port, which every sweep reads. */
export const rdmaPortType = defineType(
  'rdma_port',
  'Identity, link and traffic of one port of an RDMA device',
  {
    time: timestamp(),
    rdma_device: rdmaDevice(),
    port: port(),
    link_layer: word('InfiniBand or Ethernet'),
    netdevs: word('Network interfaces of the port, separated by blanks'),
    address: word('PCI address of the device, such as 0000:9a:00.0'),
    driver: word('Driver of the device, such as mlx5_core'),
    firmware: word('Version of the firmware'),
    model: word('Model of the device, such as MT4129'),
    board: word('Id of the board, for mlx5 its PSID'),
    node_guid: word('GUID of the device, such as 946d:ae03:0018:1e40'),
    state: optional(
      gauge('u8', { help: 'Logical state: 1 down, 2 initialising, 3 armed, 4 active, 5 active and deferred' }),
    ),
    phys_state: optional(
      gauge('u8', {
        help: 'Physical state: 1 sleep, 2 polling, 3 disabled, 4 training, 5 link up, 6 error recovery, 7 physical test',
      }),
    ),
    rate_bytes_per_second: optional(
      gauge('u64', { unit: 'bytes_per_second', help: 'Rate of the link in bytes per second' }),
    ),
    width_lanes: optional(gauge('u8', { help: 'Lanes of the link in use' })),
    signalling: word('Generation of the signalling, such as NDR'),
    xmit_data_bytes_total: bytes('Bytes sent, all virtual lanes, without link overhead'),
    rcv_data_bytes_total: bytes('Bytes received, all virtual lanes, without link overhead'),
    saturated_counters: gauge('u8', {
      help: 'Number of counters of the port that stand at their maximum, so they no longer rise',
    }),
    saturated: text({ help: 'Names of the counters that stand at their maximum, separated by blanks' }),
    turn_age_seconds: gauge('f64', {
      unit: 'seconds',
      help: 'Age of the values that are read in turns: all except state, bytes, packet_seq_err and rp_cnp_handled',
    }),
  },
  {
    entity: {
      ...entity,
      defines: true,
      joins: [
        { by: 'pci', field: 'address' },
        { by: 'netdev', field: 'netdevs', isList: true },
      ],
    },
    core: [
      'state',
      'phys_state',
      'rate_bytes_per_second',
      'width_lanes',
      'xmit_data_bytes_total',
      'rcv_data_bytes_total',
    ],
  },
)

/**
 * The other counters that every driver has, with a record for each read. Nodes with very many ports do not read them in
 * every sweep.
 */
export const rdmaPortCountersType = defineType(
  'rdma_port_counters',
  'Counters of one port of an RDMA device that are read in turns',
  {
    time: timestamp(),
    rdma_device: rdmaDevice(),
    port: port(),
    xmit_packets_total: portCount('xmit_packets', 'Packets sent, possibly including packets with errors'),
    rcv_packets_total: portCount('rcv_packets', 'Packets received, possibly including packets with errors'),
    unicast_xmit_packets_total: portCount('unicast_xmit_packets', 'Unicast packets sent'),
    unicast_rcv_packets_total: portCount('unicast_rcv_packets', 'Unicast packets received'),
    multicast_xmit_packets_total: portCount('multicast_xmit_packets', 'Multicast packets sent'),
    multicast_rcv_packets_total: portCount('multicast_rcv_packets', 'Multicast packets received'),
    xmit_wait_ticks_total: portCount(
      'xmit_wait_ticks',
      'Ticks in which the port had data but no credits or arbitration to send it',
    ),
    xmit_discards_total: portCount(
      'xmit_discards',
      'Packets not sent because the port was down or congested; stays at 65 535',
    ),
    xmit_constraint_errors_total: portCount(
      'xmit_constraint_errors',
      'Packets not sent because a switch port filters them; stays at 255',
    ),
    rcv_discards_total: portCount(
      'rcv_discards',
      'Packets received and dropped, because no buffer was free or for other reasons',
    ),
    rcv_errors_total: portCount('rcv_errors', 'Packets received with an error; stays at 65 535'),
    rcv_remote_physical_errors_total: portCount(
      'rcv_remote_physical_errors',
      'Packets received that an earlier hop marked as bad; stays at 65 535',
    ),
    rcv_switch_relay_errors_total: portCount(
      'rcv_switch_relay_errors',
      'Packets received that could not be relayed; stays at 65 535',
    ),
    rcv_constraint_errors_total: portCount(
      'rcv_constraint_errors',
      'Packets received that a switch port filters; stays at 255',
    ),
    symbol_error_total: portCount('symbol_error', 'Minor link errors on the lanes; stays at 65 535'),
    link_error_recovery_total: portCount(
      'link_error_recovery',
      'Times the link recovered from errors by training; stays at 255',
    ),
    link_downed_total: portCount('link_downed', 'Times the link failed to recover and went down; stays at 255'),
    local_link_integrity_errors_total: portCount(
      'local_link_integrity_errors',
      'Times the local physical errors passed their threshold; stays at 15',
    ),
    excessive_buffer_overrun_errors_total: portCount(
      'excessive_buffer_overrun_errors',
      'Times the input buffers overran in a row; stays at 15',
    ),
    vl15_dropped_total: portCount(
      'vl15_dropped',
      'Management packets dropped because no buffer was free; stays at 65 535',
    ),
  },
  {
    inTurns: true,
    entity,
    core: [
      'xmit_packets_total',
      'rcv_packets_total',
      'xmit_wait_ticks_total',
      'symbol_error_total',
      'link_downed_total',
    ],
  },
)

const HW_PORT = 'Number of the port, from 1; 0 for the counters of the device as a whole'

/**
 * The counters that first show lost packets or slowed senders. Every sweep reads them; with very many ports, every
 * second sweep. There is a record only when the driver has new values.
 */
export const rdmaHwFirstType = defineType(
  'rdma_hw_first',
  'Hardware counters of RDMA that are read first',
  {
    time: timestamp(),
    rdma_device: rdmaDevice(),
    port: port(HW_PORT),
    packet_seq_err_total: hwCount('packet_seq_err', 'NAKs received for packets out of sequence, with retries left'),
    rp_cnp_handled_total: hwCount('rp_cnp_handled', 'Congestion notifications handled by slowing a sender down'),
  },
  { inTurns: true, entity },
)

/** Hardware counters of RDMA under the names of mlx5, with a record for each read. */
export const rdmaHwType = defineType(
  'rdma_hw',
  'Hardware counters of RDMA on one port',
  {
    time: timestamp(),
    rdma_device: rdmaDevice(),
    port: port(HW_PORT),
    rx_write_requests_total: count('RDMA write requests received'),
    rx_read_requests_total: count('RDMA read requests received'),
    rx_atomic_requests_total: count('Atomic requests received'),
    rx_dct_connect_total: count('Connection requests received for a dynamically connected target'),
    out_of_buffer_total: count('Packets dropped because no receive work request was posted'),
    out_of_sequence_total: count('Packets received out of order'),
    duplicate_request_total: count('Request packets received that had been executed already'),
    rnr_nak_retry_err_total: count('Receiver-not-ready NAKs received, with retries left'),
    implied_nak_seq_err_total: count('Acknowledgements received beyond a read or atomic response that is still open'),
    local_ack_timeout_err_total: count('Times the acknowledgement timer of a sender expired'),
    resp_local_length_error_total: count('Times the responder found a local length error'),
    resp_cqe_error_total: count('Completions of the responder with an error'),
    resp_cqe_flush_error_total: count('Completions of the responder that were flushed'),
    resp_remote_access_errors_total: count('Times the responder found a remote access error'),
    req_cqe_error_total: count('Completions of the requester with an error'),
    req_cqe_flush_error_total: count('Completions of the requester that were flushed'),
    req_remote_invalid_request_total: count('Times the requester got an invalid-request error'),
    req_remote_access_errors_total: count('Times the requester got a remote access error'),
    req_transport_retries_exceeded_total: count('Times the requester gave up after its transport retries'),
    req_rnr_retries_exceeded_total: count('Times the requester gave up after its receiver-not-ready retries'),
    roce_adp_retrans_total: count('Adaptive retransmissions of RoCE'),
    roce_adp_retrans_to_total: count('Times RoCE reached a timeout because of adaptive retransmission'),
    roce_slow_restart_total: count('Times RoCE restarted slowly'),
    roce_slow_restart_cnps_total: count('Congestion notifications made by slow restart'),
    roce_slow_restart_trans_total: count('Times RoCE changed into slow restart'),
    rp_cnp_ignored_total: count('Congestion notifications received and ignored'),
    np_ecn_marked_roce_packets_total: count('RoCE packets received with a congestion mark'),
    np_cnp_sent_total: count('Congestion notifications sent'),
    rx_icrc_encapsulated_total: count('RoCE packets received with a wrong invariant checksum'),
    cc_rx_ce_pkts_total: count('Packets received with a congestion mark; off until an operator turns it on'),
    cc_rx_cnp_pkts_total: count('Congestion notifications received; off until an operator turns it on'),
    cc_tx_cnp_pkts_total: count('Congestion notifications sent; off until an operator turns it on'),
    tx_packets_total: count('RDMA packets sent; off until an operator turns it on'),
    tx_bytes_total: bytes('RDMA bytes sent; off until an operator turns it on'),
    rx_packets_total: count('RDMA packets received; off until an operator turns it on'),
    rx_bytes_total: bytes('RDMA bytes received; off until an operator turns it on'),
    lifespan_seconds: optional(
      gauge('f64', { unit: 'seconds', help: 'Time for which the driver repeats its last values' }),
    ),
  },
  {
    inTurns: true,
    entity,
    core: [
      'out_of_buffer_total',
      'out_of_sequence_total',
      'duplicate_request_total',
      'rnr_nak_retry_err_total',
      'local_ack_timeout_err_total',
      'req_transport_retries_exceeded_total',
      'roce_adp_retrans_total',
      'rp_cnp_ignored_total',
      'np_ecn_marked_roce_packets_total',
      'np_cnp_sent_total',
      'rx_icrc_encapsulated_total',
      'tx_bytes_total',
    ],
  },
)

/** Every other hardware counter: counters of other drivers, and new counters. */
export const rdmaDriverType = defineType(
  'rdma_driver',
  'A hardware counter under the name of its RDMA driver',
  {
    time: timestamp(),
    rdma_device: rdmaDevice(),
    port: port(HW_PORT),
    counter: label('Name of the counter in its driver'),
    statistic: counter('u64', { metricType: 'unknown', help: 'Value of the counter' }),
  },
  { inTurns: true, entity, core: [] },
)
