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

const infiniband = (ours: string, theirs: string) => [`rdma_port_${ours}`, `node_infiniband_${theirs}`] as const

/** Pairs of a metric of ours and the same of theirs. Labels that are named here are not compared; all others are. */
export const SAME: readonly (readonly [ours: string, theirs: string])[] = [
  netdev('receive', 'bytes', 'bytes'),
  netdev('receive', 'packets', 'packets'),
  netdev('receive', 'errors', 'errs'),
  netdev('receive', 'dropped', 'drop'),
  netdev('receive', 'fifo', 'fifo'),
  netdev('receive', 'frame', 'frame'),
  netdev('receive', 'compressed', 'compressed'),
  netdev('receive', 'multicast', 'multicast'),
  netdev('transmit', 'bytes', 'bytes'),
  netdev('transmit', 'packets', 'packets'),
  netdev('transmit', 'errors', 'errs'),
  netdev('transmit', 'dropped', 'drop'),
  netdev('transmit', 'fifo', 'fifo'),
  netdev('transmit', 'collisions', 'colls'),
  netdev('transmit', 'carrier', 'carrier'),
  netdev('transmit', 'compressed', 'compressed'),
  ['netdev_up', 'node_network_up'],
  ['netdev_carrier', 'node_network_carrier'],
  ['netdev_carrier_changes_total', 'node_network_carrier_changes_total'],
  ['netdev_mtu_bytes', 'node_network_mtu_bytes'],
  ['netdev_speed_bytes', 'node_network_speed_bytes'],
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
  memory('hugepages', 'HugePages_Total'),
  memory('hugepages_free', 'HugePages_Free'),
  memory('hugepage_size_bytes', 'Hugepagesize_bytes'),
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
  infiniband('state', 'state_id'),
  infiniband('phys_state', 'physical_state_id'),
  infiniband('rate_bytes', 'rate_bytes_per_second'),
  infiniband('xmit_data_bytes_total', 'port_data_transmitted_bytes_total'),
  infiniband('rcv_data_bytes_total', 'port_data_received_bytes_total'),
  infiniband('xmit_packets_total', 'port_packets_transmitted_total'),
  infiniband('rcv_packets_total', 'port_packets_received_total'),
  infiniband('unicast_xmit_packets_total', 'unicast_packets_transmitted_total'),
  infiniband('unicast_rcv_packets_total', 'unicast_packets_received_total'),
  infiniband('multicast_xmit_packets_total', 'multicast_packets_transmitted_total'),
  infiniband('multicast_rcv_packets_total', 'multicast_packets_received_total'),
  infiniband('xmit_wait_total', 'port_transmit_wait_total'),
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
  ['rdma_port_width_lanes', 'node_exporter takes the rate alone'],
  ['rdma_port_saturated_counters', 'node_exporter shows counters that are stuck as they are'],
  ['rdma_port_turn_age_seconds', 'node_exporter reads everything at every scrape'],
]

/** What of the same files only they have, and why. */
export const THEIRS_ONLY: readonly (readonly [theirs: RegExp, why: string])[] = [
  [/^node_network_info$/, 'addresses and names are not measurements; host and netdev leave them out'],
  [/^node_infiniband_info$/, 'firmware, model and board are text of rdma_port, and no metric'],
  [/^node_memory_/, 'host reads what says how full memory is, not every line of meminfo'],
]

/** Series of the test's tree whose values differ on purpose, as `metric{labels}: ours, theirs`, and why. */
export const DIFFERENT: readonly (readonly [series: RegExp, why: string])[] = [
  [
    /^netdev_up\{device="lo"\}: 1, 0$/,
    'loopback and tunnels leave operstate at unknown: with a carrier that is up to us, and down to node_exporter',
  ],
  [
    /^netdev_speed_bytes\{device="ens3f0np0_long1"\}: absent, -125000$/,
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
