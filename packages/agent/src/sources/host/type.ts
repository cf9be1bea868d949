import { counter, defineType, gauge, label, optional, text, timestamp } from '@sonde/sdk'

const entity = { kind: 'host', key: [] }

const seconds = (help: string) => counter('f64', { unit: 'seconds', help })
const bytes = (help: string) => optional(gauge('u64', { unit: 'bytes', help }))
const number = (help: string) => optional(gauge('u64', { help }))
const count = (help: string) => counter('u64', { help })

const inMode = (mode: string) =>
  counter('f64', {
    metric: 'host_cpu_seconds_total',
    labels: { mode },
    unit: 'seconds',
    help: 'Time in each mode; user and nice include guests',
  })
const ofGuests = (mode: string) =>
  counter('f64', {
    metric: 'host_cpu_guest_seconds_total',
    labels: { mode },
    unit: 'seconds',
    help: 'Time running guests, which is also part of the mode in host_cpu_seconds_total',
  })
const softirqs = (vector: string) =>
  optional(
    counter('u64', {
      metric: 'host_kernel_softirqs_total',
      labels: { vector },
      help: 'Soft interrupts served, by kind',
    }),
  )

/** Where one CPU spent its time. */
export const hostCpuType = defineType(
  'host_cpu',
  'Time of one CPU by mode',
  {
    time: timestamp(),
    cpu: label('Number of the CPU'),
    user_seconds_total: inMode('user'),
    nice_seconds_total: inMode('nice'),
    system_seconds_total: inMode('system'),
    idle_seconds_total: inMode('idle'),
    iowait_seconds_total: inMode('iowait'),
    irq_seconds_total: inMode('irq'),
    softirq_seconds_total: inMode('softirq'),
    steal_seconds_total: inMode('steal'),
    guest_seconds_total: ofGuests('user'),
    guest_nice_seconds_total: ofGuests('nice'),
  },
  { entity, core: [] },
)

/** Memory of the node. */
export const hostMemoryType = defineType(
  'host_memory',
  'Memory of the node',
  {
    time: timestamp(),
    total_bytes: gauge('u64', { unit: 'bytes', help: 'Memory of the host that the kernel manages' }),
    free_bytes: bytes('Memory that nothing uses'),
    available_bytes: bytes('Memory available to new programs without swapping, estimated by the kernel'),
    buffers_bytes: bytes('Cache of raw block devices'),
    cached_bytes: bytes('Cache of files, shared memory included'),
    dirty_bytes: bytes('Memory that waits to be written to disk'),
    writeback_bytes: bytes('Memory that is being written to disk'),
    anonymous_bytes: bytes('Memory of programs that no file backs'),
    mapped_bytes: bytes('Files that programs have mapped'),
    shared_bytes: bytes('Shared memory and tmpfs'),
    slab_bytes: bytes('Memory of the kernel’s own objects'),
    slab_reclaimable_bytes: bytes('Memory of the kernel’s own objects that can be reclaimed'),
    kernel_stack_bytes: bytes('Stacks of the kernel'),
    page_tables_bytes: bytes('Page tables'),
    locked_bytes: bytes('Memory that programs locked in place with mlock'),
    committed_bytes: bytes('Memory promised to programs, used or unused'),
    commit_limit_bytes: bytes('Memory that may be promised if overcommitting is off'),
    swap_total_bytes: bytes('Swap space'),
    swap_free_bytes: bytes('Swap space that nothing uses'),
    swap_cached_bytes: bytes('Memory that is in swap as well'),
    huge_pages: number('Huge pages of the default size that are reserved'),
    huge_pages_free: number('Reserved huge pages that nothing uses'),
    huge_pages_promised: number('Reserved huge pages that are promised to programs, and not in use yet'),
    huge_pages_surplus: number('Huge pages beyond the permanent reservation'),
    huge_page_size_bytes: bytes('Default size of a huge page'),
    hugetlb_bytes: bytes('Memory in huge pages of every size'),
    anonymous_huge_pages_bytes: bytes('Memory of programs in transparent huge pages'),
    unevictable_bytes: bytes('Memory that cannot be reclaimed, locked memory included'),
    hardware_corrupted_bytes: bytes('Memory that the kernel no longer uses because its hardware is broken'),
  },
  { entity, core: ['total_bytes', 'available_bytes'] },
)

/** How long tasks waited for a resource (PSI). */
export const hostPressureType = defineType(
  'host_pressure',
  'Time that tasks waited for a resource',
  {
    time: timestamp(),
    resource: label('cpu, memory, io or irq'),
    waiting_seconds_total: optional(seconds('Time during which at least one task waited for the resource')),
    stalled_seconds_total: optional(seconds('Time during which every task that could run waited for the resource')),
  },
  { entity },
)

/** The receive path of the network stack, by CPU. */
export const hostSoftnetType = defineType(
  'host_softnet',
  'Packets through the receive path of one CPU',
  {
    time: timestamp(),
    cpu: label('Number of the CPU'),
    processed_total: count('Packets processed'),
    dropped_total: count('Packets dropped because the backlog of the CPU was full'),
    squeezed_total: count('Rounds that used up their budget before all packets were processed'),
  },
  { entity, core: [] },
)

/** Load averages. */
export const hostLoadType = defineType(
  'host_load',
  'Tasks that run, wait to run or wait for a disk, averaged',
  {
    time: timestamp(),
    load1: gauge('f64', { metric: 'host_load1', help: 'Average over 1 minute' }),
    load5: gauge('f64', { metric: 'host_load5', help: 'Average over 5 minutes' }),
    load15: gauge('f64', { metric: 'host_load15', help: 'Average over 15 minutes' }),
  },
  { entity },
)

/** Counts of the kernel for the whole node. */
export const hostKernelType = defineType(
  'host_kernel',
  'Counts of the kernel for the whole node',
  {
    time: timestamp(),
    boot_time_seconds: optional(
      gauge('u64', { unit: 'seconds', help: 'When the node started, in seconds since the Unix epoch' }),
    ),
    processes_running: number('Tasks that run or wait to run'),
    processes_blocked: number('Tasks that wait for a disk'),
    context_switches_total: optional(count('Context switches')),
    interrupts_total: optional(count('Interrupts served')),
    forks_total: optional(count('Processes and threads started')),
    softirqs_hi_total: softirqs('hi'),
    softirqs_timer_total: softirqs('timer'),
    softirqs_net_tx_total: softirqs('net_tx'),
    softirqs_net_rx_total: softirqs('net_rx'),
    softirqs_block_total: softirqs('block'),
    softirqs_block_iopoll_total: softirqs('block_iopoll'),
    softirqs_tasklet_total: softirqs('tasklet'),
    softirqs_sched_total: softirqs('sched'),
    softirqs_hrtimer_total: softirqs('hrtimer'),
    softirqs_rcu_total: softirqs('rcu'),
    open_files: number('File handles in use'),
    open_files_limit: number('Limit of file handles'),
    release: optional(text({ help: 'Release of the kernel' })),
  },
  { entity, core: ['boot_time_seconds'] },
)

/** Work of the virtual memory of the node. */
export const hostVmType = defineType(
  'host_vm',
  'Work of the virtual memory',
  {
    time: timestamp(),
    page_faults_total: optional(count('Page faults')),
    major_page_faults_total: optional(count('Page faults that waited for a disk')),
    swapped_in_pages_total: optional(count('Pages read from swap')),
    swapped_out_pages_total: optional(count('Pages written to swap')),
    oom_kills_total: optional(count('Processes killed because memory was full')),
    allocation_stalls_total: optional(count('Times a task had to free memory itself before an allocation')),
    direct_scanned_pages_total: optional(count('Pages scanned by tasks that had to free memory themselves')),
    direct_reclaimed_pages_total: optional(count('Pages freed by tasks that had to free memory themselves')),
    compaction_stalls_total: optional(count('Times a task had to move pages itself to get a huge page')),
    compaction_failures_total: optional(count('Times that moving pages gave no huge page')),
    huge_page_faults_total: optional(count('Page faults served with a huge page')),
    huge_page_fallbacks_total: optional(count('Page faults served with small pages because no huge page was free')),
    numa_hint_faults_total: optional(count('Page faults by which the kernel finds the NUMA node that uses a page')),
    numa_migrated_pages_total: optional(count('Pages moved to the NUMA node that uses them')),
  },
  { entity, core: ['oom_kills_total'] },
)

/** One disk. */
export const hostDiskType = defineType(
  'host_disk',
  'Work of one disk',
  {
    time: timestamp(),
    disk: label('Name of the disk'),
    reads_total: count('Reads completed'),
    reads_merged_total: count('Reads merged into another read'),
    read_bytes_total: counter('u64', { unit: 'bytes', help: 'Bytes read' }),
    read_seconds_total: seconds('Time that reads took, added up'),
    writes_total: count('Writes completed'),
    writes_merged_total: count('Writes merged into another write'),
    written_bytes_total: counter('u64', { unit: 'bytes', help: 'Bytes written' }),
    write_seconds_total: seconds('Time that writes took, added up'),
    in_flight: gauge('u64', { help: 'Requests in progress' }),
    io_seconds_total: seconds('Time in which the disk was busy'),
    waiting_seconds_total: seconds('Time that all requests took, added up'),
    discards_total: optional(count('Discards completed')),
    discarded_bytes_total: optional(counter('u64', { unit: 'bytes', help: 'Bytes discarded' })),
    flushes_total: optional(count('Flushes completed')),
    flush_seconds_total: optional(seconds('Time that flushes took, added up')),
  },
  { entity, core: ['read_bytes_total', 'written_bytes_total', 'io_seconds_total'] },
)

/** TCP, UDP and IP of the network namespace that Sonde is in. */
export const hostNetworkType = defineType(
  'host_network',
  'TCP, UDP and IP of the node',
  {
    time: timestamp(),
    tcp_established: number('TCP connections that are open'),
    tcp_active_opens_total: optional(count('TCP connections opened by this node')),
    tcp_passive_opens_total: optional(count('TCP connections accepted')),
    tcp_attempt_fails_total: optional(count('TCP connection attempts that failed')),
    tcp_established_resets_total: optional(count('TCP connections that ended with a reset')),
    tcp_rx_segments_total: optional(count('TCP segments received')),
    tcp_tx_segments_total: optional(count('TCP segments sent')),
    tcp_retransmitted_segments_total: optional(count('TCP segments sent again')),
    tcp_lost_retransmits_total: optional(count('TCP segments sent again that were lost again')),
    tcp_syn_retransmits_total: optional(count('SYN and SYN-ACK segments sent again')),
    tcp_timeouts_total: optional(count('TCP retransmission timers that expired')),
    tcp_rx_errors_total: optional(count('TCP segments received with an error')),
    tcp_tx_resets_total: optional(count('TCP resets sent')),
    tcp_listen_overflows_total: optional(count('TCP connections refused because a queue of new ones was full')),
    tcp_listen_drops_total: optional(count('TCP connections refused for any reason while listening')),
    tcp_backlog_drops_total: optional(count('TCP segments dropped because a busy socket had too many')),
    udp_rx_datagrams_total: optional(count('UDP datagrams received')),
    udp_tx_datagrams_total: optional(count('UDP datagrams sent')),
    udp_no_port_datagrams_total: optional(count('UDP datagrams received for a port without a listener')),
    udp_rx_errors_total: optional(count('UDP datagrams received and dropped for any other reason')),
    udp_rx_buffer_errors_total: optional(count('UDP datagrams dropped because the receive buffer was full')),
    udp_tx_buffer_errors_total: optional(count('UDP datagrams dropped because the send buffer was full')),
    ip_rx_discards_total: optional(count('IP packets received and dropped because no buffer was free')),
    ip_tx_discards_total: optional(count('IP packets dropped before sending because no buffer was free')),
    ip_no_route_packets_total: optional(count('IP packets dropped because there was no route')),
    ip_rx_congestion_marks_total: optional(count('IP packets received with a congestion mark')),
    tracked_connections: number('Connections that the firewall tracks'),
    tracked_connections_limit: number('Limit of connections that the firewall tracks'),
  },
  { entity, core: ['tcp_retransmitted_segments_total'] },
)

/** Sockets of the network namespace that Sonde is in. */
export const hostSocketsType = defineType(
  'host_sockets',
  'Sockets of the node',
  {
    time: timestamp(),
    used: number('Sockets of all protocols'),
    tcp_used: number('TCP sockets over IPv4 that are bound or connected'),
    tcp6_used: number('TCP sockets over IPv6 that are bound or connected'),
    tcp_allocated: number('TCP sockets that the kernel keeps, with those that no program has any more'),
    tcp_orphans: number('TCP sockets that no program has any more'),
    tcp_time_wait: number('TCP connections that wait for late segments after their end'),
    tcp_memory_pages: number('Pages of memory that buffers of TCP take'),
    udp_used: number('UDP sockets over IPv4'),
    udp6_used: number('UDP sockets over IPv6'),
    udp_memory_pages: number('Pages of memory that buffers of UDP take'),
    raw_used: number('Raw sockets over IPv4'),
    fragment_memory_bytes: bytes('Memory that fragments of IPv4 packets take'),
  },
  { entity, core: [] },
)

/** One mounted file system. */
export const hostFilesystemType = defineType(
  'host_filesystem',
  'Space of one mounted file system',
  {
    time: timestamp(),
    mountpoint: label('Folder at which it is mounted'),
    fstype: label('Kind of file system, such as ext4, xfs or nfs4'),
    size_bytes: gauge('u64', { unit: 'bytes', help: 'Space of the file system' }),
    free_bytes: gauge('u64', { unit: 'bytes', help: 'Space that no file uses, with the reserve of root' }),
    available_bytes: gauge('u64', { unit: 'bytes', help: 'Space that every user may still fill' }),
    files: gauge('u64', { help: 'Files that it can hold; 0 if it has no limit' }),
    files_free: gauge('u64', { help: 'Files that can still be made' }),
    read_only: gauge('u8', { help: '1 if nothing can be written, which the kernel also sets after an error' }),
    mounted: optional(text({ help: 'Origin of the files, such as /dev/nvme0n1p2 or server:/export' })),
  },
  { entity, core: ['size_bytes', 'available_bytes', 'read_only'] },
)

/** What the node is. */
export const hostMachineType = defineType(
  'host_machine',
  'Operating system, processor and board of the node',
  {
    time: timestamp(),
    cpus: number('CPUs that are online'),
    os: optional(text({ help: 'Operating system, such as Ubuntu 24.04.1 LTS' })),
    cpu_model: optional(text({ help: 'Model of the first processor' })),
    vendor: optional(text({ help: 'Vendor of the server' })),
    product: optional(text({ help: 'Name of the server’s model' })),
    board: optional(text({ help: 'Name of the main board' })),
    firmware_version: optional(text({ help: 'Version of the BIOS or UEFI' })),
    firmware_date: optional(text({ help: 'Date of the BIOS or UEFI, as it says it' })),
  },
  { entity, core: [] },
)

/** The synchronisation of the clock of the node. */
export const hostClockType = defineType(
  'host_clock',
  'Synchronisation of the clock of the node, as the kernel knows it',
  {
    time: timestamp(),
    synchronised: gauge('u8', { help: '1 if a program keeps the clock synchronised' }),
    offset_seconds: gauge('f64', { unit: 'seconds', help: 'What the clock is still to be corrected by' }),
    max_error_seconds: gauge('f64', { unit: 'seconds', help: 'How wrong the clock may be at most' }),
    estimated_error_seconds: gauge('f64', { unit: 'seconds', help: 'How wrong the clock is estimated to be' }),
    frequency_adjustment_ratio: gauge('f64', { unit: 'ratio', help: 'How much the clock is made faster' }),
    tai_offset_seconds: gauge('f64', { unit: 'seconds', help: 'TAI − UTC; 0 if nobody has told the kernel' }),
  },
  { entity, core: ['synchronised', 'offset_seconds', 'max_error_seconds'] },
)

/** Units of systemd. */
export const hostSystemdType = defineType(
  'host_systemd',
  'Units of systemd that failed',
  { time: timestamp(), failed_units: gauge('u64', { help: 'Units that failed' }) },
  { entity, core: ['failed_units'] },
)

/** One unit of systemd that failed. */
export const hostFailedUnitType = defineType(
  'host_failed_unit',
  'One unit of systemd that failed',
  {
    time: timestamp(),
    unit: label('Name of the unit, such as nvidia-persistenced.service'),
    failed: gauge('u8', { help: 'Always 1; the series ends when the unit recovers' }),
    description: optional(text({ help: 'What the unit is, in the words of its file' })),
  },
  { entity, core: [] },
)

/** The log of the kernel. */
export const hostKernelLogType = defineType(
  'host_kernel_log',
  'Messages of the kernel, read since the start of Sonde',
  {
    time: timestamp(),
    messages_total: count('Messages read'),
    lost_total: count('Messages that the kernel overwrote before they were read'),
  },
  { entity, core: [] },
)

/** Messages of the kernel of one kind about one device. */
export const hostKernelMessageType = defineType(
  'host_kernel_message',
  'Messages of the kernel that name hardware',
  {
    time: timestamp(),
    kind: label('xid, sxid, mlx5, aer, ecc or mce'),
    code: label('Number of an Xid or SXid, severity of an AER error, ce or ue of memory; empty if there is none'),
    device: label('PCI address that the message names; empty if it names none'),
    messages_total: counter('u64', { metric: 'host_kernel_messages_total', help: 'Messages since the start of Sonde' }),
    newest: optional(text({ help: 'The newest message, without control characters' })),
  },
  { entity, core: ['messages_total'] },
)

/** One NUMA node. */
export const hostNumaType = defineType(
  'host_numa',
  'Memory of one NUMA node',
  {
    time: timestamp(),
    numa_node: label('Number of the NUMA node'),
    device_memory: optional(
      gauge('u64', {
        help: '1 if the memory is that of a device, such as a GPU of Grace; 0 if it is that of the host',
      }),
    ),
    total_bytes: bytes('Memory of the node'),
    free_bytes: bytes('Memory that nothing uses'),
    file_bytes: bytes('Cache of files, shared memory included'),
    anonymous_bytes: bytes('Memory of programs that no file backs'),
    huge_pages: number('Huge pages of the default size that are reserved'),
    huge_pages_free: number('Reserved huge pages that nothing uses'),
    hit_pages_total: optional(count('Pages allocated on this node as requested')),
    miss_pages_total: optional(count('Pages allocated on this node because the requested node had none')),
    foreign_pages_total: optional(count('Pages requested on this node and allocated on another')),
    interleaved_pages_total: optional(count('Pages allocated on this node by interleaving, as requested')),
    local_pages_total: optional(count('Pages allocated on this node by tasks that run on it')),
    other_pages_total: optional(count('Pages allocated on this node by tasks that run on another')),
  },
  { entity, core: [] },
)

const sensor = {
  chip: label('Device with the sensor, such as a PCI address, nvme0 or coretemp.0; its monitor if it has no device'),
  chip_name: label('Name of the chip, such as coretemp, nvme or mlx5'),
  sensor: label('Name of the sensor, such as Package id 0 or temp1'),
}
const celsius = (help: string) => optional(gauge('f64', { unit: 'celsius', help }))
const watts = (help: string) => optional(gauge('f64', { unit: 'watts', help }))
const rpm = (help: string) => optional(gauge('f64', { help }))

/** One temperature sensor. */
export const hostTemperatureType = defineType(
  'host_temperature',
  'One temperature sensor of the node',
  {
    time: timestamp(),
    ...sensor,
    celsius: gauge('f64', { unit: 'celsius', help: 'Temperature' }),
    limit_celsius: celsius('Temperature that is too high in the long run'),
    critical_celsius: celsius('Temperature at which the device protects itself'),
  },
  { entity, core: [] },
)

/** One fan. */
export const hostFanType = defineType(
  'host_fan',
  'One fan of the node',
  {
    time: timestamp(),
    ...sensor,
    rpm: gauge('f64', { help: 'Rotations per minute' }),
    minimum_rpm: rpm('Rotations per minute below which the fan counts as broken'),
    maximum_rpm: rpm('Rotations per minute at full speed'),
  },
  { entity, core: [] },
)

/** One power meter. */
export const hostPowerType = defineType(
  'host_power',
  'One power meter of the node',
  {
    time: timestamp(),
    ...sensor,
    watts: gauge('f64', { unit: 'watts', help: 'Power drawn' }),
    cap_watts: watts('Power limit that the device keeps'),
    limit_watts: watts('Power that is too high in the long run'),
    critical_watts: watts('Power at which the device protects itself'),
  },
  { entity, core: [] },
)

/** One thermal zone. */
export const hostThermalZoneType = defineType(
  'host_thermal_zone',
  'One thermal zone of the kernel',
  {
    time: timestamp(),
    zone: label('Number of the zone'),
    kind: label('Name of the zone in its driver, such as x86_pkg_temp or acpitz'),
    celsius: gauge('f64', { unit: 'celsius', help: 'Temperature' }),
    passive_celsius: celsius('Temperature at which the kernel slows down the devices of the zone'),
    hot_celsius: celsius('Temperature at which the kernel notifies the firmware'),
    critical_celsius: celsius('Temperature at which the kernel shuts the node down'),
  },
  { entity, core: [] },
)

/** One memory controller, with a record for each read. */
export const hostMemoryControllerType = defineType(
  'host_memory_controller',
  'Memory errors of one controller',
  {
    time: timestamp(),
    controller: label('Number of the memory controller'),
    corrected_errors_total: optional(count('Errors corrected')),
    uncorrected_errors_total: optional(count('Errors that could not be corrected: data were lost')),
    corrected_unplaced_total: optional(count('Corrected errors whose module is unknown')),
    uncorrected_unplaced_total: optional(count('Uncorrected errors whose module is unknown')),
    size_bytes: bytes('Memory behind the controller'),
    name: optional(text({ help: 'Name of the controller in its driver, such as Skylake Socket#0 IMC#0' })),
  },
  { inTurns: true, entity, core: ['corrected_errors_total', 'uncorrected_errors_total'] },
)

/** One memory module, with a record for each read. */
export const hostMemoryModuleType = defineType(
  'host_memory_module',
  'Memory errors of one module',
  {
    time: timestamp(),
    controller: label('Number of the memory controller'),
    module: label('dimm0; rank0 if the driver knows ranks; csrow0 if the kernel counts by rows of chips'),
    corrected_errors_total: optional(count('Errors corrected')),
    uncorrected_errors_total: optional(count('Errors that could not be corrected: data were lost')),
    size_bytes: bytes('Memory of the module'),
    name: optional(text({ help: 'Name of its slot, as the firmware or an operator gave it' })),
    location: optional(text({ help: 'Location of the module, such as channel 0 slot 1' })),
    kind: optional(text({ help: 'Kind of memory, such as Registered-DDR5' })),
  },
  { inTurns: true, entity, core: [] },
)

/** One processor package, with a record for each read. */
export const hostCpuPackageType = defineType(
  'host_cpu_package',
  'Heat and clocks of one processor package',
  {
    time: timestamp(),
    package: label('Number of the package, which is the socket'),
    throttles_total: optional(count('Times the package was slowed down for heat')),
    throttled_seconds_total: optional(seconds('Time in which the package was slowed down for heat')),
    core_throttles_total: optional(count('Times a single core was slowed down for heat, added up')),
    core_throttled_seconds_total: optional(seconds('Time in which a single core was slowed down for heat, added up')),
    frequency_limit_hertz: optional(gauge('f64', { unit: 'hertz', help: 'Highest clock that the kernel allows' })),
    frequency_max_hertz: optional(gauge('f64', { unit: 'hertz', help: 'Highest clock of the processor' })),
    governor: optional(text({ help: 'Policy that chooses the clock, such as performance or powersave' })),
  },
  { inTurns: true, entity, core: ['throttles_total', 'throttled_seconds_total'] },
)
