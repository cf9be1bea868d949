import type { Labels } from '@sonde/sdk'
import { podGpuNicType } from '../../pods/type.ts'
import { dcbPortType } from '../../sources/dcb/type.ts'
import { docaPhyType } from '../../sources/doca-telemetry-phy/type.ts'
import { ethtoolLaneType, ethtoolLinkType, ethtoolPortType, ethtoolPriorityType } from '../../sources/ethtool/type.ts'
import {
  hostCpuPackageType,
  hostDiskType,
  hostMemoryControllerType,
  hostPressureType,
} from '../../sources/host/type.ts'
import { netdevCarrierType, netdevType } from '../../sources/netdev/type.ts'
import {
  nvmlDoubtType,
  nvmlGpuInfoType,
  nvmlGpuType,
  nvmlMigType,
  nvmlProfileType,
  nvmlXidType,
} from '../../sources/nvml/type.ts'
import { pciAerType, pciDeviceType } from '../../sources/pci/type.ts'
import { rdmaHwFirstType, rdmaHwType, rdmaPortCountersType, rdmaPortType } from '../../sources/rdma/type.ts'
import { counterSignal, gaugeSignal, type HintSignal } from './signal.ts'

/** Highest rate of a time counter in nanoseconds. Unit: per second. */
const NANOSECOND_RATE_MAX = 2e9
/** FEC corrects at most a few per mille of 425 Gb/s. Unit: bits per second. */
const BIT_RATE_MAX = 1e10
const SECOND_RATE_MAX = 2
/** On a port with a single pause state, several priorities report the same pause. The largest value counts. */
const PAUSE = { across: 'max', rateMax: SECOND_RATE_MAX } as const
const EVENTS = { past: 'events' } as const
/** A VLAN or bond reports the same carrier as the interface below it. The largest value counts. */
const CARRIER_EVENTS = { across: 'max', past: 'events' } as const
/** The kernel adds the throttled time of a package at its end, so it rises in large steps. */
const HOTTEST = { across: 'max', rateMax: 86_400 } as const

/** The first sample of the source contains all earlier XID errors. */
const TOLD_BEFORE_MS = 500
/** Earlier PCIe errors come with the first read of each device, which takes a source several samples. */
const COUNTED_BEFORE_MS = 5000

/** Signals of a GPU. */
export const GPU = {
  utilisation: gaugeSignal(nvmlGpuType, 'gpu_util'),
  smActive: gaugeSignal(nvmlProfileType, 'sm_active', { past: 'mean' }),
  tensorActive: gaugeSignal(nvmlProfileType, 'pipe_tensor_active', { past: 'mean' }),
  dramActive: gaugeSignal(nvmlProfileType, 'dram_active'),
  pcieSent: gaugeSignal(nvmlProfileType, 'pcie_tx_bytes'),
  pcieReceived: gaugeSignal(nvmlProfileType, 'pcie_rx_bytes'),
  power: gaugeSignal(nvmlGpuType, 'power_usage'),
  powerLimit: gaugeSignal(nvmlGpuType, 'enforced_power_limit'),
  powerLimitDefault: gaugeSignal(nvmlGpuInfoType, 'power_limit_default_watts'),
  clock: gaugeSignal(nvmlGpuType, 'sm_clock', { past: 'mean' }),
  clockMax: gaugeSignal(nvmlGpuInfoType, 'sm_clock_max_hertz'),
  temperature: gaugeSignal(nvmlGpuType, 'gpu_temp'),
  slowdownTemperature: gaugeSignal(nvmlGpuInfoType, 'slowdown_celsius'),
  memoryTemperature: gaugeSignal(nvmlGpuType, 'memory_temp'),
  memoryTemperatureMax: gaugeSignal(nvmlGpuInfoType, 'memory_max_operating_celsius'),
  reasons: gaugeSignal(nvmlGpuType, 'clocks_event_reasons'),
  powerCapped: counterSignal(nvmlGpuType, 'clocks_event_reason_sw_power_cap_ns', { rateMax: NANOSECOND_RATE_MAX }),
  thermalViolation: counterSignal(nvmlGpuType, 'thermal_violation', { rateMax: NANOSECOND_RATE_MAX }),
  softwareThermal: counterSignal(nvmlGpuType, 'clocks_event_reason_sw_therm_slowdown_ns', {
    rateMax: NANOSECOND_RATE_MAX,
  }),
  hardwareThermal: counterSignal(nvmlGpuType, 'clocks_event_reason_hw_therm_slowdown_ns', {
    rateMax: NANOSECOND_RATE_MAX,
  }),
  braked: counterSignal(nvmlGpuType, 'clocks_event_reason_hw_power_brake_slowdown_ns', {
    rateMax: NANOSECOND_RATE_MAX,
  }),
  memoryUsed: gaugeSignal(nvmlGpuType, 'fb_used'),
  linkGeneration: gaugeSignal(nvmlGpuType, 'pcie_link_gen'),
  linkWidth: gaugeSignal(nvmlGpuType, 'pcie_link_width'),
  linkGenerationMax: gaugeSignal(nvmlGpuInfoType, 'pcie_generation_max'),
  linkWidthMax: gaugeSignal(nvmlGpuInfoType, 'pcie_width_max_lanes'),
  replays: counterSignal(nvmlGpuType, 'pcie_replay_counter'),
  correctedErrors: counterSignal(nvmlGpuType, 'ecc_sbe_vol_total', EVENTS),
  uncorrectedErrors: counterSignal(nvmlGpuType, 'ecc_dbe_vol_total', EVENTS),
  remapPending: gaugeSignal(nvmlGpuType, 'row_remap_pending'),
  remapFailure: gaugeSignal(nvmlGpuType, 'row_remap_failure'),
  /** The last XID error; 0 if there was none since the driver was loaded. */
  lastXid: gaugeSignal(nvmlGpuType, 'xid_errors'),
  profilingDoubted: gaugeSignal(nvmlDoubtType, 'readings', {
    where: ({ doubt }) => doubt === 'profiling',
    labels: { doubt: 'profiling' },
  }),
  migMode: gaugeSignal(nvmlGpuType, 'mig_mode'),
  migInstances: gaugeSignal(nvmlMigType, 'fb_used'),
} as const

/** XID errors with certain numbers. */
export const XID = {
  lost: xidSignal(79),
  memory: xidSignal(48, 64, 94, 95, 140),
  device: xidSignal(74, 119, 120),
} as const

/** Signals of a NIC: its port, its interface and its PCIe link. */
export const NIC = {
  sentBytes: counterSignal(rdmaPortType, 'xmit_data_bytes_total', { past: 'mean' }),
  receivedBytes: counterSignal(rdmaPortType, 'rcv_data_bytes_total', { past: 'mean' }),
  sentPackets: counterSignal(rdmaPortCountersType, 'xmit_packets_total'),
  receivedPackets: counterSignal(rdmaPortCountersType, 'rcv_packets_total'),
  lineRate: gaugeSignal(rdmaPortType, 'rate_bytes_per_second', { past: 'mean' }),
  speed: gaugeSignal(ethtoolLinkType, 'speed_bytes_per_second', { past: 'mean' }),
  state: gaugeSignal(rdmaPortType, 'state'),
  linkDowned: counterSignal(rdmaPortCountersType, 'link_downed_total', EVENTS),
  symbolErrors: counterSignal(rdmaPortCountersType, 'symbol_error_total', EVENTS),
  sequenceErrors: counterSignal(rdmaHwFirstType, 'packet_seq_err_total'),
  acknowledgementTimeouts: counterSignal(rdmaHwType, 'local_ack_timeout_err_total'),
  adaptiveRetransmissions: counterSignal(rdmaHwType, 'roce_adp_retrans_total'),
  receiverNotReady: counterSignal(rdmaHwType, 'rnr_nak_retry_err_total'),
  marked: counterSignal(rdmaHwType, 'np_ecn_marked_roce_packets_total'),
  notificationsIgnored: counterSignal(rdmaHwType, 'rp_cnp_ignored_total'),
  checksumErrors: counterSignal(rdmaHwType, 'rx_icrc_encapsulated_total'),
  ownSentBytes: counterSignal(rdmaHwType, 'tx_bytes_total', { past: 'mean' }),
  portSentBytes: counterSignal(ethtoolPortType, 'tx_phy_bytes_total'),
  portRdmaSentBytes: counterSignal(ethtoolPortType, 'tx_vport_rdma_unicast_bytes_total', { past: 'mean' }),
  linkDownEvents: counterSignal(ethtoolPortType, 'link_down_events_phy_total', EVENTS),
  discards: counterSignal(ethtoolPortType, 'rx_discards_phy_total'),
  frameErrors: counterSignal(ethtoolPortType, 'rx_crc_errors_phy_total'),
  codingErrors: counterSignal(ethtoolPortType, 'rx_pcs_symbol_err_phy_total', EVENTS),
  correctedBits: counterSignal(ethtoolPortType, 'rx_corrected_bits_phy_total', { past: 'mean', rateMax: BIT_RATE_MAX }),
  stormErrors: counterSignal(ethtoolPortType, 'tx_pause_storm_error_events_total', EVENTS),
  writesStalled: gaugeSignal(ethtoolPortType, 'outbound_pci_stalled_wr_ratio'),
  rxPaused: counterSignal(ethtoolPriorityType, 'rx_pause_seconds_total', PAUSE),
  txPaused: counterSignal(ethtoolPriorityType, 'tx_pause_seconds_total', PAUSE),
  priorityBytes: counterSignal(ethtoolPriorityType, 'tx_bytes_total'),
  pfcMask: gaugeSignal(dcbPortType, 'pfc_mask'),
  laneErrors: counterSignal(ethtoolLaneType, 'rx_err_phy_total', { across: 'max', rateMax: BIT_RATE_MAX }),
  linkDetected: gaugeSignal(ethtoolLinkType, 'detected'),
  responsive: gaugeSignal(ethtoolLinkType, 'responsive'),
  rawErrorRate: gaugeSignal(docaPhyType, 'raw_bit_error_ratio', { past: 'mean' }),
  effectiveErrors: counterSignal(docaPhyType, 'effective_errors_total', EVENTS),
  netdevSentBytes: counterSignal(netdevType, 'tx_bytes_total'),
  netdevReceivedBytes: counterSignal(netdevType, 'rx_bytes_total'),
  carrierChanges: counterSignal(netdevCarrierType, 'carrier_changes_total', CARRIER_EVENTS),
  carrier: gaugeSignal(netdevType, 'carrier'),
  up: gaugeSignal(netdevType, 'up'),
} as const

/** Signals of the PCIe link of any device. */
export const PCI = {
  bandwidth: gaugeSignal(pciDeviceType, 'current_link_bandwidth_bytes_per_second'),
  bandwidthMax: gaugeSignal(pciDeviceType, 'max_link_bandwidth_bytes_per_second'),
  speed: gaugeSignal(pciDeviceType, 'current_link_speed_transfers_per_second'),
  speedMax: gaugeSignal(pciDeviceType, 'max_link_speed_transfers_per_second'),
  width: gaugeSignal(pciDeviceType, 'current_link_width_lanes'),
  widthMax: gaugeSignal(pciDeviceType, 'max_link_width_lanes'),
  /** Without advisory errors, which come from probing functions that do not exist. */
  correctable: aerSignal(({ severity, error }) => severity === 'correctable' && error !== 'NonFatalErr', 'correctable'),
  nonFatal: aerSignal(({ severity }) => severity === 'nonfatal', 'nonfatal'),
  fatal: aerSignal(({ severity }) => severity === 'fatal', 'fatal'),
} as const

/** Signals of a GPU of a pod, and of the closest NIC of the pod: a series for each pod that holds the GPU. */
export const POD = {
  sameSocket: gaugeSignal(podGpuNicType, 'same_socket'),
  gpuSocket: gaugeSignal(podGpuNicType, 'gpu_socket'),
  nicSocket: gaugeSignal(podGpuNicType, 'nic_socket'),
  gpuNumaNode: gaugeSignal(podGpuNicType, 'gpu_numa_node'),
  nicNumaNode: gaugeSignal(podGpuNicType, 'nic_numa_node'),
} as const

/** Signals of the host: waiting tasks, the busiest disk, memory errors and hot processors. */
export const HOST = {
  ioPressure: pressureSignal('io'),
  cpuPressure: pressureSignal('cpu'),
  memoryUncorrected: counterSignal(hostMemoryControllerType, 'uncorrected_errors_total', { across: 'max' }),
  memoryCorrected: counterSignal(hostMemoryControllerType, 'corrected_errors_total'),
  packageThrottled: counterSignal(hostCpuPackageType, 'throttled_seconds_total', HOTTEST),
  packageThrottles: counterSignal(hostCpuPackageType, 'throttles_total'),
  diskBusy: counterSignal(hostDiskType, 'io_seconds_total', { across: 'max', rateMax: SECOND_RATE_MAX }),
} as const

/** All signals of rules. Windows are kept only of these. */
export const SIGNALS: readonly HintSignal[] = [GPU, XID, NIC, PCI, POD, HOST].flatMap((signals) =>
  Object.values(signals),
)

function xidSignal(...numbers: readonly number[]) {
  const texts = new Set(numbers.map(String))
  return counterSignal(nvmlXidType, 'events_total', {
    ...EVENTS,
    bornAfterMs: TOLD_BEFORE_MS,
    where: ({ xid }) => texts.has(xid ?? ''),
    labels: { xid: [...texts].join('|') },
  })
}

function aerSignal(where: (labels: Labels) => boolean, severity: string) {
  return counterSignal(pciAerType, 'errors_total', {
    ...EVENTS,
    bornAfterMs: COUNTED_BEFORE_MS,
    where,
    labels: { severity },
  })
}

function pressureSignal(resource: string) {
  return counterSignal(hostPressureType, 'waiting_seconds_total', {
    rateMax: SECOND_RATE_MAX,
    where: (labels) => labels.resource === resource,
    labels: { resource },
  })
}
