import { BYTES, BYTES_PER_SECOND, CELSIUS, COUNT, PER_SECOND, PERCENT, SECONDS, WATTS } from '../../format/quantity.ts'
import { last, rate } from '../device/lines.ts'
import type { DevicePanel, PanelLine, PanelSection } from '../device/panel.ts'

const NO_SOURCE = 'The source host does not read it here; its option parts chooses what it reads.'
const NO_SENSOR = 'The kernel has no such sensor here; virtual machines have none.'

/** A line for each value of a label. */
function each(line: PanelLine, label: string | readonly string[]): PanelLine {
  return { ...line, each: label }
}

type Given = Omit<DevicePanel, 'id' | 'without' | 'slots'> & Partial<Pick<DevicePanel, 'without'>>

function panel(id: string, given: Given): DevicePanel {
  return { id, slots: [6, 3, 4, 5, 2], without: NO_SOURCE, ...given }
}

/** The panels of the host below its processors, in sections. */
export const HOST_SECTIONS: readonly PanelSection[] = [
  { id: 'memory', title: 'Memory and pressure', panels: [...memory(), ...pressure()] },
  { id: 'disks', title: 'Disks', panels: disks() },
  { id: 'network', title: 'Network stack', panels: network() },
  { id: 'kernel', title: 'Kernel', panels: kernel() },
  { id: 'sensors', title: 'Sensors', panels: sensors() },
]

function memory(): readonly DevicePanel[] {
  return [
    panel('memory-use', {
      title: 'Memory',
      quantity: BYTES,
      limits: [{ label: 'total', metric: 'host_memory_total_bytes' }],
      lines: [
        last('host_memory_available_bytes', 'available'),
        last('host_memory_cached_bytes', 'cache of files'),
        last('host_memory_anonymous_bytes', 'programs'),
        last('host_memory_slab_bytes', 'kernel'),
      ],
    }),
    panel('swap', {
      title: 'Swap',
      caption: 'pages in and out',
      quantity: PER_SECOND,
      lines: [rate('host_vm_swapped_in_pages_total', 'in'), rate('host_vm_swapped_out_pages_total', 'out')],
    }),
    panel('faults', {
      title: 'Page faults that waited for a disk',
      quantity: PER_SECOND,
      lines: [rate('host_vm_major_page_faults_total', 'major faults')],
    }),
    panel('numa-free', {
      title: 'Free memory by NUMA node',
      quantity: BYTES,
      lines: [each(last('host_numa_free_bytes', 'node'), 'numa_node')],
    }),
    panel('numa-miss', {
      title: 'Pages from another NUMA node',
      caption: 'the wanted node had none',
      quantity: PER_SECOND,
      lines: [each(rate('host_numa_miss_pages_total', 'node'), 'numa_node')],
    }),
  ]
}

function pressure(): readonly DevicePanel[] {
  return [
    panel('waiting', {
      title: 'Pressure',
      caption: 'some task waited',
      quantity: { ...PERCENT, timeShare: 1 },
      lines: [each(rate('host_pressure_waiting_seconds_total', '{}'), 'resource')],
    }),
    panel('stalled', {
      title: 'Full stalls',
      caption: 'every task waited',
      quantity: { ...PERCENT, timeShare: 1 },
      lines: [each(rate('host_pressure_stalled_seconds_total', '{}'), 'resource')],
    }),
  ]
}

function disks(): readonly DevicePanel[] {
  const byDisk = (metric: string) => [each(rate(metric, '{}'), 'disk')]
  return [
    panel('disk-read', { title: 'Read', quantity: BYTES_PER_SECOND, lines: byDisk('host_disk_read_bytes_total') }),
    panel('disk-write', {
      title: 'Written',
      quantity: BYTES_PER_SECOND,
      lines: byDisk('host_disk_written_bytes_total'),
    }),
    panel('disk-busy', {
      title: 'Disk busy',
      caption: 'share of time with a request',
      quantity: { ...PERCENT, timeShare: 1 },
      lines: byDisk('host_disk_io_seconds_total'),
    }),
  ]
}

function network(): readonly DevicePanel[] {
  return [
    panel('tcp', {
      title: 'TCP segments sent again',
      quantity: PER_SECOND,
      lines: [
        rate('host_network_tcp_retransmitted_segments_total', 'sent again'),
        rate('host_network_tcp_timeouts_total', 'timeouts'),
      ],
    }),
    panel('tcp-refused', {
      title: 'TCP connections refused or reset',
      quantity: PER_SECOND,
      lines: [
        rate('host_network_tcp_listen_drops_total', 'refused'),
        rate('host_network_tcp_attempt_fails_total', 'failed'),
        rate('host_network_tcp_established_resets_total', 'reset'),
      ],
    }),
    panel('udp', {
      title: 'UDP errors',
      quantity: PER_SECOND,
      lines: [
        rate('host_network_udp_rx_errors_total', 'received'),
        rate('host_network_udp_rx_buffer_errors_total', 'buffer full'),
        rate('host_network_udp_no_port_datagrams_total', 'no listener'),
      ],
    }),
    panel('sockets', {
      title: 'Sockets',
      quantity: COUNT,
      lines: [
        last('host_sockets_used', 'all'),
        last('host_network_tcp_established', 'TCP open'),
        last('host_sockets_tcp_time_wait', 'TCP after the end'),
        last('host_sockets_tcp_orphans', 'TCP orphans'),
      ],
    }),
    panel('conntrack', {
      title: 'Connections that the firewall tracks',
      quantity: COUNT,
      lines: [last('host_network_tracked_connections', 'tracked')],
      limits: [{ label: 'limit', metric: 'host_network_tracked_connections_limit' }],
    }),
    panel('softnet', {
      title: 'Packets dropped before the stack',
      caption: 'by CPU',
      quantity: PER_SECOND,
      lines: [each(rate('host_softnet_dropped_total', 'cpu'), 'cpu')],
    }),
  ]
}

function kernel(): readonly DevicePanel[] {
  return [
    panel('load', {
      title: 'Load',
      caption: 'tasks that run or wait',
      quantity: COUNT,
      lines: [last('host_load1', '1 min'), last('host_load5', '5 min'), last('host_load15', '15 min')],
      limits: [{ label: 'CPUs', metric: 'host_machine_cpus' }],
    }),
    panel('tasks', {
      title: 'Run queue',
      quantity: COUNT,
      lines: [
        last('host_kernel_processes_running', 'run or wait to'),
        last('host_kernel_processes_blocked', 'wait for a disk'),
      ],
    }),
    panel('switches', {
      title: 'Switches and interrupts',
      quantity: PER_SECOND,
      lines: [
        rate('host_kernel_context_switches_total', 'context switches'),
        rate('host_kernel_interrupts_total', 'interrupts'),
        rate('host_kernel_forks_total', 'new tasks'),
      ],
    }),
    panel('clock', {
      title: 'Clock',
      caption: 'how wrong it may be',
      quantity: SECONDS,
      lines: [last('host_clock_max_error_seconds', 'at most'), last('host_clock_estimated_error_seconds', 'estimated')],
    }),
    panel('units', {
      title: 'Failed units of systemd',
      quantity: COUNT,
      lines: [last('host_systemd_failed_units', 'failed')],
      without: 'systemd does not run here, or systemctl does not reach it.',
    }),
    panel('messages', {
      title: 'Messages about hardware',
      caption: 'in each step, by kind and device',
      quantity: COUNT,
      lines: [{ ...each(rate('host_kernel_messages_total', ''), ['kind', 'code', 'device']), function: 'increase' }],
      without: 'The log of the kernel named no hardware since the start of Sonde, or may not be read.',
    }),
    panel('files', {
      title: 'Open files',
      quantity: COUNT,
      lines: [last('host_kernel_open_files', 'open')],
      limits: [{ label: 'limit', metric: 'host_kernel_open_files_limit' }],
    }),
  ]
}

function sensors(): readonly DevicePanel[] {
  const sensor = ['chip', 'chip_name', 'sensor']
  return [
    panel('temperature', {
      title: 'Temperature',
      quantity: CELSIUS,
      without: NO_SENSOR,
      lines: [
        each(last('host_temperature_celsius', ''), sensor),
        each(last('host_thermal_zone_celsius', 'zone'), ['kind', 'zone']),
      ],
    }),
    panel('fans', {
      title: 'Fans',
      quantity: { ...COUNT, base: '/min', prefixes: 'none', decimals: 0 },
      without: NO_SENSOR,
      lines: [each(last('host_fan_rpm', ''), sensor)],
    }),
    panel('power', {
      title: 'Power',
      quantity: WATTS,
      without: NO_SENSOR,
      lines: [each(last('host_power_watts', ''), sensor)],
    }),
    panel('memory-errors', {
      title: 'Memory errors',
      caption: 'by controller',
      quantity: PER_SECOND,
      without: NO_SENSOR,
      lines: [
        each(rate('host_memory_controller_corrected_errors_total', 'corrected, controller'), 'controller'),
        each(rate('host_memory_controller_uncorrected_errors_total', 'lost, controller'), 'controller'),
      ],
    }),
    panel('throttle', {
      title: 'Slowed down for heat',
      caption: 'by processor package',
      quantity: { ...PERCENT, timeShare: 1 },
      without: NO_SENSOR,
      lines: [each(rate('host_cpu_package_throttled_seconds_total', 'package'), 'package')],
    }),
  ]
}
