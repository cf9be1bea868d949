import type { Labels } from '@sonde/sdk'
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
import { counterOf, gaugeOf, type Signal } from './signal.ts'

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
  utilisation: gaugeOf(nvmlGpuType, 'gpu_util'),
  smActive: gaugeOf(nvmlProfileType, 'sm_active', { past: 'mean' }),
  tensorActive: gaugeOf(nvmlProfileType, 'pipe_tensor_active', { past: 'mean' }),
  dramActive: gaugeOf(nvmlProfileType, 'dram_active'),
  pcieSent: gaugeOf(nvmlProfileType, 'pcie_tx_bytes'),
  pcieReceived: gaugeOf(nvmlProfileType, 'pcie_rx_bytes'),
  power: gaugeOf(nvmlGpuType, 'power_usage'),
  powerLimit: gaugeOf(nvmlGpuType, 'enforced_power_limit'),
  powerLimitDefault: gaugeOf(nvmlGpuInfoType, 'power_limit_default_watts'),
  clock: gaugeOf(nvmlGpuType, 'sm_clock', { past: 'mean' }),
  clockMax: gaugeOf(nvmlGpuInfoType, 'sm_clock_max_hertz'),
  temperature: gaugeOf(nvmlGpuType, 'gpu_temp'),
  slowdownTemperature: gaugeOf(nvmlGpuInfoType, 'slowdown_celsius'),
  memoryTemperature: gaugeOf(nvmlGpuType, 'memory_temp'),
  memoryTemperatureMax: gaugeOf(nvmlGpuInfoType, 'memory_max_operating_celsius'),
  reasons: gaugeOf(nvmlGpuType, 'clocks_event_reasons'),
  powerCapped: counterOf(nvmlGpuType, 'clocks_event_reason_sw_power_cap_ns', { rateMax: NANOSECOND_RATE_MAX }),
  thermalViolation: counterOf(nvmlGpuType, 'thermal_violation', { rateMax: NANOSECOND_RATE_MAX }),
  softwareThermal: counterOf(nvmlGpuType, 'clocks_event_reason_sw_therm_slowdown_ns', { rateMax: NANOSECOND_RATE_MAX }),
  hardwareThermal: counterOf(nvmlGpuType, 'clocks_event_reason_hw_therm_slowdown_ns', { rateMax: NANOSECOND_RATE_MAX }),
  braked: counterOf(nvmlGpuType, 'clocks_event_reason_hw_power_brake_slowdown_ns', { rateMax: NANOSECOND_RATE_MAX }),
  memoryUsed: gaugeOf(nvmlGpuType, 'fb_used'),
  linkGeneration: gaugeOf(nvmlGpuType, 'pcie_link_gen'),
  linkWidth: gaugeOf(nvmlGpuType, 'pcie_link_width'),
  linkGenerationMax: gaugeOf(nvmlGpuInfoType, 'pcie_generation_max'),
  linkWidthMax: gaugeOf(nvmlGpuInfoType, 'pcie_width_max_lanes'),
  replays: counterOf(nvmlGpuType, 'pcie_replay_counter'),
  correctedErrors: counterOf(nvmlGpuType, 'ecc_sbe_vol_total', EVENTS),
  uncorrectedErrors: counterOf(nvmlGpuType, 'ecc_dbe_vol_total', EVENTS),
  remapPending: gaugeOf(nvmlGpuType, 'row_remap_pending'),
  remapFailure: gaugeOf(nvmlGpuType, 'row_remap_failure'),
  /** The last XID error; 0 if there was none since the driver was loaded. */
  lastXid: gaugeOf(nvmlGpuType, 'xid_errors'),
  profilingDoubted: gaugeOf(nvmlDoubtType, 'readings', {
    where: ({ doubt }) => doubt === 'profiling',
    labels: { doubt: 'profiling' },
  }),
  migMode: gaugeOf(nvmlGpuType, 'mig_mode'),
  migInstances: gaugeOf(nvmlMigType, 'fb_used'),
} as const

/** XID errors with certain numbers. */
export const XID = {
  lost: xidOf(79),
  memory: xidOf(48, 64, 94, 95, 140),
  device: xidOf(74, 119, 120),
} as const

/** Signals of a NIC: its port, its interface and its PCIe link. */
export const NIC = {
  sentBytes: counterOf(rdmaPortType, 'xmit_data_bytes_total', { past: 'mean' }),
  receivedBytes: counterOf(rdmaPortType, 'rcv_data_bytes_total', { past: 'mean' }),
  sentPackets: counterOf(rdmaPortCountersType, 'xmit_packets_total'),
  receivedPackets: counterOf(rdmaPortCountersType, 'rcv_packets_total'),
  lineRate: gaugeOf(rdmaPortType, 'rate_bytes_per_second', { past: 'mean' }),
  speed: gaugeOf(ethtoolLinkType, 'speed_bytes_per_second', { past: 'mean' }),
  state: gaugeOf(rdmaPortType, 'state'),
  linkDowned: counterOf(rdmaPortCountersType, 'link_downed_total', EVENTS),
  symbolErrors: counterOf(rdmaPortCountersType, 'symbol_error_total', EVENTS),
  sequenceErrors: counterOf(rdmaHwFirstType, 'packet_seq_err_total'),
  acknowledgementTimeouts: counterOf(rdmaHwType, 'local_ack_timeout_err_total'),
  adaptiveRetransmissions: counterOf(rdmaHwType, 'roce_adp_retrans_total'),
  receiverNotReady: counterOf(rdmaHwType, 'rnr_nak_retry_err_total'),
  marked: counterOf(rdmaHwType, 'np_ecn_marked_roce_packets_total'),
  notificationsIgnored: counterOf(rdmaHwType, 'rp_cnp_ignored_total'),
  checksumErrors: counterOf(rdmaHwType, 'rx_icrc_encapsulated_total'),
  ownSentBytes: counterOf(rdmaHwType, 'tx_bytes_total', { past: 'mean' }),
  portSentBytes: counterOf(ethtoolPortType, 'tx_phy_bytes_total'),
  portRdmaSentBytes: counterOf(ethtoolPortType, 'tx_vport_rdma_unicast_bytes_total', { past: 'mean' }),
  linkDownEvents: counterOf(ethtoolPortType, 'link_down_events_phy_total', EVENTS),
  discards: counterOf(ethtoolPortType, 'rx_discards_phy_total'),
  frameErrors: counterOf(ethtoolPortType, 'rx_crc_errors_phy_total'),
  codingErrors: counterOf(ethtoolPortType, 'rx_pcs_symbol_err_phy_total', EVENTS),
  correctedBits: counterOf(ethtoolPortType, 'rx_corrected_bits_phy_total', { past: 'mean', rateMax: BIT_RATE_MAX }),
  stormErrors: counterOf(ethtoolPortType, 'tx_pause_storm_error_events_total', EVENTS),
  writesStalled: gaugeOf(ethtoolPortType, 'outbound_pci_stalled_wr_ratio'),
  rxPaused: counterOf(ethtoolPriorityType, 'rx_pause_seconds_total', PAUSE),
  txPaused: counterOf(ethtoolPriorityType, 'tx_pause_seconds_total', PAUSE),
  priorityBytes: counterOf(ethtoolPriorityType, 'tx_bytes_total'),
  laneErrors: counterOf(ethtoolLaneType, 'rx_err_phy_total', { across: 'max', rateMax: BIT_RATE_MAX }),
  linkDetected: gaugeOf(ethtoolLinkType, 'detected'),
  responsive: gaugeOf(ethtoolLinkType, 'responsive'),
  rawErrorRate: gaugeOf(docaPhyType, 'raw_bit_error_ratio', { past: 'mean' }),
  effectiveErrors: counterOf(docaPhyType, 'effective_errors_total', EVENTS),
  netdevSentBytes: counterOf(netdevType, 'tx_bytes_total'),
  netdevReceivedBytes: counterOf(netdevType, 'rx_bytes_total'),
  carrierChanges: counterOf(netdevCarrierType, 'carrier_changes_total', CARRIER_EVENTS),
  carrier: gaugeOf(netdevType, 'carrier'),
  up: gaugeOf(netdevType, 'up'),
} as const

/** Signals of the PCIe link of any device. */
export const PCI = {
  bandwidth: gaugeOf(pciDeviceType, 'current_link_bandwidth_bytes_per_second'),
  bandwidthMax: gaugeOf(pciDeviceType, 'max_link_bandwidth_bytes_per_second'),
  speed: gaugeOf(pciDeviceType, 'current_link_speed_transfers_per_second'),
  speedMax: gaugeOf(pciDeviceType, 'max_link_speed_transfers_per_second'),
  width: gaugeOf(pciDeviceType, 'current_link_width_lanes'),
  widthMax: gaugeOf(pciDeviceType, 'max_link_width_lanes'),
  /** Without advisory errors, which come from probing functions that do not exist. */
  correctable: aerOf(({ severity, error }) => severity === 'correctable' && error !== 'NonFatalErr', 'correctable'),
  nonFatal: aerOf(({ severity }) => severity === 'nonfatal', 'nonfatal'),
  fatal: aerOf(({ severity }) => severity === 'fatal', 'fatal'),
} as const

/** Signals of the host: waiting tasks, the busiest disk, memory errors and hot processors. */
export const HOST = {
  ioPressure: pressureOf('io'),
  cpuPressure: pressureOf('cpu'),
  memoryUncorrected: counterOf(hostMemoryControllerType, 'uncorrected_errors_total', { across: 'max' }),
  memoryCorrected: counterOf(hostMemoryControllerType, 'corrected_errors_total'),
  packageThrottled: counterOf(hostCpuPackageType, 'throttled_seconds_total', HOTTEST),
  packageThrottles: counterOf(hostCpuPackageType, 'throttles_total'),
  diskBusy: counterOf(hostDiskType, 'io_seconds_total', { across: 'max', rateMax: SECOND_RATE_MAX }),
} as const

/** All signals of rules. Windows are kept only of these. */
export const SIGNALS: readonly Signal[] = [GPU, XID, NIC, PCI, HOST].flatMap((signals) => Object.values(signals))

function xidOf(...numbers: readonly number[]) {
  const texts = new Set(numbers.map(String))
  return counterOf(nvmlXidType, 'events_total', {
    ...EVENTS,
    bornAfterMs: TOLD_BEFORE_MS,
    where: ({ xid }) => texts.has(xid ?? ''),
    labels: { xid: [...texts].join('|') },
  })
}

function aerOf(where: (labels: Labels) => boolean, severity: string) {
  return counterOf(pciAerType, 'errors_total', {
    ...EVENTS,
    bornAfterMs: COUNTED_BEFORE_MS,
    where,
    labels: { severity },
  })
}

function pressureOf(resource: string) {
  return counterOf(hostPressureType, 'waiting_seconds_total', {
    rateMax: SECOND_RATE_MAX,
    where: (labels) => labels.resource === resource,
    labels: { resource },
  })
}
