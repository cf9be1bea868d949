import { TIMEOUT_EDGES } from '../../doca-adp-retx/type.ts'
import { READ_LATENCY_EDGES } from '../../doca-pci/type.ts'
import { PACKET_BYTES } from '../model/pace.ts'
import { LANE_READ, laneNumber, NIC_READ as N } from '../observe/readings.ts'
import { type Columns, constant, fraction, sum, whole } from './column.ts'

const none = constant(0)
/** Bytes on PCIe of a data packet: its own, and headers of the packets that carry it. */
const PCIE_PACKET_BYTES = 4342

/** Share of each bin where values lie around a middle, half of them within a bin of it. */
function sharesAround(middle: number, bins: number): number[] {
  const weights = Array.from({ length: bins }, (_, bin) => 2 ** -Math.abs(bin - middle))
  const total = weights.reduce((all, weight) => all + weight)
  return weights.map((weight) => weight / total)
}

/** Timeouts of adaptive retransmission take 1 to 20 ms. */
const TIMEOUT_SHARES = sharesAround(6, TIMEOUT_EDGES.length + 1)
/** Reads over PCIe take about a microsecond. */
const LATENCY_SHARES = sharesAround(2, READ_LATENCY_EDGES.length + 1)

export const DIAG_COLUMNS: Columns = {
  icmc_requests_total: whole(N.cacheRequests),
  icmc_hits_total: whole(N.cacheHits),
  icmc_misses_total: whole(N.cacheMisses),
  rx_cqes_total: whole(N.requests),
  tx_cqes_total: whole(N.requests),
  congestion_deschedules_total: whole(N.deschedules),
  host_receive_buffer_discards_total: whole(N.discards),
  transport_packets_total: sum([N.rxData, 1], [N.rxAck, 1]),
}

export const DIAG_PORT_COLUMNS: Columns = {
  rx_bytes_total: sum([N.rxData, PACKET_BYTES + 62], [N.rxAck, 82], [N.rxManagement, 90], [N.throttled, 78]),
  rx_packets_total: sum([N.rxData, 1], [N.rxAck, 1], [N.rxManagement, 1], [N.throttled, 1]),
  tx_bytes_total: sum(
    [N.txData, PACKET_BYTES + 62],
    [N.txAck, 82],
    [N.txManagement, 90],
    [N.txOther, PACKET_BYTES + 62],
    [N.cnpSent, 78],
  ),
  tx_packets_total: sum([N.txData, 1], [N.txAck, 1], [N.txManagement, 1], [N.txOther, 1], [N.cnpSent, 1]),
  rx_discard_packets_total: whole(N.discards),
  ecn_marked_packets_total: whole(N.marked),
  cnp_handled_packets_total: whole(N.throttled),
  cnp_sent_packets_total: whole(N.cnpSent),
}

export const DIAG_PRIORITY_COLUMNS: Columns = {
  rx_bytes_total: sum([N.rxData, PACKET_BYTES + 62], [N.rxAck, 82]),
  rx_packets_total: sum([N.rxData, 1], [N.rxAck, 1]),
  rx_pauses_total: whole(N.rxPauses),
  tx_bytes_total: sum([N.txData, PACKET_BYTES + 62], [N.txAck, 82]),
  tx_packets_total: sum([N.txData, 1], [N.txAck, 1]),
  tx_pauses_total: whole(N.txPauses),
}

/** Inbound is taken to be from the host here, which is a guess. */
export const DIAG_PCI_COLUMNS: Columns = {
  inbound_bytes_total: sum([N.txData, PCIE_PACKET_BYTES], [N.txAck, 24]),
  outbound_bytes_total: sum([N.rxData, PCIE_PACKET_BYTES], [N.rxAck, 24]),
  inbound_data_bytes_total: sum([N.txData, PACKET_BYTES]),
  outbound_data_bytes_total: sum([N.rxData, PACKET_BYTES]),
  write_data_credit_stall_seconds_total: fraction(N.stallS),
  write_header_credit_stall_seconds_total: fraction(N.stallS, 0.05),
  read_data_credit_stall_seconds_total: fraction(N.stallS, 0.01),
  read_header_credit_stall_seconds_total: fraction(N.stallS, 0.02),
  read_completion_stall_seconds_total: fraction(N.stallS, 0.3),
  read_ordering_stall_seconds_total: none,
  read_latency_seconds_total: fraction(N.readLatencyS),
  reads_total: whole(N.pcieReads),
  read_latency_max_seconds: fraction(N.latencyMaxS),
  read_latency_min_seconds: fraction(N.latencyMinS),
}

export const ADP_RETX_COLUMNS: Columns = {
  timeouts_total: whole(N.tails),
  timeout_seconds: { bins: N.tails, shares: TIMEOUT_SHARES },
}

export const DOCA_PCI_COLUMNS: Columns = {
  link_generation: whole(N.linkGeneration),
  link_width: whole(N.linkWidth),
  overflow_packets_total: whole(N.discards),
  overflow_marked_packets_total: none,
  rx_errors_total: whole(N.recoveries),
  tx_errors_total: none,
  crc_dllp_errors_total: none,
  crc_tlp_errors_total: whole(N.recoveries),
  l0_to_recovery_total: whole(N.recoveries),
  fec_correctable_errors_total: none,
  fec_uncorrectable_errors_total: none,
  outbound_stalled_reads_ratio: fraction(N.stallRatio, 0.3),
  outbound_stalled_writes_ratio: fraction(N.stallRatio),
  outbound_stalled_reads_events_total: none,
  outbound_stalled_writes_events_total: whole(N.stallEvents),
  read_latency_seconds: { bins: N.pcieReads, shares: LATENCY_SHARES },
}

export const PHY_COLUMNS: Columns = {
  link_up: whole(N.up),
  speed_bytes: whole(N.trainedSpeed),
  link_down_total: whole(N.linkDowns),
  link_recovery_total: whole(N.linkRecoveries),
  effective_errors_total: whole(N.effectiveErrors),
  raw_ber: fraction(N.rawBer),
  effective_ber: fraction(N.effectiveBer),
  temperature_celsius: fraction(N.moduleCelsius),
  supply_volts: fraction(N.moduleVolts),
}

/** Of one lane. */
export function laneColumns(lane: number): Columns {
  const of = (number: number) => fraction(laneNumber(lane, number))
  return {
    raw_errors_total: whole(N.lane0 + lane),
    raw_ber: of(LANE_READ.ber),
    tx_bias_amperes: of(LANE_READ.biasAmperes),
    tx_power_dbm: of(LANE_READ.txPowerDbm),
    rx_power_dbm: of(LANE_READ.rxPowerDbm),
    rx_los: whole(N.lightLost),
    snr_media_db: of(LANE_READ.signalDb),
  }
}

/** Counters of the congestion-control algorithm, by what it calls them. */
export const PCC_COUNTERS: Readonly<Record<string, number>> = {
  cnp_events: N.throttled,
  rtt_requests: N.requests,
  nack_events: N.lost,
}

/** Of a thread on the accelerator, which handles the algorithm's events. */
export const DPA_THREAD_COLUMNS: Columns = {
  active_seconds_total: fraction(N.dpaActiveS),
  cycles_total: sum([N.elapsedMs, 558_000]),
  instructions_total: sum([N.elapsedMs, 190_000]),
  executions_total: sum([N.throttled, 1], [N.requests, 1]),
}
