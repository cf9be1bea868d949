// Names of the same quantities in other systems. Those of node_exporter are from the list of pairs; others are written
// by hand, and a name that is not certain is left out. OpenTelemetry: `system.*` and `hw.*` of the semantic conventions
// 1.45, all of which are in development. Labels of devices differ: node_exporter has `device` for `disk` and
// `rdma_device`.

import { COMPARED, NOT_COMPARED } from './node-exporter-names.ts'

/** Names of a metric in other systems. */
export interface NamesElsewhere {
  /** Metrics of node_exporter, with labels where those choose. */
  readonly node?: readonly string[]
  /** Metric of dcgm-exporter. */
  readonly dcgm?: string
  /** Metric of OpenTelemetry. */
  readonly otel?: string
  /** Why the name or the value differs. */
  readonly why?: string
}

type Names = Readonly<Record<string, NamesElsewhere>>

const KERNEL_WORDS = 'words of the kernel are no metric names'

/** Why names differ from those of node_exporter. The first row that fits a metric of ours holds. */
const REASONS: readonly (readonly [ours: RegExp, why: string])[] = [
  [/^netdev_[rt]x_/, 'prefix of the source; the kernel’s own words rx and tx'],
  [/^host_memory_(controller|module)_corrected_/, 'past tense: these were corrected'],
  [/^host_memory_(controller|module)_uncorrected_/, 'past tense: these were not corrected'],
  [/^host_memory_/, `${KERNEL_WORDS}: one spelling`],
  [/^host_numa_/, 'prefix of the source; label `numa_node`, there `node`'],
  [/^host_(network_tracked|kernel_(interrupts|processes|open_files))/, 'no abbreviation'],
  [/^host_network_|^host_vm_/, `${KERNEL_WORDS}; a counter ends in _total`],
  [/^host_sockets_/, KERNEL_WORDS],
  [/^host_pressure_/, 'one name with the label `resource`'],
  [/^host_disk_(reads|writes|discards|flushes)_total$/, 'what is counted has completed'],
  [/^host_disk_(read|write|flush)_seconds_total$/, 'a unit says that it is time'],
  [/^host_(temperature|power)_limit_/, 'a maximum that was measured is another thing'],
  [/^host_(temperature|fan_m|power)/, 'no abbreviation'],
  [/^rdma_port_/, 'prefix of the source; the name of the file below /sys/class/infiniband'],
  [/^pci_device_/, 'one address in the label `pci_address`; there segment, bus, device and function'],
  [/^sonde_process_/, 'prefix of Sonde’s own metrics'],
  [/./, 'prefix of the source'],
]

/** Names in node_exporter, by our name without labels. */
function nodeExporter(): Names {
  const names: Record<string, { node: string[]; why?: string }> = {}
  for (const [series, theirs] of [...COMPARED, ...NOT_COMPARED]) {
    const ours = series.replace(/\{.*/, '')
    const why = REASONS.find(([pattern]) => pattern.test(ours))?.[1]
    names[ours] ??= { node: [], ...(why === undefined ? {} : { why }) }
    names[ours].node.push(theirs)
  }
  return names
}

/** Reasons of single metrics. */
const NODE_REASONS: Names = {
  netdev_speed_bytes_per_second: { why: 'the unit of a rate names its time; an unknown speed is absent, not -1' },
  host_cpu_package_core_throttles_total: { why: 'the sum of a package' },
  host_cpu_package_frequency_limit_hertz: { why: 'one a package' },
  host_cpu_package_frequency_max_hertz: { why: 'one a package' },
  host_disk_waiting_seconds_total: { why: 'it is the time that requests waited' },
  host_disk_in_flight: { why: 'the word of the kernel' },
  host_disk_discarded_bytes_total: { why: 'bytes, as for reads and writes' },
  host_softnet_squeezed_total: { why: 'no filler word' },
  host_vm_oom_kills_total: { why: 'a counter ends in _total' },
  host_vm_page_faults_total: { why: 'a counter ends in _total; no abbreviation' },
  host_vm_major_page_faults_total: { why: 'a counter ends in _total; no abbreviation' },
  host_vm_swapped_in_pages_total: { why: 'a counter ends in _total; no abbreviation' },
  host_vm_swapped_out_pages_total: { why: 'a counter ends in _total; no abbreviation' },
  host_thermal_zone_celsius: { why: 'the unit ends the name' },
  host_filesystem_available_bytes: { why: 'no abbreviation' },
  host_clock_frequency_adjustment_ratio: { why: '0 without a correction, there 1' },
  host_systemd_failed_units: { why: 'only what failed' },
  host_kernel_info: { why: 'only the release' },
  rdma_port_info: { why: 'a row for each port, and every RDMA device' },
  ethtool_link_info: { why: 'labels as in the records of Sonde' },
  sonde_build_info: { why: 'of another program' },
}

/** Names in OpenTelemetry of the host. */
function otelOfHost(): Names {
  const names: Record<string, string> = {
    netdev_up: 'hw.network.up',
    netdev_speed_bytes_per_second: 'hw.network.bandwidth.limit',
    rdma_port_rate_bytes_per_second: 'hw.network.bandwidth.limit',
    host_cpu_seconds_total: 'system.cpu.time',
    host_kernel_boot_time_seconds: 'system.uptime',
    host_kernel_forks_total: 'system.process.created',
    host_kernel_processes_running: 'system.process.count',
    host_kernel_processes_blocked: 'system.process.count',
    host_disk_io_seconds_total: 'system.disk.io_time',
    host_memory_total_bytes: 'system.memory.limit',
    host_memory_available_bytes: 'system.memory.linux.available',
    host_memory_slab_bytes: 'system.memory.linux.slab.usage',
    host_memory_slab_reclaimable_bytes: 'system.memory.linux.slab.usage',
    host_memory_swap_free_bytes: 'system.paging.usage',
    host_memory_controller_corrected_errors_total: 'hw.errors{hw.type="memory"}',
    host_memory_controller_uncorrected_errors_total: 'hw.errors{hw.type="memory"}',
    host_vm_page_faults_total: 'system.paging.faults',
    host_vm_major_page_faults_total: 'system.paging.faults{system.paging.fault.type="major"}',
    host_vm_swapped_in_pages_total: 'system.paging.operations{system.paging.direction="in"}',
    host_vm_swapped_out_pages_total: 'system.paging.operations{system.paging.direction="out"}',
    host_temperature_celsius: 'hw.temperature',
    host_temperature_limit_celsius: 'hw.temperature.limit',
    host_temperature_critical_celsius: 'hw.temperature.limit',
    host_fan_rpm: 'hw.fan.speed',
  }
  for (const state of ['free', 'buffers', 'cached'])
    names[`host_memory_${state}_bytes`] = `system.memory.usage{system.memory.state="${state}"}`
  for (const [side, direction] of [
    ['rx', 'receive'],
    ['tx', 'transmit'],
  ] as const) {
    const labels = `{network.io.direction="${direction}"}`
    names[`netdev_${side}_bytes_total`] = `system.network.io${labels}`
    names[`netdev_${side}_packets_total`] = `system.network.packet.count${labels}`
    names[`netdev_${side}_errors_total`] = `system.network.errors${labels}`
    names[`netdev_${side}_dropped_total`] = `system.network.packet.dropped${labels}`
  }
  for (const [verb, past, direction] of [
    ['reads', 'read', 'read'],
    ['writes', 'written', 'write'],
  ] as const) {
    const labels = `{disk.io.direction="${direction}"}`
    names[`host_disk_${verb}_total`] = `system.disk.operations${labels}`
    names[`host_disk_${past}_bytes_total`] = `system.disk.io${labels}`
    names[`host_disk_${verb}_merged_total`] = `system.disk.merged${labels}`
    names[`host_disk_${direction}_seconds_total`] = `system.disk.operation_time${labels}`
  }
  return Object.fromEntries(Object.entries(names).map(([ours, otel]) => [ours, { otel }]))
}

/** OpenTelemetry has names for few values of a GPU. Names of DCGM are ours too. */
const GPU: Names = {
  DCGM_FI_DEV_GPU_UTIL: { otel: 'hw.gpu.utilization{hw.gpu.task="general"}', why: 'DCGM’s name and percent' },
  DCGM_FI_DEV_ENC_UTIL: { otel: 'hw.gpu.utilization{hw.gpu.task="encoder"}', why: 'DCGM’s name and percent' },
  DCGM_FI_DEV_DEC_UTIL: { otel: 'hw.gpu.utilization{hw.gpu.task="decoder"}', why: 'DCGM’s name and percent' },
  DCGM_FI_DEV_FB_USED: { otel: 'hw.gpu.memory.usage', why: 'DCGM’s name and MiB' },
  DCGM_FI_DEV_FB_TOTAL: { otel: 'hw.gpu.memory.limit', why: 'DCGM’s name and MiB' },
  DCGM_FI_DEV_GPU_TEMP: { otel: 'hw.temperature', why: 'DCGM’s name' },
  DCGM_FI_DEV_POWER_USAGE: { otel: 'hw.power{hw.type="gpu"}', why: 'DCGM’s name' },
  DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION: { otel: 'hw.energy{hw.type="gpu"}', why: 'DCGM’s name and millijoules' },
  nvml_gpu_memory_bytes: { dcgm: 'DCGM_FI_DEV_FB_TOTAL', otel: 'hw.gpu.memory.limit', why: 'base unit' },
  nvml_xid_events_total: {
    dcgm: 'DCGM_EXP_XID_ERRORS_COUNT',
    otel: 'hw.errors{hw.type="gpu"}',
    why: 'a counter since the driver was loaded; there a gauge of the last minutes',
  },
}

/** Names elsewhere, by our name. */
export const NAMES_ELSEWHERE: Names = joined(nodeExporter(), NODE_REASONS, otelOfHost(), GPU)

/** Names of several lists; the last that says something of a metric holds. */
function joined(...lists: readonly Names[]): Names {
  const all: Record<string, NamesElsewhere> = {}
  for (const list of lists) for (const [ours, names] of Object.entries(list)) all[ours] = { ...all[ours], ...names }
  return all
}
