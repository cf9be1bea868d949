import type { MetricQuery } from '@sonde/sdk/api'

const rate = (metric: string): MetricQuery => ({ metric, function: 'rate' })
const last = (metric: string): MetricQuery => ({ metric, function: 'last' })

/** Several priorities of a port report the same pause, so the worst counts. */
const worst = (metric: string): MetricQuery => ({ ...rate(metric), by: ['device', 'simulated'], aggregate: 'max' })

/** The queries about GPUs: one per signal for all GPUs. */
export const GPU_QUERIES = {
  sm: last('DCGM_FI_PROF_SM_ACTIVE'),
  tensor: last('DCGM_FI_PROF_PIPE_TENSOR_ACTIVE'),
  dram: last('DCGM_FI_PROF_DRAM_ACTIVE'),
  utilisation: last('DCGM_FI_DEV_GPU_UTIL'),
  power: last('DCGM_FI_DEV_POWER_USAGE'),
  temperature: last('DCGM_FI_DEV_GPU_TEMP'),
  clock: last('DCGM_FI_DEV_SM_CLOCK'),
  memoryUsed: last('DCGM_FI_DEV_FB_USED'),
  memoryTotal: last('DCGM_FI_DEV_FB_TOTAL'),
  pcieSent: last('DCGM_FI_PROF_PCIE_TX_BYTES'),
  pcieReceived: last('DCGM_FI_PROF_PCIE_RX_BYTES'),
  nvlinkSent: last('DCGM_FI_PROF_NVLINK_TX_BYTES'),
  nvlinkReceived: last('DCGM_FI_PROF_NVLINK_RX_BYTES'),
} as const satisfies Record<string, MetricQuery>

/** The queries about NICs. */
export const NIC_QUERIES = {
  sent: rate('rdma_port_xmit_data_bytes_total'),
  received: rate('rdma_port_rcv_data_bytes_total'),
  sequenceErrors: rate('rdma_hw_packet_seq_err_total'),
  retransmissions: rate('rdma_hw_roce_adp_retrans_total'),
  timeouts: rate('rdma_hw_local_ack_timeout_err_total'),
  state: last('rdma_port_state'),
  lineRate: last('rdma_port_rate_bytes_per_second'),
  symbolErrors: rate('rdma_port_symbol_error_total'),
  checksumErrors: rate('ethtool_port_rx_crc_errors_phy_total'),
  discards: rate('ethtool_port_rx_discards_phy_total'),
  paused: worst('ethtool_priority_rx_pause_seconds_total'),
  pausing: worst('ethtool_priority_tx_pause_seconds_total'),
  interfaceSent: rate('netdev_tx_bytes_total'),
  interfaceReceived: rate('netdev_rx_bytes_total'),
} as const satisfies Record<string, MetricQuery>

/** The queries about PCIe links. */
export const LINK_QUERIES = {
  speed: last('pci_device_current_link_speed_transfers_per_second'),
  speedMax: last('pci_device_max_link_speed_transfers_per_second'),
  width: last('pci_device_current_link_width_lanes'),
  widthMax: last('pci_device_max_link_width_lanes'),
  bandwidth: last('pci_device_current_link_bandwidth_bytes_per_second'),
} as const satisfies Record<string, MetricQuery>

/** Every question about devices. */
export const DEVICE_QUERIES = { ...GPU_QUERIES, ...NIC_QUERIES, ...LINK_QUERIES } as const

/** A signal of a device. */
export type DeviceSignal = keyof typeof DEVICE_QUERIES
