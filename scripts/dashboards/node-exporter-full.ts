// What the dashboard Node Exporter Full reads, row by row: mostly a metric as it is, or its rate.

/** A row of the dashboard. */
export interface ForeignRow {
  readonly title: string
  readonly expressions: readonly string[]
}

export const NODE_EXPORTER_FULL =
  'https://github.com/rfmoz/grafana-dashboards/blob/master/prometheus/node-exporter-full.json'

const NODE = 'instance="$node",job="$job"'

const gauge = (metric: string, more = '') => `node_${metric}{${NODE}${more}}`
const rate = (metric: string, more = '') => `irate(${gauge(metric, more)}[$__rate_interval])`
/** Names with one beginning. */
const each = (prefix: string, names: string) => names.split(' ').map((name) => `${prefix}${name}`)
const gauges = (prefix: string, names: string) => each(prefix, names).map((metric) => gauge(metric))
const rates = (prefix: string, names: string) => each(prefix, names).map((metric) => rate(metric))

const memory = (name: string) => gauge(`memory_${name}_bytes`)
const memories = (names: string) => names.split(' ').map(memory)
const cores = `count(count(${gauge('cpu_seconds_total')}) by (cpu))`
const share = (mode: string) => `sum(${rate('cpu_seconds_total', `,${mode}`)}) / scalar(${cores})`
const otherModes = ['idle', 'user', 'system', 'iowait', 'irq', 'softirq'].map((mode) => `mode!='${mode}'`).join()
const filesystem = (name: string, more: string) => gauge(`filesystem_${name}`, `,${more}`)
const ROOT = 'mountpoint="/",fstype!="rootfs"'
const ALL = "device!~'rootfs'"
const taken = (more: string) => `${filesystem('size_bytes', more)} - ${filesystem('avail_bytes', more)}`
const takenPercent = (more: string) => `((${taken(more)}) / ${filesystem('size_bytes', more)}) * 100`
const cached = ['Cached', 'Buffers', 'SReclaimable'].map(memory).join(' + ')
const applications = ['Total', 'Free'].map((name) => memory(`Mem${name}`))
const swapUsed = `(${memory('SwapTotal')} - ${memory('SwapFree')})`
const ofChips = (name: string) =>
  `${gauge(`hwmon_${name}`)} * on(chip) group_left(chip_name) ${gauge('hwmon_chip_names')}`
const hugePages = (name: string) => `${gauge(`memory_HugePages_${name}`)} * ${memory('Hugepagesize')}`
const perRequest = (time: string, requests: string) => `${rate(`disk_${time}`)} / ${rate(`disk_${requests}`)}`
const perSocket = (kind: string) => `${gauge(`sockstat_${kind}_mem_bytes`)} / ${gauge(`sockstat_${kind}_inuse`)}`
const ofDevices = (name: string) => rate(`disk_${name}`, ',device=~"$diskdevices"')
const ofExporter = (name: string) => `process_${name}{${NODE}}`

const ROWS: readonly ForeignRow[] = [
  {
    title: 'Quick CPU / Mem / Disk',
    expressions: [
      ...rates('pressure_', 'cpu_waiting_seconds_total memory_waiting_seconds_total io_waiting_seconds_total'),
      rate('pressure_irq_stalled_seconds_total'),
      `100 * (1 - avg(rate(node_cpu_seconds_total{mode="idle",instance="$node"}[$__rate_interval])))`,
      `scalar(${gauge('load1')}) * 100 / ${cores}`,
      `clamp_min((1 - (${memory('MemAvailable')} / ${memory('MemTotal')})) * 100, 0)`,
      `(${swapUsed} / (${memory('SwapTotal')})) * 100`,
      takenPercent(ROOT),
      cores,
      memory('MemTotal'),
      memory('SwapTotal'),
      filesystem('size_bytes', ROOT),
      `${gauge('time_seconds')} - ${gauge('boot_time_seconds')}`,
    ],
  },
  {
    title: 'Basic CPU / Mem / Net / Disk',
    expressions: [
      ...['mode="system"', 'mode="user"', 'mode="iowait"', 'mode=~".*irq"', otherModes, 'mode="idle"'].map(share),
      `${applications.join(' - ')} - (${cached})`,
      cached,
      memory('MemFree'),
      swapUsed,
      ...['receive', 'transmit'].map((side) => `rate(${gauge(`network_${side}_bytes_total`)}[$__rate_interval])*8`),
      takenPercent(ALL),
    ],
  },
  {
    title: 'CPU / Memory / Net / Disk',
    expressions: [
      ...['nice', 'irq', 'softirq', 'steal'].map((mode) => share(`mode="${mode}"`)),
      `sum by(instance) (${rate('cpu_guest_seconds_total')}) / on(instance) group_left sum by (instance)((${rate('cpu_seconds_total')})) > 0`,
      [...applications, ...memories('Buffers Cached Slab PageTables SwapCached')].join(' - '),
      ...memories('PageTables SwapCached Slab Cached Buffers HardwareCorrupted'),
      taken(ALL),
      ...['reads_completed', 'writes_completed', 'read_bytes', 'written_bytes', 'io_time_seconds'].map((name) =>
        ofDevices(`${name}_total`),
      ),
    ],
  },
  {
    title: 'Memory Meminfo',
    expressions: [
      ...memories('Committed_AS CommitLimit Writeback WritebackTmp Dirty NFS_Unstable SUnreclaim SReclaimable'),
      ...memories('Mapped Shmem ShmemHugePages ShmemPmdMapped'),
      ...['Inactive', 'Active'].map((name) => `(${memory(name)}) / (${memory('MemTotal')})`),
      ...memories('Inactive_file Inactive_anon Active_file Active_anon KernelStack Percpu Bounce'),
      ...memories('VmallocChunk VmallocTotal VmallocUsed AnonHugePages AnonPages Unevictable Mlocked'),
      ...memories('DirectMap1G DirectMap2M DirectMap4k'),
      ...['Free', 'Rsvd', 'Surp', 'Total'].map(hugePages),
    ],
  },
  {
    title: 'Memory Vmstat',
    expressions: [
      ...rates('vmstat_', 'pgpgin pgpgout pswpin pswpout pgfault pgmajfault'),
      `${rate('vmstat_pgfault')} - ${rate('vmstat_pgmajfault')}`,
      rate('vmstat_oom_kill'),
    ],
  },
  {
    title: 'System Timesync',
    expressions: [
      ...gauges('timex_', 'estimated_error_seconds offset_seconds maxerror_seconds loop_time_constant sync_status'),
      ...gauges('timex_', 'frequency_adjustment_ratio tick_seconds tai_offset_seconds'),
      ...gauges('timex_pps_', 'frequency_hertz stability_hertz jitter_seconds shift_seconds'),
      ...rates('timex_pps_', 'calibration_total error_total stability_exceeded_total jitter_total'),
    ],
  },
  {
    title: 'System Processes',
    expressions: [
      ...gauges('', 'procs_blocked procs_running processes_state'),
      ...rates('', 'forks_total schedstat_running_seconds_total schedstat_waiting_seconds_total'),
      `${rate('schedstat_waiting_seconds_total')} / (${rate('schedstat_running_seconds_total')} + ${rate('schedstat_waiting_seconds_total')})`,
      ...gauges('processes_', 'pids max_processes threads max_threads'),
    ],
  },
  {
    title: 'System Misc',
    expressions: [
      ...rates('', 'context_switches_total intr_total'),
      ...gauges('load', '1 5 15'),
      gauge('cpu_scaling_frequency_hertz'),
      ...['max', 'min'].map((limit) => `avg(${gauge(`cpu_scaling_frequency_${limit}_hertz`)})`),
      ...rates('', 'schedstat_timeslices_total interrupts_total'),
      ...gauges('entropy_', 'available_bits pool_size_bits'),
      ...each('pressure_', 'cpu_waiting memory_waiting memory_stalled io_waiting io_stalled irq_stalled').map(
        (name) => `rate(${gauge(`${name}_seconds_total`)}[$__rate_interval])`,
      ),
    ],
  },
  {
    title: 'Hardware Misc',
    expressions: [
      ...each('temp_', 'celsius crit_alarm_celsius crit_celsius crit_hyst_celsius max_celsius').map(ofChips),
      `100 * ${gauge('cooling_device_cur_state')} / ${gauge('cooling_device_max_state')}`,
      gauge('power_supply_online'),
      ...each('fan_', 'rpm min_rpm').map(ofChips),
    ],
  },
  {
    title: 'Systemd',
    expressions: [
      ...['activating', 'active', 'deactivating', 'failed', 'inactive'].map((state) =>
        gauge('systemd_units', `,state="${state}"`),
      ),
      gauge('systemd_socket_current_connections'),
      ...rates('systemd_socket_', 'accepted_connections_total refused_connections_total'),
    ],
  },
  {
    title: 'Storage Disk',
    expressions: [
      ...rates('disk_', 'reads_completed_total writes_completed_total read_bytes_total written_bytes_total'),
      perRequest('read_time_seconds_total', 'reads_completed_total'),
      perRequest('write_time_seconds_total', 'writes_completed_total'),
      ...rates('disk_', 'io_time_weighted_seconds_total reads_merged_total writes_merged_total io_time_seconds_total'),
      ...rates('disk_', 'discard_time_seconds_total flush_requests_time_seconds_total discards_completed_total'),
      ...rates('disk_', 'discards_merged_total flush_requests_total discarded_sectors_total'),
      gauge('disk_io_now'),
    ],
  },
  {
    title: 'Storage Filesystem',
    expressions: [
      ...gauges('filefd_', 'maximum allocated'),
      ...['avail_bytes', 'free_bytes', 'size_bytes', 'files_free', 'readonly', 'files'].map((name) =>
        filesystem(name, ALL),
      ),
      filesystem('device_error', `${ALL},fstype!~'tmpfs'`),
    ],
  },
  {
    title: 'Network Traffic',
    expressions: [
      ...each('network_receive_', 'packets errs drop compressed multicast nohandler frame fifo'),
      ...each('network_transmit_', 'packets errs drop compressed fifo colls carrier'),
    ]
      .map((name) => `rate(${gauge(`${name}_total`)}[$__rate_interval])`)
      .concat(
        gauges('', 'arp_entries nf_conntrack_entries nf_conntrack_entries_limit'),
        gauge('network_up', ',operstate="up"'),
        gauges('network_', 'carrier transmit_queue_length mtu_bytes'),
        `${gauge('network_speed_bytes')} * 8`,
      ),
  },
  {
    title: 'Network Sockstat',
    expressions: [
      ...gauges('sockstat_', 'TCP_alloc TCP_inuse TCP_orphan TCP_tw UDPLITE_inuse UDP_inuse sockets_used FRAG_inuse'),
      ...gauges('sockstat_', 'RAW_inuse TCP_mem_bytes UDP_mem_bytes FRAG_memory TCP_mem UDP_mem'),
      ...['TCP', 'UDP'].map(perSocket),
      ...rates('softnet_', 'processed_total dropped_total times_squeezed_total received_rps_total'),
      rate('softnet_flow_limit_count_total'),
    ],
  },
  {
    title: 'Network Netstat',
    expressions: [
      ...rates('netstat_', 'IpExt_InOctets IpExt_OutOctets Ip_Forwarding Icmp_InMsgs Icmp_OutMsgs Icmp_InErrors'),
      ...rates('netstat_Tcp_', 'InSegs OutSegs RetransSegs InErrs OutRsts ActiveOpens PassiveOpens'),
      ...rates('netstat_TcpExt_', 'ListenOverflows ListenDrops TCPSynRetrans TCPRcvQDrop TCPOFOQueue TCPTimeouts'),
      ...rates('netstat_TcpExt_', 'SyncookiesFailed SyncookiesRecv SyncookiesSent'),
      ...rates('netstat_Udp_', 'InDatagrams OutDatagrams InErrors NoPorts RcvbufErrors SndbufErrors'),
      rate('netstat_UdpLite_InErrors'),
      ...gauges('netstat_Tcp_', 'CurrEstab MaxConn'),
      ...['rx', 'tx'].map((queue) => gauge('udp_queues', `,ip="v4",queue="${queue}"`)),
      ...['established', 'fin_wait2', 'listen', 'time_wait', 'close_wait'].map((state) =>
        gauge('tcp_connection_states', `,state="${state}"`),
      ),
    ],
  },
  {
    title: 'Node Exporter',
    expressions: [
      ...gauges('scrape_collector_', 'duration_seconds success'),
      `irate(${ofExporter('cpu_seconds_total')}[$__rate_interval])`,
      ...['resident_memory_bytes', 'virtual_memory_bytes', 'virtual_memory_max_bytes', 'max_fds', 'open_fds'].map(
        ofExporter,
      ),
      `1 - ${gauge('textfile_scrape_error')}`,
    ],
  },
]

/** Its rows, each expression once. */
export function nodeExporterFull(): readonly ForeignRow[] {
  const seen = new Set<string>()
  const isNew = (expr: string) => !seen.has(expr) && seen.add(expr).has(expr)
  return ROWS.map(({ title, expressions }) => ({ title, expressions: expressions.filter(isNew) }))
}
