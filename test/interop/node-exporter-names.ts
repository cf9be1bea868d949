// Which metric of Sonde is which of node_exporter 1.5, and where the two differ.

const netdev = (direction: 'receive' | 'transmit', ours: string, theirs: string) =>
  [
    `netdev_${direction === 'receive' ? 'rx' : 'tx'}_${ours}_total`,
    `node_network_${direction}_${theirs}_total`,
  ] as const
const cpu = (mode: string) => [`host_cpu_${mode}_seconds_total`, `node_cpu_seconds_total{mode="${mode}"}`] as const
const pressure = (resource: string, kind: 'waiting' | 'stalled') =>
  [
    `host_pressure_${kind}_seconds_total{resource="${resource}"}`,
    `node_pressure_${resource}_${kind}_seconds_total`,
  ] as const
const memory = (ours: string, theirs: string) => [`host_memory_${ours}`, `node_memory_${theirs}`] as const

const softirqs = (kind: string) =>
  [`host_kernel_softirqs_${kind}_total`, `node_softirqs_total{vector="${kind}"}`] as const
const disk = (ours: string, theirs: string) => [`host_disk_${ours}`, `node_disk_${theirs}`] as const
const vm = (ours: string, theirs: string) => [`host_vm_${ours}_total`, `node_vmstat_${theirs}`] as const
const network = (ours: string, theirs: string) => [`host_network_${ours}`, `node_netstat_${theirs}`] as const
const numa = (ours: string, theirs: string) =>
  [`host_numa_${ours}{numa_node="0"}`, `node_memory_numa_${theirs}{node="0"}`] as const
const sensor = (
  ours: string,
  place: readonly [chip: string, name: string, label: string, file: string],
  theirs: string,
) =>
  [
    `host_${ours}{chip="${place[0]}",chip_name="${place[1]}",sensor="${place[2]}"}`,
    `node_hwmon_${theirs}{chip="${place[1]}",sensor="${place[3]}"}`,
  ] as const
const PACKAGE = ['coretemp.0', 'coretemp', 'Package id 0', 'temp1'] as const
const ADAPTER = ['0000:9a:00.0', 'mlx5', 'asic', 'temp1'] as const
const METER = ['ACPI000D:00', 'power_meter', 'chassis', 'power1'] as const
const FAN = ['ACPI000D:00', 'power_meter', 'Fan wall 1', 'fan1'] as const
const controller = (ours: string, theirs: string) => [`host_memory_controller_${ours}`, `node_edac_${theirs}`] as const
const row = (ours: string, theirs: string) =>
  [`host_memory_module_${ours}{module="csrow0"}`, `node_edac_csrow_${theirs}{csrow="0"}`] as const
const socket = (ours: string, theirs: string) =>
  [`host_cpu_package_${ours}{package="0"}`, `node_cpu_${theirs}`] as const
const infiniband = (ours: string, theirs: string) => [`rdma_port_${ours}`, `node_infiniband_${theirs}`] as const

/** Pairs of a metric of ours and the same of theirs. Labels that are named here are not compared; all others are. */
export const SAME: readonly (readonly [ours: string, theirs: string])[] = [
  netdev('receive', 'bytes', 'bytes'),
  netdev('receive', 'packets', 'packets'),
  netdev('receive', 'errors', 'errs'),
  netdev('receive', 'dropped', 'drop'),
  netdev('receive', 'fifo_errors', 'fifo'),
  netdev('receive', 'frame_errors', 'frame'),
  netdev('receive', 'compressed_packets', 'compressed'),
  netdev('receive', 'multicast_packets', 'multicast'),
  netdev('transmit', 'bytes', 'bytes'),
  netdev('transmit', 'packets', 'packets'),
  netdev('transmit', 'errors', 'errs'),
  netdev('transmit', 'dropped', 'drop'),
  netdev('transmit', 'fifo_errors', 'fifo'),
  netdev('transmit', 'collisions', 'colls'),
  netdev('transmit', 'carrier_errors', 'carrier'),
  netdev('transmit', 'compressed_packets', 'compressed'),
  ['netdev_up', 'node_network_up'],
  ['netdev_carrier', 'node_network_carrier'],
  ['netdev_carrier_changes_total', 'node_network_carrier_changes_total'],
  ['netdev_mtu_bytes', 'node_network_mtu_bytes'],
  ['netdev_speed_bytes_per_second', 'node_network_speed_bytes'],
  ...['user', 'nice', 'system', 'idle', 'iowait', 'irq', 'softirq', 'steal'].map(cpu),
  ['host_cpu_guest_seconds_total', 'node_cpu_guest_seconds_total{mode="user"}'],
  ['host_cpu_guest_nice_seconds_total', 'node_cpu_guest_seconds_total{mode="nice"}'],
  ['host_kernel_boot_time_seconds', 'node_boot_time_seconds'],
  ['host_kernel_processes_running', 'node_procs_running'],
  ['host_kernel_processes_blocked', 'node_procs_blocked'],
  ['host_kernel_context_switches_total', 'node_context_switches_total'],
  ['host_kernel_interrupts_total', 'node_intr_total'],
  ['host_kernel_forks_total', 'node_forks_total'],
  memory('total_bytes', 'MemTotal_bytes'),
  memory('free_bytes', 'MemFree_bytes'),
  memory('available_bytes', 'MemAvailable_bytes'),
  memory('buffers_bytes', 'Buffers_bytes'),
  memory('cached_bytes', 'Cached_bytes'),
  memory('dirty_bytes', 'Dirty_bytes'),
  memory('writeback_bytes', 'Writeback_bytes'),
  memory('anonymous_bytes', 'AnonPages_bytes'),
  memory('mapped_bytes', 'Mapped_bytes'),
  memory('shared_bytes', 'Shmem_bytes'),
  memory('slab_bytes', 'Slab_bytes'),
  memory('slab_reclaimable_bytes', 'SReclaimable_bytes'),
  memory('kernel_stack_bytes', 'KernelStack_bytes'),
  memory('page_tables_bytes', 'PageTables_bytes'),
  memory('locked_bytes', 'Mlocked_bytes'),
  memory('committed_bytes', 'Committed_AS_bytes'),
  memory('commit_limit_bytes', 'CommitLimit_bytes'),
  memory('swap_total_bytes', 'SwapTotal_bytes'),
  memory('swap_free_bytes', 'SwapFree_bytes'),
  memory('swap_cached_bytes', 'SwapCached_bytes'),
  memory('huge_pages', 'HugePages_Total'),
  memory('huge_pages_free', 'HugePages_Free'),
  memory('huge_pages_promised', 'HugePages_Rsvd'),
  memory('huge_pages_surplus', 'HugePages_Surp'),
  memory('huge_page_size_bytes', 'Hugepagesize_bytes'),
  memory('hugetlb_bytes', 'Hugetlb_bytes'),
  memory('anonymous_huge_pages_bytes', 'AnonHugePages_bytes'),
  memory('unevictable_bytes', 'Unevictable_bytes'),
  pressure('cpu', 'waiting'),
  pressure('memory', 'waiting'),
  pressure('memory', 'stalled'),
  pressure('io', 'waiting'),
  pressure('io', 'stalled'),
  ['host_softnet_processed_total', 'node_softnet_processed_total'],
  ['host_softnet_dropped_total', 'node_softnet_dropped_total'],
  ['host_softnet_squeezed_total', 'node_softnet_times_squeezed_total'],
  ['host_load1', 'node_load1'],
  ['host_load5', 'node_load5'],
  ['host_load15', 'node_load15'],
  ['host_kernel_open_files', 'node_filefd_allocated'],
  ['host_kernel_open_files_limit', 'node_filefd_maximum'],
  ...['timer', 'net_tx', 'net_rx', 'block', 'tasklet', 'sched', 'rcu'].map(softirqs),
  disk('reads_total', 'reads_completed_total'),
  disk('reads_merged_total', 'reads_merged_total'),
  disk('read_bytes_total', 'read_bytes_total'),
  disk('read_seconds_total', 'read_time_seconds_total'),
  disk('writes_total', 'writes_completed_total'),
  disk('writes_merged_total', 'writes_merged_total'),
  disk('written_bytes_total', 'written_bytes_total'),
  disk('write_seconds_total', 'write_time_seconds_total'),
  disk('in_flight', 'io_now'),
  disk('io_seconds_total', 'io_time_seconds_total'),
  disk('waiting_seconds_total', 'io_time_weighted_seconds_total'),
  disk('discards_total', 'discards_completed_total'),
  disk('flushes_total', 'flush_requests_total'),
  disk('flush_seconds_total', 'flush_requests_time_seconds_total'),
  vm('page_faults', 'pgfault'),
  vm('major_page_faults', 'pgmajfault'),
  vm('swapped_in_pages', 'pswpin'),
  vm('swapped_out_pages', 'pswpout'),
  vm('oom_kills', 'oom_kill'),
  vm('direct_scanned_pages', 'pgscan_direct'),
  vm('direct_reclaimed_pages', 'pgsteal_direct'),
  vm('compaction_stalls', 'compact_stall'),
  vm('compaction_failures', 'compact_fail'),
  vm('huge_page_faults', 'thp_fault_alloc'),
  vm('huge_page_fallbacks', 'thp_fault_fallback'),
  vm('numa_hint_faults', 'numa_hint_faults'),
  vm('numa_migrated_pages', 'numa_pages_migrated'),
  network('tcp_established', 'Tcp_CurrEstab'),
  network('tcp_active_opens_total', 'Tcp_ActiveOpens'),
  network('tcp_passive_opens_total', 'Tcp_PassiveOpens'),
  network('tcp_attempt_fails_total', 'Tcp_AttemptFails'),
  network('tcp_established_resets_total', 'Tcp_EstabResets'),
  network('tcp_rx_segments_total', 'Tcp_InSegs'),
  network('tcp_tx_segments_total', 'Tcp_OutSegs'),
  network('tcp_retransmitted_segments_total', 'Tcp_RetransSegs'),
  network('tcp_lost_retransmits_total', 'TcpExt_TCPLostRetransmit'),
  network('tcp_syn_retransmits_total', 'TcpExt_TCPSynRetrans'),
  network('tcp_timeouts_total', 'TcpExt_TCPTimeouts'),
  network('tcp_rx_errors_total', 'Tcp_InErrs'),
  network('tcp_tx_resets_total', 'Tcp_OutRsts'),
  network('tcp_listen_overflows_total', 'TcpExt_ListenOverflows'),
  network('tcp_listen_drops_total', 'TcpExt_ListenDrops'),
  network('tcp_backlog_drops_total', 'TcpExt_TCPBacklogDrop'),
  network('udp_rx_datagrams_total', 'Udp_InDatagrams'),
  network('udp_tx_datagrams_total', 'Udp_OutDatagrams'),
  network('udp_no_port_datagrams_total', 'Udp_NoPorts'),
  network('udp_rx_errors_total', 'Udp_InErrors'),
  network('udp_rx_buffer_errors_total', 'Udp_RcvbufErrors'),
  network('udp_tx_buffer_errors_total', 'Udp_SndbufErrors'),
  network('ip_rx_discards_total', 'Ip_InDiscards'),
  network('ip_tx_discards_total', 'Ip_OutDiscards'),
  network('ip_no_route_packets_total', 'Ip_OutNoRoutes'),
  network('ip_rx_congestion_marks_total', 'IpExt_InCEPkts'),
  numa('total_bytes', 'MemTotal'),
  numa('free_bytes', 'MemFree'),
  numa('file_bytes', 'FilePages'),
  numa('anonymous_bytes', 'AnonPages'),
  numa('huge_pages', 'HugePages_Total'),
  numa('huge_pages_free', 'HugePages_Free'),
  numa('hit_pages_total', 'numa_hit_total'),
  numa('miss_pages_total', 'numa_miss_total'),
  numa('foreign_pages_total', 'numa_foreign_total'),
  numa('interleaved_pages_total', 'interleave_hit_total'),
  numa('local_pages_total', 'local_node_total'),
  numa('other_pages_total', 'other_node_total'),
  sensor('temperature_celsius', PACKAGE, 'temp_celsius'),
  sensor('temperature_limit_celsius', PACKAGE, 'temp_max_celsius'),
  sensor('temperature_critical_celsius', PACKAGE, 'temp_crit_celsius'),
  sensor('temperature_celsius', ADAPTER, 'temp_celsius'),
  sensor('fan_rpm', FAN, 'fan_rpm'),
  sensor('fan_minimum_rpm', FAN, 'fan_min_rpm'),
  sensor('fan_maximum_rpm', FAN, 'fan_max_rpm'),
  sensor('power_watts', METER, 'power_average_watt'),
  sensor('power_cap_watts', METER, 'power_cap_watt'),
  sensor('power_limit_watts', METER, 'power_max_watt'),
  sensor('power_critical_watts', METER, 'power_crit_watt'),
  ['host_thermal_zone_celsius{kind="x86_pkg_temp"}', 'node_thermal_zone_temp{type="x86_pkg_temp"}'],
  controller('corrected_errors_total', 'correctable_errors_total'),
  controller('uncorrected_errors_total', 'uncorrectable_errors_total'),
  controller('corrected_unplaced_total', 'csrow_correctable_errors_total{csrow="unknown"}'),
  controller('uncorrected_unplaced_total', 'csrow_uncorrectable_errors_total{csrow="unknown"}'),
  row('corrected_errors_total', 'correctable_errors_total'),
  row('uncorrected_errors_total', 'uncorrectable_errors_total'),
  socket('throttles_total', 'package_throttles_total{package="0"}'),
  socket('frequency_limit_hertz', 'scaling_frequency_max_hertz{cpu="0"}'),
  socket('frequency_max_hertz', 'frequency_max_hertz{cpu="0"}'),
  infiniband('state', 'state_id'),
  infiniband('phys_state', 'physical_state_id'),
  infiniband('rate_bytes_per_second', 'rate_bytes_per_second'),
  infiniband('xmit_data_bytes_total', 'port_data_transmitted_bytes_total'),
  infiniband('rcv_data_bytes_total', 'port_data_received_bytes_total'),
  infiniband('xmit_packets_total', 'port_packets_transmitted_total'),
  infiniband('rcv_packets_total', 'port_packets_received_total'),
  infiniband('unicast_xmit_packets_total', 'unicast_packets_transmitted_total'),
  infiniband('unicast_rcv_packets_total', 'unicast_packets_received_total'),
  infiniband('multicast_xmit_packets_total', 'multicast_packets_transmitted_total'),
  infiniband('multicast_rcv_packets_total', 'multicast_packets_received_total'),
  infiniband('xmit_wait_ticks_total', 'port_transmit_wait_total'),
  infiniband('xmit_discards_total', 'port_discards_transmitted_total'),
  infiniband('xmit_constraint_errors_total', 'port_constraint_errors_transmitted_total'),
  infiniband('rcv_constraint_errors_total', 'port_constraint_errors_received_total'),
  infiniband('rcv_errors_total', 'port_errors_received_total'),
  infiniband('rcv_remote_physical_errors_total', 'port_receive_remote_physical_errors_total'),
  infiniband('rcv_switch_relay_errors_total', 'port_receive_switch_relay_errors_total'),
  infiniband('symbol_error_total', 'symbol_error_total'),
  infiniband('link_error_recovery_total', 'link_error_recovery_total'),
  infiniband('link_downed_total', 'link_downed_total'),
  infiniband('local_link_integrity_errors_total', 'local_link_integrity_errors_total'),
  infiniband('excessive_buffer_overrun_errors_total', 'excessive_buffer_overrun_errors_total'),
  infiniband('vl15_dropped_total', 'vl15_dropped_total'),
]

/** What only we have, and why. */
export const OURS_ONLY: readonly (readonly [ours: string, why: string])[] = [
  ['host_pressure_stalled_seconds_total{resource="cpu"}', 'node_exporter does not read the full line of the CPUs'],
  ['host_kernel_softirqs_total', 'node_exporter leaves the sum to the reader'],
  ['host_disk_discarded_bytes_total', 'node_exporter counts these in sectors'],
  ['host_vm_allocation_stalls_total', 'node_exporter has one a memory zone'],
  ['host_network_tracked_connections', 'node_exporter wants a file that is no longer in every kernel beside it'],
  ['host_network_tracked_connections_limit', 'the same'],
  ...['passive', 'hot', 'critical'].map(
    (trip) => [`host_thermal_zone_${trip}_celsius`, 'node_exporter does not read trip points'] as const,
  ),
  ...['dimm0', 'dimm1'].flatMap((module) =>
    ['corrected', 'uncorrected'].map(
      (kind) =>
        [
          `host_memory_module_${kind}_errors_total{module="${module}"}`,
          'node_exporter 1.5 knows rows of chips alone',
        ] as const,
    ),
  ),
  ...['controller', 'module'].map(
    (part) => [`host_memory_${part}_size_bytes`, 'node_exporter reads the errors alone'] as const,
  ),
  ['host_cpu_package_throttled_seconds_total', 'node_exporter reads how often, not how long'],
  ['host_cpu_package_core_throttles_total', 'node_exporter has one a core'],
  ['host_cpu_package_core_throttled_seconds_total', 'node_exporter reads how often, not how long'],
  ['rdma_port_width_lanes', 'node_exporter takes the rate alone'],
  ['rdma_port_saturated_counters', 'node_exporter shows counters that are stuck as they are'],
  ['rdma_port_turn_age_seconds', 'node_exporter reads everything at every scrape'],
]

/** What of the same files only they have, and why. */
export const THEIRS_ONLY: readonly (readonly [theirs: RegExp, why: string])[] = [
  [/^node_network_info$/, 'addresses and names are not measurements; host and netdev leave them out'],
  [/^node_infiniband_info$/, 'firmware, model and board are text of rdma_port, and no metric'],
  [/^node_(vmstat|netstat)_/, 'host reads what tells that the node is in trouble, not all of both files'],
  [
    /^node_disk_(info|discards_merged_total|discarded_sectors_total|discard_time_seconds_total)$/,
    'of discards host has number and bytes',
  ],
  [/^node_hwmon_(chip_names|sensor_label)$/, 'names are labels of the sensor'],
  [/^node_cooling_device_/, 'host leaves out what cools a zone'],
  [/^node_cpu_core_throttles_total$/, 'host adds up the cores of a package'],
  [
    /^node_cpu_(scaling_)?(frequency_(min_)?hertz|governor)$/,
    'clocks are slow to ask for, and the governor is text of host_cpu_package',
  ],
  [/^node_softirqs_total$/, 'host leaves out the kinds that hardly any driver uses'],
  [/^node_memory_/, 'host reads what says how full memory is, not every line of meminfo'],
]

/** Series of the test's tree whose values differ on purpose, as `metric{labels}: ours, theirs`, and why. */
export const DIFFERENT: readonly (readonly [series: RegExp, why: string])[] = [
  [
    /^netdev_up\{device="lo"\}: 1, 0$/,
    'loopback and tunnels leave operstate at unknown: with a carrier that is up to us, and down to node_exporter',
  ],
  [
    /^netdev_speed_bytes_per_second\{device="ens3f0np0_long1"\}: absent, -125000$/,
    'a speed of -1 is not known: absent, not negative',
  ],
  [
    /^netdev_(up|mtu_bytes)\{device="fresh0"\}: absent, \d+$/,
    'an interface is what /proc/net/dev lists, and this is not listed yet',
  ],
  [
    /^netdev_up\{device="a.*"\}: absent, 0$/,
    'an operstate that cannot be read does not say that the interface is down',
  ],
  [
    /^host_cpu_\w+\{cpu="([1-9]|10)"\}: absent, 0$/,
    'a CPU that is offline has no time; node_exporter fills the numbers up with zeros',
  ],
  [
    /^host_softnet_\w+\{cpu="(11"\}: \d+, absent|1"\}: absent, \d+)$/,
    'the kernel says which CPU a line belongs to; node_exporter counts lines, which is wrong where a CPU is offline',
  ],
]
