// Names of the same quantities in other systems, written by hand. A name that is not certain is left out.
// node_exporter: the metrics of release 1.5, which test/interop compares with ours, and of later releases for PCI
// devices. OpenTelemetry: `system.*` and `hw.*` of the semantic conventions 1.45, all of which are in development.
// Labels of devices differ: node_exporter has `device` for `disk` and `rdma_device`.

/** Names of a metric in other systems. */
export interface NamesElsewhere {
  /** Metric of node_exporter, with labels where those choose. */
  readonly node?: string
  /** Metric of dcgm-exporter. */
  readonly dcgm?: string
  /** Metric of OpenTelemetry. */
  readonly otel?: string
  /** Why the name or the value differs. */
  readonly why?: string
}

type Names = Readonly<Record<string, NamesElsewhere>>

const DEVICE_WORDS = 'prefix of the source; the kernel’s own words rx and tx'
const SYSFS_WORDS = 'prefix of the source; the name of the file below /sys/class/infiniband'

function rxTx(): Names {
  const names: Record<string, NamesElsewhere> = {}
  for (const [side, word, direction] of [
    ['rx', 'receive', 'receive'],
    ['tx', 'transmit', 'transmit'],
  ] as const) {
    const otel = (name: string) => `${name}{network.io.direction="${direction}"}`
    const of = (field: string, node: string, name?: string) => {
      const other = name === undefined ? {} : { otel: otel(name) }
      names[`netdev_${side}_${field}`] = { node: `node_network_${word}_${node}`, ...other, why: DEVICE_WORDS }
    }
    of('bytes_total', 'bytes_total', 'system.network.io')
    of('packets_total', 'packets_total', 'system.network.packet.count')
    of('errors_total', 'errs_total', 'system.network.errors')
    of('dropped_total', 'drop_total', 'system.network.packet.dropped')
    of('fifo_errors_total', 'fifo_total')
    of('compressed_packets_total', 'compressed_total')
  }
  return names
}

const NETDEV: Names = {
  ...rxTx(),
  netdev_rx_frame_errors_total: { node: 'node_network_receive_frame_total', why: DEVICE_WORDS },
  netdev_rx_multicast_packets_total: { node: 'node_network_receive_multicast_total', why: DEVICE_WORDS },
  netdev_tx_carrier_errors_total: { node: 'node_network_transmit_carrier_total', why: DEVICE_WORDS },
  netdev_tx_collisions_total: { node: 'node_network_transmit_colls_total', why: DEVICE_WORDS },
  netdev_up: { node: 'node_network_up', otel: 'hw.network.up', why: 'prefix of the source' },
  netdev_carrier: { node: 'node_network_carrier', why: 'prefix of the source' },
  netdev_carrier_changes_total: { node: 'node_network_carrier_changes_total', why: 'prefix of the source' },
  netdev_mtu_bytes: { node: 'node_network_mtu_bytes', why: 'prefix of the source' },
  netdev_speed_bytes_per_second: {
    node: 'node_network_speed_bytes',
    otel: 'hw.network.bandwidth.limit',
    why: 'the unit of a rate names its time; an unknown speed is absent, not -1',
  },
}

const CPU: Names = {
  host_cpu_seconds_total: {
    node: 'node_cpu_seconds_total',
    otel: 'system.cpu.time',
    why: 'prefix of the source',
  },
  host_cpu_guest_seconds_total: { node: 'node_cpu_guest_seconds_total', why: 'prefix of the source' },
  host_cpu_package_core_throttles_total: { node: 'node_cpu_core_throttles_total', why: 'the sum of a package' },
  host_cpu_package_throttles_total: { node: 'node_cpu_package_throttles_total', why: 'prefix of the source' },
}

function disk(): Names {
  const node = (name: string, why = 'prefix of the source') => ({ node: `node_disk_${name}`, why })
  const io = (name: string, otel: string, direction: string, why?: string) => ({
    ...node(name, why),
    otel: `system.disk.${otel}{disk.io.direction="${direction}"}`,
  })
  return {
    host_disk_reads_total: io('reads_completed_total', 'operations', 'read', 'what is counted has completed'),
    host_disk_writes_total: io('writes_completed_total', 'operations', 'write', 'what is counted has completed'),
    host_disk_read_bytes_total: io('read_bytes_total', 'io', 'read'),
    host_disk_written_bytes_total: io('written_bytes_total', 'io', 'write'),
    host_disk_reads_merged_total: io('reads_merged_total', 'merged', 'read'),
    host_disk_writes_merged_total: io('writes_merged_total', 'merged', 'write'),
    host_disk_read_seconds_total: io(
      'read_time_seconds_total',
      'operation_time',
      'read',
      'a unit says that it is time',
    ),
    host_disk_write_seconds_total: io(
      'write_time_seconds_total',
      'operation_time',
      'write',
      'a unit says that it is time',
    ),
    host_disk_io_seconds_total: { ...node('io_time_seconds_total'), otel: 'system.disk.io_time' },
    host_disk_waiting_seconds_total: node('io_time_weighted_seconds_total', 'it is the time that requests waited'),
    host_disk_in_flight: node('io_now', 'the word of the kernel'),
    host_disk_discards_total: node('discards_completed_total', 'what is counted has completed'),
    host_disk_discarded_bytes_total: node('discarded_sectors_total', 'bytes, as for reads and writes'),
    host_disk_flushes_total: node('flush_requests_total', 'what is counted has completed'),
    host_disk_flush_seconds_total: node('flush_requests_time_seconds_total', 'a unit says that it is time'),
  }
}

/** Fields of `/proc/meminfo`: ours, its word there, and the state in OpenTelemetry. */
const MEMINFO: readonly (readonly [ours: string, word: string, otel?: string])[] = [
  ['total_bytes', 'MemTotal', 'system.memory.limit'],
  ['free_bytes', 'MemFree', 'system.memory.usage{system.memory.state="free"}'],
  ['available_bytes', 'MemAvailable', 'system.memory.linux.available'],
  ['buffers_bytes', 'Buffers', 'system.memory.usage{system.memory.state="buffers"}'],
  ['cached_bytes', 'Cached', 'system.memory.usage{system.memory.state="cached"}'],
  ['shared_bytes', 'Shmem'],
  ['dirty_bytes', 'Dirty'],
  ['writeback_bytes', 'Writeback'],
  ['anonymous_bytes', 'AnonPages'],
  ['anonymous_huge_pages_bytes', 'AnonHugePages'],
  ['mapped_bytes', 'Mapped'],
  ['slab_bytes', 'Slab', 'system.memory.linux.slab.usage'],
  ['slab_reclaimable_bytes', 'SReclaimable', 'system.memory.linux.slab.usage'],
  ['kernel_stack_bytes', 'KernelStack'],
  ['page_tables_bytes', 'PageTables'],
  ['locked_bytes', 'Mlocked'],
  ['committed_bytes', 'Committed_AS'],
  ['commit_limit_bytes', 'CommitLimit'],
  ['swap_total_bytes', 'SwapTotal'],
  ['swap_free_bytes', 'SwapFree', 'system.paging.usage'],
  ['swap_cached_bytes', 'SwapCached'],
  ['huge_page_size_bytes', 'Hugepagesize'],
  ['hugetlb_bytes', 'Hugetlb'],
  ['unevictable_bytes', 'Unevictable'],
  ['hardware_corrupted_bytes', 'HardwareCorrupted'],
]

function memory(): Names {
  const why = 'words of the kernel are no metric names: one spelling'
  const huge = [
    ['huge_pages', 'Total'],
    ['huge_pages_free', 'Free'],
    ['huge_pages_promised', 'Rsvd'],
    ['huge_pages_surplus', 'Surp'],
  ]
  const rows = MEMINFO.map(([ours, word, otel]) => {
    const names = { node: `node_memory_${word}_bytes`, ...(otel === undefined ? {} : { otel }), why }
    return [`host_memory_${ours}`, names] as const
  })
  const pages = huge.map(([ours, word]) => [`host_memory_${ours}`, { node: `node_memory_HugePages_${word}`, why }])
  return {
    ...Object.fromEntries([...rows, ...pages]),
    host_memory_controller_corrected_errors_total: {
      node: 'node_edac_correctable_errors_total',
      otel: 'hw.errors{hw.type="memory"}',
      why: 'past tense: these were corrected',
    },
    host_memory_controller_uncorrected_errors_total: {
      node: 'node_edac_uncorrectable_errors_total',
      otel: 'hw.errors{hw.type="memory"}',
      why: 'past tense: these were not corrected',
    },
  }
}

function numa(): Names {
  const why = 'prefix of the source; label `numa_node`, there `node`'
  const rows = {
    total_bytes: 'MemTotal',
    free_bytes: 'MemFree',
    anonymous_bytes: 'AnonPages',
    file_bytes: 'FilePages',
    huge_pages: 'HugePages_Total',
    huge_pages_free: 'HugePages_Free',
    hit_pages_total: 'numa_hit_total',
    miss_pages_total: 'numa_miss_total',
    foreign_pages_total: 'numa_foreign_total',
    interleaved_pages_total: 'interleave_hit_total',
    local_pages_total: 'local_node_total',
    other_pages_total: 'other_node_total',
  }
  return Object.fromEntries(
    Object.entries(rows).map(([ours, node]) => [`host_numa_${ours}`, { node: `node_memory_numa_${node}`, why }]),
  )
}

const KERNEL: Names = {
  host_kernel_boot_time_seconds: { node: 'node_boot_time_seconds', otel: 'system.uptime', why: 'prefix of the source' },
  host_kernel_context_switches_total: { node: 'node_context_switches_total', why: 'prefix of the source' },
  host_kernel_forks_total: { node: 'node_forks_total', otel: 'system.process.created', why: 'prefix of the source' },
  host_kernel_interrupts_total: { node: 'node_intr_total', why: 'no abbreviation' },
  host_kernel_softirqs_total: { node: 'node_softirqs_total', why: 'prefix of the source' },
  host_kernel_processes_running: { node: 'node_procs_running', otel: 'system.process.count', why: 'no abbreviation' },
  host_kernel_processes_blocked: { node: 'node_procs_blocked', otel: 'system.process.count', why: 'no abbreviation' },
  host_kernel_open_files: { node: 'node_filefd_allocated', why: 'no abbreviation' },
  host_kernel_open_files_limit: { node: 'node_filefd_maximum', why: 'no abbreviation' },
  host_load1: { node: 'node_load1', why: 'prefix of the source' },
  host_load5: { node: 'node_load5', why: 'prefix of the source' },
  host_load15: { node: 'node_load15', why: 'prefix of the source' },
  host_pressure_waiting_seconds_total: {
    node: 'node_pressure_{cpu,io,memory}_waiting_seconds_total',
    why: 'one name with the label `resource`',
  },
  host_pressure_stalled_seconds_total: {
    node: 'node_pressure_{io,memory}_stalled_seconds_total',
    why: 'one name with the label `resource`',
  },
  host_softnet_processed_total: { node: 'node_softnet_processed_total', why: 'prefix of the source' },
  host_softnet_dropped_total: { node: 'node_softnet_dropped_total', why: 'prefix of the source' },
  host_softnet_squeezed_total: { node: 'node_softnet_times_squeezed_total', why: 'no filler word' },
  host_vm_oom_kills_total: { node: 'node_vmstat_oom_kill', why: 'a counter ends in _total' },
  host_vm_page_faults_total: {
    node: 'node_vmstat_pgfault',
    otel: 'system.paging.faults',
    why: 'a counter ends in _total; no abbreviation',
  },
  host_vm_major_page_faults_total: {
    node: 'node_vmstat_pgmajfault',
    otel: 'system.paging.faults{system.paging.fault.type="major"}',
    why: 'a counter ends in _total; no abbreviation',
  },
  host_vm_swapped_in_pages_total: {
    node: 'node_vmstat_pswpin',
    otel: 'system.paging.operations{system.paging.direction="in"}',
    why: 'a counter ends in _total; no abbreviation',
  },
  host_vm_swapped_out_pages_total: {
    node: 'node_vmstat_pswpout',
    otel: 'system.paging.operations{system.paging.direction="out"}',
    why: 'a counter ends in _total; no abbreviation',
  },
  host_temperature_celsius: { node: 'node_hwmon_temp_celsius', otel: 'hw.temperature', why: 'no abbreviation' },
  host_temperature_limit_celsius: {
    node: 'node_hwmon_temp_max_celsius',
    otel: 'hw.temperature.limit',
    why: 'a maximum that was measured is another thing',
  },
  host_temperature_critical_celsius: {
    node: 'node_hwmon_temp_crit_celsius',
    otel: 'hw.temperature.limit',
    why: 'no abbreviation',
  },
  host_fan_rpm: { node: 'node_hwmon_fan_rpm', otel: 'hw.fan.speed', why: 'prefix of the source' },
  host_fan_minimum_rpm: { node: 'node_hwmon_fan_min_rpm', why: 'no abbreviation' },
  host_thermal_zone_celsius: { node: 'node_thermal_zone_temp', why: 'the unit ends the name' },
}

function netstat(): Names {
  const why = 'words of the kernel are no metric names; a counter ends in _total'
  const rows = {
    tcp_active_opens_total: 'Tcp_ActiveOpens',
    tcp_passive_opens_total: 'Tcp_PassiveOpens',
    tcp_established: 'Tcp_CurrEstab',
    tcp_rx_segments_total: 'Tcp_InSegs',
    tcp_rx_errors_total: 'Tcp_InErrs',
    tcp_tx_segments_total: 'Tcp_OutSegs',
    tcp_tx_resets_total: 'Tcp_OutRsts',
    tcp_retransmitted_segments_total: 'Tcp_RetransSegs',
    tcp_syn_retransmits_total: 'TcpExt_TCPSynRetrans',
    tcp_timeouts_total: 'TcpExt_TCPTimeouts',
    tcp_listen_drops_total: 'TcpExt_ListenDrops',
    tcp_listen_overflows_total: 'TcpExt_ListenOverflows',
    udp_rx_datagrams_total: 'Udp_InDatagrams',
    udp_rx_errors_total: 'Udp_InErrors',
    udp_rx_buffer_errors_total: 'Udp_RcvbufErrors',
    udp_tx_datagrams_total: 'Udp_OutDatagrams',
    udp_tx_buffer_errors_total: 'Udp_SndbufErrors',
    udp_no_port_datagrams_total: 'Udp_NoPorts',
  }
  const names = Object.entries(rows).map(([ours, node]) => [
    `host_network_${ours}`,
    { node: `node_netstat_${node}`, why },
  ])
  return {
    ...Object.fromEntries(names),
    host_network_tracked_connections: { node: 'node_nf_conntrack_entries', why: 'no abbreviation' },
    host_network_tracked_connections_limit: { node: 'node_nf_conntrack_entries_limit', why: 'no abbreviation' },
  }
}

function rdma(): Names {
  const rows = {
    rcv_data_bytes_total: 'port_data_received_bytes_total',
    xmit_data_bytes_total: 'port_data_transmitted_bytes_total',
    rcv_packets_total: 'port_packets_received_total',
    xmit_packets_total: 'port_packets_transmitted_total',
    rcv_errors_total: 'port_errors_received_total',
    xmit_discards_total: 'port_discards_transmitted_total',
    rcv_discards_total: 'port_discards_received_total',
    rcv_constraint_errors_total: 'port_constraint_errors_received_total',
    xmit_constraint_errors_total: 'port_constraint_errors_transmitted_total',
    rcv_remote_physical_errors_total: 'port_receive_remote_physical_errors_total',
    rcv_switch_relay_errors_total: 'port_receive_switch_relay_errors_total',
    xmit_wait_ticks_total: 'port_transmit_wait_total',
    unicast_rcv_packets_total: 'unicast_packets_received_total',
    unicast_xmit_packets_total: 'unicast_packets_transmitted_total',
    multicast_rcv_packets_total: 'multicast_packets_received_total',
    multicast_xmit_packets_total: 'multicast_packets_transmitted_total',
    link_downed_total: 'link_downed_total',
    link_error_recovery_total: 'link_error_recovery_total',
    local_link_integrity_errors_total: 'local_link_integrity_errors_total',
    excessive_buffer_overrun_errors_total: 'excessive_buffer_overrun_errors_total',
    symbol_error_total: 'symbol_error_total',
    vl15_dropped_total: 'vl15_dropped_total',
    state: 'state_id',
    phys_state: 'physical_state_id',
  }
  const names = Object.entries(rows).map(([ours, node]) => [
    `rdma_port_${ours}`,
    { node: `node_infiniband_${node}`, why: SYSFS_WORDS },
  ])
  return {
    ...Object.fromEntries(names),
    rdma_port_rate_bytes_per_second: {
      node: 'node_infiniband_rate_bytes_per_second',
      otel: 'hw.network.bandwidth.limit',
      why: SYSFS_WORDS,
    },
  }
}

function pci(): Names {
  const why = 'one address in the label `pci_address`; there segment, bus, device and function'
  const rows = {
    current_link_speed_transfers_per_second: 'current_link_transfers_per_second',
    current_link_width_lanes: 'current_link_width',
    max_link_speed_transfers_per_second: 'max_link_transfers_per_second',
    max_link_width_lanes: 'max_link_width',
    numa_node: 'numa_node',
    sriov_numvfs: 'sriov_numvfs',
  }
  return Object.fromEntries(
    Object.entries(rows).map(([ours, node]) => [`pci_device_${ours}`, { node: `node_pcidevice_${node}`, why }]),
  )
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

const SELF: Names = {
  sonde_process_resident_memory_bytes: { node: 'process_resident_memory_bytes', why: 'prefix of Sonde’s own metrics' },
  sonde_process_cpu_seconds_total: { node: 'process_cpu_seconds_total', why: 'prefix of Sonde’s own metrics' },
  sonde_build_info: { node: 'node_exporter_build_info', why: 'of another program' },
}

const INFOS: Names = {
  ethtool_link_info: { node: 'node_ethtool_info', why: 'labels as in the records of Sonde' },
  rdma_port_info: { node: 'node_infiniband_info', why: 'a row for each port, and every RDMA device' },
  host_kernel_info: { node: 'node_uname_info', why: 'only the release' },
}

/** Names elsewhere, by our name. */
export const NAMES_ELSEWHERE: Names = {
  ...NETDEV,
  ...CPU,
  ...disk(),
  ...memory(),
  ...numa(),
  ...KERNEL,
  ...netstat(),
  ...rdma(),
  ...pci(),
  ...GPU,
  ...SELF,
  ...INFOS,
}
