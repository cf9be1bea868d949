import { ethtoolLaneType, ethtoolLinkType, ethtoolPortType, ethtoolPriorityType } from '../../ethtool/type.ts'
import type { NicPlace } from '../classes/node-class.ts'
import { COUNTERS as N } from '../observe/nic-reading.ts'
import { zeros } from './column.ts'
import { LANES, type NicColumns, type NicPort, type NicTable, portsOf } from './nic-table.ts'
import { PORT, PRIORITY_BYTES, RDMA } from './packets.ts'

const ETHTOOL_LINK: NicColumns<typeof ethtoolLinkType> = {
  detected: ({ live }) => (live.isUp ? 1 : 0),
  speed_bytes_per_second: ({ live }) => live.speedBytesPerS,
}

const ETHTOOL_PORT: NicColumns<typeof ethtoolPortType> = {
  ...zeros(
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
    'tx_pci_signal_integrity',
    'outbound_pci_stalled_rd_seconds',
  ),
  rx_phy_bytes_total: PORT.rxBytes,
  tx_phy_bytes_total: PORT.txBytes,
  rx_packets_phy_total: PORT.rxPackets,
  tx_packets_phy_total: PORT.txPackets,
  rx_crc_errors_phy_total: ({ live }) => Math.floor(live.count(N.effectiveErrors) * 0.2),
  rx_symbol_err_phy_total: ({ live }) => Math.floor(live.count(N.effectiveErrors) * 0.2),
  rx_pcs_symbol_err_phy_total: 'effectiveErrors',
  rx_corrected_bits_phy_total: { lane0: 1, lane1: 1, lane2: 1, lane3: 1 },
  rx_bits_phy_total: 'bits',
  rx_discards_phy_total: 'discards',
  link_down_events_phy_total: 'linkDowns',
  rx_pause_ctrl_phy_total: 'rxPauses',
  tx_pause_ctrl_phy_total: 'txPauses',
  tx_pause_storm_warning_events_total: 'stormWarnings',
  tx_pause_storm_error_events_total: 'stormErrors',
  rx_buffer_passed_thres_phy_total: 'bufferPassed',
  rx_vport_rdma_unicast_bytes_total: RDMA.rxBytes,
  tx_vport_rdma_unicast_bytes_total: RDMA.txBytes,
  rx_vport_rdma_unicast_packets_total: RDMA.rxPackets,
  tx_vport_rdma_unicast_packets_total: RDMA.txPackets,
  rx_pci_signal_integrity_total: (nic) => nic.recoveries,
  outbound_pci_stalled_rd_ratio: (nic) => 0.3 * nic.stallRatio,
  outbound_pci_stalled_wr_ratio: (nic) => nic.stallRatio,
  outbound_pci_stalled_wr_seconds_total: 'stallEvents',
}

type PriorityColumns = NicColumns<typeof ethtoolPriorityType>

/** A priority without pauses and drops. */
const UNTROUBLED = zeros('rx_discards', 'rx_buf_discard', 'rx_cong_discard', 'rx_marked')
/** A priority without traffic. */
const UNUSED: PriorityColumns = { ...zeros('rx_bytes', 'tx_bytes', 'rx_packets', 'tx_packets'), ...UNTROUBLED }

/** See {@link PRIORITY_BYTES} for the traffic of each priority. */
const ETHTOOL_PRIORITY: Readonly<Record<number, PriorityColumns>> = {
  0: {
    rx_bytes_total: PRIORITY_BYTES[0].rx,
    tx_bytes_total: PRIORITY_BYTES[0].tx,
    rx_packets_total: 'rxManagement',
    tx_packets_total: { txManagement: 1, txOther: 1, txUnguardedData: 1, txUnguardedAck: 1 },
    ...UNTROUBLED,
  },
  3: {
    rx_bytes_total: PRIORITY_BYTES[3].rx,
    tx_bytes_total: PRIORITY_BYTES[3].tx,
    rx_packets_total: RDMA.rxPackets,
    tx_packets_total: { txData: 1, txAck: 1 },
    rx_pause_total: 'rxPauses',
    tx_pause_total: 'txPauses',
    rx_pause_seconds_total: 'rxPauseS',
    tx_pause_seconds_total: 'txPauseS',
    rx_pause_transition_total: 'rxPauses',
    rx_discards_total: 'discards',
    rx_buf_discard_total: 'discards',
    ...zeros('rx_cong_discard', 'rx_marked'),
  },
  6: {
    rx_bytes_total: PRIORITY_BYTES[6].rx,
    tx_bytes_total: PRIORITY_BYTES[6].tx,
    rx_packets_total: 'throttled',
    tx_packets_total: 'cnpSent',
    ...UNTROUBLED,
  },
}

const PAUSES = ['pause_total', 'pause_seconds_total'].flatMap((name) => [`rx_${name}`, `tx_${name}`])
const NO_PAUSE = Object.fromEntries(
  [...PAUSES, 'rx_pause_transition_total'].map((field) => [field, 'flow control is off for the priority']),
)
const NO_GLOBAL_PAUSE = Object.fromEntries(
  Object.keys(NO_PAUSE).map((field) => [
    field.replace('_pause_', '_global_pause_'),
    'priorities are paused here, not the port as a whole',
  ]),
)

/** Records of ports from their driver: each adapter has eight priorities. */
export function ethtoolTables(nics: readonly NicPlace[]): NicTable[] {
  const ports = portsOf(nics)
  return [
    { type: ethtoolLinkType, columns: ETHTOOL_LINK, rows: ports.map(linkRow) },
    {
      type: ethtoolPortType,
      columns: ETHTOOL_PORT,
      rows: ports.map((port) => ({ ...port, labels: { device: port.netdev }, reasons: NO_GLOBAL_PAUSE })),
    },
    ...Array.from({ length: 8 }, (_, priority) => ({
      type: ethtoolPriorityType,
      columns: ETHTOOL_PRIORITY[priority] ?? UNUSED,
      rows: ports.map((port) => ({ ...port, labels: { device: port.netdev, priority }, reasons: NO_PAUSE })),
    })),
    ...LANES.map((lane) => ({
      type: ethtoolLaneType,
      columns: { rx_err_phy_total: `lane${lane}` },
      rows: ports
        .filter(({ nic }) => lane < nic.model.lanes)
        .map((port) => ({ ...port, labels: { device: port.netdev, lane } })),
    })),
  ]
}

function linkRow(port: NicPort) {
  const { lanes, firmware } = port.nic.model
  const facts = {
    responsive: 1,
    full_duplex: 1,
    autonegotiation: 1,
    lanes,
    port_kind: 'fibre',
    driver: 'mlx5_core',
    driver_version: '6.8.0-60-generic',
    firmware,
    address: port.address,
  }
  return { ...port, labels: { device: port.netdev }, facts, reasons: { speed_bytes_per_second: 'the link is down' } }
}
