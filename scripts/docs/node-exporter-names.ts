// Which metric of Sonde is which of node_exporter. Labels choose series where one name there is several here, or the
// other way round.

/** A metric of Sonde, and the same of node_exporter. */
export type NamePair = readonly [ours: string, theirs: string]

/** Pairs with a common beginning on each side. */
function pairs(ours: string, theirs: string, names: Readonly<Record<string, string>>): NamePair[] {
  return Object.entries(names).map(([our, their]) => [`${ours}${our}`, `${theirs}${their}`])
}

const NETDEV = [
  ...(['receive', 'transmit'] as const).flatMap((direction) =>
    pairs(`netdev_${direction === 'receive' ? 'rx' : 'tx'}_`, `node_network_${direction}_`, {
      bytes_total: 'bytes_total',
      packets_total: 'packets_total',
      errors_total: 'errs_total',
      dropped_total: 'drop_total',
      fifo_errors_total: 'fifo_total',
      compressed_packets_total: 'compressed_total',
    }),
  ),
  ...pairs('netdev_', 'node_network_', {
    rx_frame_errors_total: 'receive_frame_total',
    rx_multicast_packets_total: 'receive_multicast_total',
    tx_collisions_total: 'transmit_colls_total',
    tx_carrier_errors_total: 'transmit_carrier_total',
    up: 'up',
    carrier: 'carrier',
    carrier_changes_total: 'carrier_changes_total',
    mtu_bytes: 'mtu_bytes',
    speed_bytes_per_second: 'speed_bytes',
  }),
]

const KERNEL = [
  ...pairs('host_', 'node_', {
    cpu_seconds_total: 'cpu_seconds_total',
    cpu_guest_seconds_total: 'cpu_guest_seconds_total',
    cpu_package_throttles_total: 'cpu_package_throttles_total',
    cpu_package_frequency_limit_hertz: 'cpu_scaling_frequency_max_hertz',
    cpu_package_frequency_max_hertz: 'cpu_frequency_max_hertz',
    load1: 'load1',
    load5: 'load5',
    load15: 'load15',
    softnet_processed_total: 'softnet_processed_total',
    softnet_dropped_total: 'softnet_dropped_total',
    softnet_squeezed_total: 'softnet_times_squeezed_total',
  }),
  ...pairs('host_kernel_', 'node_', {
    boot_time_seconds: 'boot_time_seconds',
    processes_running: 'procs_running',
    processes_blocked: 'procs_blocked',
    context_switches_total: 'context_switches_total',
    interrupts_total: 'intr_total',
    forks_total: 'forks_total',
    open_files: 'filefd_allocated',
    open_files_limit: 'filefd_maximum',
    softirqs_total: 'softirqs_total',
  }),
  ...pairs('host_pressure_', 'node_pressure_', {
    'waiting_seconds_total{resource="cpu"}': 'cpu_waiting_seconds_total',
    'waiting_seconds_total{resource="memory"}': 'memory_waiting_seconds_total',
    'stalled_seconds_total{resource="memory"}': 'memory_stalled_seconds_total',
    'waiting_seconds_total{resource="io"}': 'io_waiting_seconds_total',
    'stalled_seconds_total{resource="io"}': 'io_stalled_seconds_total',
  }),
]

const MEMORY = [
  ...pairs('host_memory_', 'node_memory_', {
    total_bytes: 'MemTotal_bytes',
    free_bytes: 'MemFree_bytes',
    available_bytes: 'MemAvailable_bytes',
    buffers_bytes: 'Buffers_bytes',
    cached_bytes: 'Cached_bytes',
    dirty_bytes: 'Dirty_bytes',
    writeback_bytes: 'Writeback_bytes',
    anonymous_bytes: 'AnonPages_bytes',
    mapped_bytes: 'Mapped_bytes',
    shared_bytes: 'Shmem_bytes',
    slab_bytes: 'Slab_bytes',
    slab_reclaimable_bytes: 'SReclaimable_bytes',
    kernel_stack_bytes: 'KernelStack_bytes',
    page_tables_bytes: 'PageTables_bytes',
    locked_bytes: 'Mlocked_bytes',
    committed_bytes: 'Committed_AS_bytes',
    commit_limit_bytes: 'CommitLimit_bytes',
    swap_total_bytes: 'SwapTotal_bytes',
    swap_free_bytes: 'SwapFree_bytes',
    swap_cached_bytes: 'SwapCached_bytes',
    huge_pages: 'HugePages_Total',
    huge_pages_free: 'HugePages_Free',
    huge_pages_promised: 'HugePages_Rsvd',
    huge_pages_surplus: 'HugePages_Surp',
    huge_page_size_bytes: 'Hugepagesize_bytes',
    hugetlb_bytes: 'Hugetlb_bytes',
    anonymous_huge_pages_bytes: 'AnonHugePages_bytes',
    unevictable_bytes: 'Unevictable_bytes',
  }),
  ...pairs('host_vm_', 'node_vmstat_', {
    page_faults_total: 'pgfault',
    major_page_faults_total: 'pgmajfault',
    swapped_in_pages_total: 'pswpin',
    swapped_out_pages_total: 'pswpout',
    oom_kills_total: 'oom_kill',
    direct_scanned_pages_total: 'pgscan_direct',
    direct_reclaimed_pages_total: 'pgsteal_direct',
    compaction_stalls_total: 'compact_stall',
    compaction_failures_total: 'compact_fail',
    huge_page_faults_total: 'thp_fault_alloc',
    huge_page_fallbacks_total: 'thp_fault_fallback',
    numa_hint_faults_total: 'numa_hint_faults',
    numa_migrated_pages_total: 'numa_pages_migrated',
  }),
  ...pairs('host_numa_', 'node_memory_numa_', {
    total_bytes: 'MemTotal',
    free_bytes: 'MemFree',
    file_bytes: 'FilePages',
    anonymous_bytes: 'AnonPages',
    huge_pages: 'HugePages_Total',
    huge_pages_free: 'HugePages_Free',
    hit_pages_total: 'numa_hit_total',
    miss_pages_total: 'numa_miss_total',
    foreign_pages_total: 'numa_foreign_total',
    interleaved_pages_total: 'interleave_hit_total',
    local_pages_total: 'local_node_total',
    other_pages_total: 'other_node_total',
  }),
  ...pairs('host_memory_', 'node_edac_', {
    controller_corrected_errors_total: 'correctable_errors_total',
    controller_uncorrected_errors_total: 'uncorrectable_errors_total',
    controller_corrected_unplaced_total: 'csrow_correctable_errors_total{csrow="unknown"}',
    controller_uncorrected_unplaced_total: 'csrow_uncorrectable_errors_total{csrow="unknown"}',
    module_corrected_errors_total: 'csrow_correctable_errors_total',
    module_uncorrected_errors_total: 'csrow_uncorrectable_errors_total',
  }),
]

const DISK = pairs('host_disk_', 'node_disk_', {
  reads_total: 'reads_completed_total',
  reads_merged_total: 'reads_merged_total',
  read_bytes_total: 'read_bytes_total',
  read_seconds_total: 'read_time_seconds_total',
  writes_total: 'writes_completed_total',
  writes_merged_total: 'writes_merged_total',
  written_bytes_total: 'written_bytes_total',
  write_seconds_total: 'write_time_seconds_total',
  in_flight: 'io_now',
  io_seconds_total: 'io_time_seconds_total',
  waiting_seconds_total: 'io_time_weighted_seconds_total',
  discards_total: 'discards_completed_total',
  flushes_total: 'flush_requests_total',
  flush_seconds_total: 'flush_requests_time_seconds_total',
})

const NETWORK = [
  ...pairs('host_sockets_', 'node_sockstat_', {
    used: 'sockets_used',
    tcp_used: 'TCP_inuse',
    tcp6_used: 'TCP6_inuse',
    tcp_allocated: 'TCP_alloc',
    tcp_orphans: 'TCP_orphan',
    tcp_time_wait: 'TCP_tw',
    tcp_memory_pages: 'TCP_mem',
    udp_used: 'UDP_inuse',
    udp6_used: 'UDP6_inuse',
    udp_memory_pages: 'UDP_mem',
    raw_used: 'RAW_inuse',
    fragment_memory_bytes: 'FRAG_memory',
  }),
  ...pairs('host_network_', 'node_netstat_', {
    tcp_established: 'Tcp_CurrEstab',
    tcp_active_opens_total: 'Tcp_ActiveOpens',
    tcp_passive_opens_total: 'Tcp_PassiveOpens',
    tcp_attempt_fails_total: 'Tcp_AttemptFails',
    tcp_established_resets_total: 'Tcp_EstabResets',
    tcp_rx_segments_total: 'Tcp_InSegs',
    tcp_tx_segments_total: 'Tcp_OutSegs',
    tcp_retransmitted_segments_total: 'Tcp_RetransSegs',
    tcp_lost_retransmits_total: 'TcpExt_TCPLostRetransmit',
    tcp_syn_retransmits_total: 'TcpExt_TCPSynRetrans',
    tcp_timeouts_total: 'TcpExt_TCPTimeouts',
    tcp_rx_errors_total: 'Tcp_InErrs',
    tcp_tx_resets_total: 'Tcp_OutRsts',
    tcp_listen_overflows_total: 'TcpExt_ListenOverflows',
    tcp_listen_drops_total: 'TcpExt_ListenDrops',
    tcp_backlog_drops_total: 'TcpExt_TCPBacklogDrop',
    udp_rx_datagrams_total: 'Udp_InDatagrams',
    udp_tx_datagrams_total: 'Udp_OutDatagrams',
    udp_no_port_datagrams_total: 'Udp_NoPorts',
    udp_rx_errors_total: 'Udp_InErrors',
    udp_rx_buffer_errors_total: 'Udp_RcvbufErrors',
    udp_tx_buffer_errors_total: 'Udp_SndbufErrors',
    ip_rx_discards_total: 'Ip_InDiscards',
    ip_tx_discards_total: 'Ip_OutDiscards',
    ip_no_route_packets_total: 'Ip_OutNoRoutes',
    ip_rx_congestion_marks_total: 'IpExt_InCEPkts',
  }),
]

const SENSORS = [
  ...pairs('host_', 'node_hwmon_', {
    temperature_celsius: 'temp_celsius',
    temperature_limit_celsius: 'temp_max_celsius',
    temperature_critical_celsius: 'temp_crit_celsius',
    fan_rpm: 'fan_rpm',
    fan_minimum_rpm: 'fan_min_rpm',
    fan_maximum_rpm: 'fan_max_rpm',
    power_watts: 'power_average_watt',
    power_cap_watts: 'power_cap_watt',
    power_limit_watts: 'power_max_watt',
    power_critical_watts: 'power_crit_watt',
  }),
  ...pairs('host_', 'node_', { thermal_zone_celsius: 'thermal_zone_temp' }),
]

const RDMA = pairs('rdma_port_', 'node_infiniband_', {
  state: 'state_id',
  phys_state: 'physical_state_id',
  rate_bytes_per_second: 'rate_bytes_per_second',
  xmit_data_bytes_total: 'port_data_transmitted_bytes_total',
  rcv_data_bytes_total: 'port_data_received_bytes_total',
  xmit_packets_total: 'port_packets_transmitted_total',
  rcv_packets_total: 'port_packets_received_total',
  unicast_xmit_packets_total: 'unicast_packets_transmitted_total',
  unicast_rcv_packets_total: 'unicast_packets_received_total',
  multicast_xmit_packets_total: 'multicast_packets_transmitted_total',
  multicast_rcv_packets_total: 'multicast_packets_received_total',
  xmit_wait_ticks_total: 'port_transmit_wait_total',
  xmit_discards_total: 'port_discards_transmitted_total',
  xmit_constraint_errors_total: 'port_constraint_errors_transmitted_total',
  rcv_constraint_errors_total: 'port_constraint_errors_received_total',
  rcv_errors_total: 'port_errors_received_total',
  rcv_remote_physical_errors_total: 'port_receive_remote_physical_errors_total',
  rcv_switch_relay_errors_total: 'port_receive_switch_relay_errors_total',
  symbol_error_total: 'symbol_error_total',
  link_error_recovery_total: 'link_error_recovery_total',
  link_downed_total: 'link_downed_total',
  local_link_integrity_errors_total: 'local_link_integrity_errors_total',
  excessive_buffer_overrun_errors_total: 'excessive_buffer_overrun_errors_total',
  vl15_dropped_total: 'vl15_dropped_total',
})

/** Pairs of the same value. A test lets node_exporter 1.5 and Sonde read the same files and compares all of them. */
export const COMPARED: readonly NamePair[] = [
  ...[...NETDEV, ...KERNEL, ...MEMORY, ...DISK, ...NETWORK, ...SENSORS, ...RDMA],
]

/** Pairs that this test cannot compare. */
export const NOT_COMPARED: readonly NamePair[] = [
  // Both ask the running machine.
  ...pairs('host_filesystem_', 'node_filesystem_', {
    size_bytes: 'size_bytes',
    free_bytes: 'free_bytes',
    available_bytes: 'avail_bytes',
    files: 'files',
    files_free: 'files_free',
    read_only: 'readonly',
  }),
  ...pairs('host_clock_', 'node_timex_', {
    synchronised: 'sync_status',
    offset_seconds: 'offset_seconds',
    max_error_seconds: 'maxerror_seconds',
    estimated_error_seconds: 'estimated_error_seconds',
    frequency_adjustment_ratio: 'frequency_adjustment_ratio',
    tai_offset_seconds: 'tai_offset_seconds',
  }),
  ['host_systemd_failed_units', 'node_systemd_units{state="failed"}'],
  // node_exporter wants a file beside these that is no longer in every kernel.
  ['host_network_tracked_connections', 'node_nf_conntrack_entries'],
  ['host_network_tracked_connections_limit', 'node_nf_conntrack_entries_limit'],
  // The value has another unit, is a sum, or is a text.
  ['host_disk_discarded_bytes_total', 'node_disk_discarded_sectors_total'],
  ['host_cpu_package_core_throttles_total', 'node_cpu_core_throttles_total'],
  ['rdma_port_info', 'node_infiniband_info'],
  ['host_kernel_info', 'node_uname_info'],
  ['ethtool_link_info', 'node_ethtool_info'],
  // No file of the captured tree has them.
  ['host_memory_hardware_corrupted_bytes', 'node_memory_HardwareCorrupted_bytes'],
  ['rdma_port_rcv_discards_total', 'node_infiniband_port_discards_received_total'],
  ['host_pressure_stalled_seconds_total{resource="irq"}', 'node_pressure_irq_stalled_seconds_total'],
  // node_exporter 1.5 does not read PCI devices.
  ...pairs('pci_device_', 'node_pcidevice_', {
    current_link_speed_transfers_per_second: 'current_link_transfers_per_second',
    current_link_width_lanes: 'current_link_width',
    max_link_speed_transfers_per_second: 'max_link_transfers_per_second',
    max_link_width_lanes: 'max_link_width',
    numa_node: 'numa_node',
    sriov_numvfs: 'sriov_numvfs',
  }),
  // Of the program itself.
  ['sonde_process_resident_memory_bytes', 'process_resident_memory_bytes'],
  ['sonde_process_cpu_seconds_total', 'process_cpu_seconds_total'],
  ['sonde_build_info', 'node_exporter_build_info'],
]
