// What node_exporter has and Sonde leaves out, and why: rows of docs/host.md, reasons of docs/dashboards.md, and
// exceptions of the test that compares both.

/** Something of a collector of node_exporter that Sonde does not have. */
export interface LeftOut {
  /** Collectors, as node_exporter names them. */
  readonly collectors: readonly string[]
  readonly missing: string
  readonly why: string
  /** Names of its metrics; undefined: it has none of its own. */
  readonly metrics?: RegExp
  /** Whether node_exporter 1.5 reads it only if asked to. */
  readonly isOptional?: true
}

const row = (collectors: string, missing: string, why: string, metrics?: RegExp): LeftOut => {
  return { collectors: collectors.split(' '), missing, why, ...(metrics === undefined ? {} : { metrics }) }
}

/** In the order of collectors. */
export const LEFT_OUT: readonly LeftOut[] = [
  row('arp', 'entries of the ARP table', 'a full table shows as failed connections', /^node_arp_/),
  row(
    'bcache btrfs xfs zfs',
    'statistics of these file systems',
    'space and read-only state are there for every kind',
    /^node_(bcache|btrfs|xfs|zfs)_/,
  ),
  row(
    'bonding',
    'active ports of a bond',
    'each port is an interface with its own carrier and errors',
    /^node_bonding_/,
  ),
  row(
    'cpufreq',
    'clocks of CPUs',
    'a read may make the kernel sleep for 20 ms; limits and throttling are there',
    /^node_cpu_((scaling_)?frequency_(min_)?hertz|scaling_governor)$/,
  ),
  row(
    'diskstats',
    'names of disks, merges and time of discards',
    'number and bytes of discards are there',
    /^node_disk_(info|discards_merged_total|discard_time_seconds_total)$/,
  ),
  row('dmi', 'serial numbers', 'they identify a machine, and nobody watches them'),
  row('entropy', 'random numbers left', 'kernels since 5.18 always report 256', /^node_entropy_/),
  row(
    'fibrechannel tapestats ipvs',
    'other hardware and load balancers',
    'GPU nodes have none',
    /^node_(fibrechannel|tape|ipvs)_/,
  ),
  row(
    'filesystem',
    'whether a call to a file system failed',
    'its values are then absent with the reason',
    /^node_filesystem_device_error$/,
  ),
  row(
    'hwmon',
    'names of chips and sensors in series of their own',
    'they are labels of each sensor',
    /^node_hwmon_(chip_names|sensor_label)$/,
  ),
  row(
    'hwmon',
    'alarms and hysteresis of sensors',
    'the value and its limits are there',
    /^node_hwmon_\w+_(alarm|hyst)\w*$/,
  ),
  { ...row('interrupts', 'interrupts by line', 'their sum is there', /^node_interrupts_total$/), isOptional: true },
  row(
    'mdadm nvme',
    'state of RAID arrays, firmware of disks',
    'not read yet; sensors and work of disks are there',
    /^node_(md|nvme)_/,
  ),
  row(
    'netclass',
    'addresses, names and queue lengths of interfaces',
    'they are settings, not measurements',
    /^node_network_(info|address_assign_type|device_id|dormant|flags|iface_\w+|name_assign_type|protocol_type|transmit_queue_length)$/,
  ),
  row(
    'netdev',
    'packets without a handler',
    'idle ports of a bond count copies there, and nothing is lost',
    /^node_network_receive_nohandler_total$/,
  ),
  row('meminfo', 'other lines', 'Sonde reads those that say how full memory is', /^node_memory_/),
  row('netstat vmstat', 'other lines', 'Sonde reads those that show most trouble', /^node_(netstat|vmstat)_/),
  row('nfs nfsd', 'calls of NFS', 'space is there; a server that hangs is reported by name', /^node_nfsd?_/),
  row('powersupplyclass', 'batteries', 'servers have none; power meters are there', /^node_power_supply_/),
  {
    ...row(
      'processes',
      'threads and PIDs, by state, with their limits',
      'not read yet; tasks that run or wait for a disk are there',
      /^node_processes_/,
    ),
    isOptional: true,
  },
  row('rapl', 'energy of packages', 'only root may read it since CVE-2020-8694', /^node_rapl_/),
  row('schedstat', 'waiting time by CPU', 'pressure and the run queue show the same', /^node_schedstat_/),
  row('selinux', 'whether SELinux enforces', 'it is a setting, not a measurement', /^node_selinux_/),
  row('sockstat', 'memory in bytes', 'the same pages, times their size', /^node_sockstat_\w+_mem_bytes$/),
  row('sockstat', 'other sockets', 'Sonde reads those of TCP and UDP, and raw ones', /^node_sockstat_/),
  row(
    'softnet',
    'packets steered between CPUs',
    'drops and exhausted budgets are there',
    /^node_softnet_(received_rps|flow_limit_count|backlog_len|cpu_collision)/,
  ),
  {
    ...row(
      'systemd',
      'units that have not failed, sockets',
      'failed units are there, with their names',
      /^node_systemd_/,
    ),
    isOptional: true,
  },
  {
    ...row('tcpstat', 'connections by state', 'established and waiting ones are there', /^node_tcp_connection_states$/),
    isOptional: true,
  },
  row('textfile', 'metrics of scripts', 'scripts report by the [SDK](sdk.md)', /^node_textfile_/),
  row('thermal_zone', 'what cools a zone', 'temperatures and throttling are there', /^node_cooling_device_/),
  row('time', 'seconds since 1970', '`time()` of Prometheus has them; errors of the clock are there', /^node_time_/),
  row(
    'timex',
    'PPS and internal values',
    'offset, errors, frequency and state are there',
    /^node_timex_(pps|loop|tick)_/,
  ),
  row('udp_queues', 'lengths of queues', 'drops because of full buffers are there', /^node_udp_queues$/),
  row(
    'node_exporter',
    'its own collectors and process',
    'Sonde has `sonde_source_up` and other [metrics of its own](metrics.md)',
    /^(node_scrape_collector|process)_/,
  ),
]

/** Why Sonde does not have a metric of node_exporter; undefined if no row has it. */
export function leftOutReason(metric: string): string | undefined {
  return LEFT_OUT.find(({ metrics }) => metrics?.test(metric))?.why
}
