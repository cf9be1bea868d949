import { type DashboardDescription, NO_DATA, NODE, panel, panelOf } from './description.ts'

const I = 'instance=~"$node"'
const rate = (metric: string, more = '') => `rate(${metric}{${I}${more}}[$__rate_interval])`
const OF_PCI_DEVICE = 'max by (instance, pci_address)'
const host = { noData: NO_DATA.host, min: 0 }

/** One host: what its processors, memory, disks and PCIe do. */
export const NODES: DashboardDescription = {
  ...{ uid: 'sonde-node', title: 'Sonde: node' },
  about: 'A node from its processors to its PCIe links.',
  variables: [NODE],
  rows: [
    {
      title: 'Now',
      panels: [
        panel(
          'Up since',
          'dateTimeFromNow',
          [`max by (instance) (host_kernel_boot_time_seconds{${I}}) * 1000`, '{{instance}}'],
          {
            ...{ kind: 'stat', help: 'The last start of the kernel.', noData: NO_DATA.host },
          },
        ),
        panel('Load', 'short', [`sum(host_load1{${I}})`, ''], {
          ...{ kind: 'stat', help: 'Processes that run or wait, of a minute.', ...host },
        }),
        panel(
          'Memory left',
          'percentunit',
          [`sum(host_memory_available_bytes{${I}}) / sum(host_memory_total_bytes{${I}})`, ''],
          {
            ...{ kind: 'stat', help: 'Memory that programs can still have.', ...host },
          },
        ),
        panel('Critical hints', 'short', [`sum(sonde_hints_open{${I},severity="critical"})`, ''], {
          ...{ kind: 'stat', help: 'Open hints of Sonde.', noData: NO_DATA.sonde, critical: 1 },
        }),
        panel('Warnings', 'short', [`sum(sonde_hints_open{${I},severity="warning"})`, ''], {
          ...{ kind: 'stat', help: 'Open hints of Sonde.', noData: NO_DATA.sonde, warning: 1 },
        }),
        panel(
          'Memory errors',
          'short',
          [`sum(increase(host_memory_controller_corrected_errors_total{${I}}[1h]))`, ''],
          {
            ...{
              kind: 'stat',
              help: 'Corrected errors of the memory of the host within an hour.',
              warning: 1,
              noData: NO_DATA.host,
            },
          },
        ),
      ],
    },
    {
      title: 'Processor and memory',
      panels: [
        panel(
          'Processor',
          'percentunit',
          [`avg by (instance, mode) (${rate('host_cpu_seconds_total', ',mode!="idle"')})`, '{{instance}} {{mode}}'],
          {
            help: 'Share of all processors, by what they do.',
            ...{ noData: NO_DATA.full, min: 0, max: 1 },
          },
        ),
        panel('Pressure', 'percentunit', [rate('host_pressure_waiting_seconds_total'), '{{instance}} {{resource}}'], {
          ...{ help: 'Share of time in which a process waited for a resource.', ...host, max: 1 },
        }),
        panel('Memory available', 'bytes', [`host_memory_available_bytes{${I}}`, '{{instance}}'], {
          ...{ help: 'Memory that programs can still have.', ...host },
        }),
        panel('Throttled', 'percentunit', [rate('host_cpu_package_throttled_seconds_total'), '{{instance}}'], {
          ...{ help: 'Share of time in which heat slowed the processor down.', ...host },
        }),
        panel('Killed for memory', 'ops', [rate('host_vm_oom_kills_total'), '{{instance}}'], {
          ...{ help: 'Processes that the kernel ended for lack of memory.', ...host },
        }),
        panel('Temperature', 'celsius', [`host_temperature_celsius{${I}}`, '{{instance}} {{chip_name}} {{sensor}}'], {
          ...{ help: 'Sensors of the board and its parts.', noData: NO_DATA.full },
        }),
      ],
    },
    {
      title: 'Disks and network',
      panels: [
        panelOf(
          'Disk',
          'Bps',
          [
            [rate('host_disk_read_bytes_total'), '{{instance}} {{device}} read'],
            [rate('host_disk_written_bytes_total'), '{{instance}} {{device}} written'],
          ],
          { help: 'Bytes a second.', ...host },
        ),
        panel('Disk busy', 'percentunit', [rate('host_disk_io_seconds_total'), '{{instance}} {{device}}'], {
          ...{ help: 'Share of time with a request in flight.', ...host, max: 1 },
        }),
        panel(
          'Space left',
          'percentunit',
          [`host_filesystem_available_bytes{${I}} / host_filesystem_size_bytes{${I}}`, '{{instance}} {{mountpoint}}'],
          {
            ...{ help: 'Share of each file system.', ...host, max: 1 },
          },
        ),
        panelOf(
          'Network',
          'Bps',
          [
            [`sum by (instance) (${rate('netdev_tx_bytes_total')})`, '{{instance}} sent'],
            [`sum by (instance) (${rate('netdev_rx_bytes_total')})`, '{{instance}} received'],
          ],
          { help: 'All interfaces together. Virtual interfaces count again.', ...host },
        ),
        panel('TCP sent again', 'ops', [rate('host_network_tcp_retransmitted_segments_total'), '{{instance}}'], {
          ...{ help: 'Segments that were sent again.', ...host },
        }),
      ],
    },
    {
      title: 'PCIe',
      panels: [
        panel(
          'Narrow or slow links',
          'short',
          [
            // Two jobs may scrape one node.
            `${OF_PCI_DEVICE} (pci_device_current_link_width_lanes{${I}}) < ${OF_PCI_DEVICE} (pci_device_max_link_width_lanes{${I}})`,
            '{{instance}} {{pci_address}}',
          ],
          {
            ...{
              kind: 'table',
              help: 'Devices with fewer lanes than they could have.',
              noData: NO_DATA.none,
              width: 12,
            },
          },
        ),
        panel(
          'AER errors',
          'ops',
          [
            `sum by (instance, pci_address, severity) (${rate('pci_aer_errors_total')}) > 0`,
            '{{instance}} {{pci_address}} {{severity}}',
          ],
          {
            ...{ help: 'Errors that devices reported to the kernel.', noData: NO_DATA.none, min: 0, width: 12 },
          },
        ),
      ],
    },
  ],
}

const OF_NIC = '{{instance}} {{device}}{{rdma_device}}'

/** DOCA's libraries: the panels of the recipe, with what can be measured. */
export const DOCA: DashboardDescription = {
  ...{ uid: 'sonde-doca', title: 'Sonde: DOCA' },
  about: 'The panels of the recipe for Kubernetes, with metrics that exist, and further counters of DOCA.',
  variables: [NODE],
  rows: [
    {
      title: 'The recipe',
      panels: [
        doca(
          'RDMA retransmissions',
          'ops',
          rate('doca_adp_retx_packets'),
          'Events of adaptive retransmission. Nothing counts packets.',
        ),
        doca(
          'Timeouts of connections, 99th percentile',
          's',
          'histogram_quantile(0.99, sum by (instance, rdma_device, le) (rate(doca_adp_retx_timeout_seconds_bucket{instance=~"$node"}[$__rate_interval]))) >= 0',
          'In place of the average round trip of RDMA, which no library measures.',
        ),
        panelOf(
          'PCI bandwidth utilisation',
          'percentunit',
          [
            [`doca_pci_rx_utilisation_ratio{${I}}`, `${OF_NIC} received`],
            [`doca_pci_tx_utilisation_ratio{${I}}`, `${OF_NIC} sent`],
          ],
          { help: 'By the present speed and width of each link.', noData: NO_DATA.doca, min: 0, max: 1, warning: 0.85 },
        ),
        doca('PCI TLP errors', 'ops', rate('doca_pci_crc_tlp_errors_total'), 'CRC errors of packets on PCIe.'),
        panel('Diagnostic link errors', 'ops', [rate('doca_diag_link_errors'), `${OF_NIC} {{type}}`], {
          ...{ help: 'Errors of the link by kind.', noData: NO_DATA.doca, min: 0 },
        }),
      ],
    },
    {
      title: 'Links, PCIe and programs',
      panels: [
        doca('Raw bit error ratio', 'sci', `doca_phy_raw_bit_error_ratio{${I}}`, 'Before correction.'),
        doca(
          'Effective bit error ratio',
          'sci',
          `doca_phy_effective_bit_error_ratio{${I}}`,
          'After correction: should be 0.',
        ),
        doca(
          'Temperature of the transceiver',
          'celsius',
          `doca_phy_temperature_celsius{${I}}`,
          'Each module has a limit of its own.',
        ),
        doca(
          'CNPs handled',
          'ops',
          rate('doca_diag_port_cnp_handled_packets_total'),
          'Senders that congestion control slows down. Full set.',
        ),
        panel(
          'DPA threads',
          'percentunit',
          [rate('doca_dpa_thread_active_seconds_total'), `${OF_NIC} {{process}} {{thread}}`],
          {
            ...{ help: 'Share of time in which a thread ran.', noData: NO_DATA.doca, min: 0 },
          },
        ),
        panel('Congestion control events', 'ops', [rate('doca_pcc_events_total'), `${OF_NIC} {{counter}}`], {
          ...{ help: 'Counters of the loaded algorithm.', noData: NO_DATA.doca, min: 0 },
        }),
      ],
    },
  ],
}

function doca(title: string, unit: string, expr: string, help: string) {
  return panel(title, unit, [expr, OF_NIC], { help, noData: NO_DATA.doca, min: 0 })
}

/** Sonde itself: its cost and its losses. */
export const SELF: DashboardDescription = {
  ...{ uid: 'sonde-self', title: 'Sonde: its own health' },
  about: 'Agents: their sources, destinations, losses and costs.',
  variables: [NODE],
  rows: [
    {
      title: 'Now',
      panels: [
        self('Agents', 'short', `count(sonde_build_info{${I}})`, 'Agents that are scraped.', { kind: 'stat' }),
        self(
          'Sources down',
          'short',
          `sum(sonde_source_up{${I}} == bool 0)`,
          'Sources whose hardware or peer is away.',
          { kind: 'stat', warning: 1 },
        ),
        self(
          'Destinations down',
          'short',
          `sum(sonde_sink_up{${I}} == bool 0)`,
          'Destinations that do not take records.',
          { noData: 'No data: no destination is configured', kind: 'stat', critical: 1 },
        ),
        panel('Records lost', 'short', [`sum(increase(sonde_loss_records_total{${I}}[1h]))`, ''], {
          ...{ kind: 'stat', help: 'Within an hour.', noData: NO_DATA.none, critical: 1 },
        }),
        self('Open hints', 'short', `sum(sonde_hints_open{${I}})`, 'Hints of all severities.', { kind: 'stat' }),
        self('Memory of an agent', 'bytes', `max(sonde_process_resident_memory_bytes{${I}})`, 'The largest.', {
          kind: 'stat',
        }),
      ],
    },
    {
      title: 'Work',
      panels: [
        self(
          'Errors of sources',
          'ops',
          `sum by (instance, source) (${rate('sonde_source_errors_total')}) > 0`,
          'Failed reads of present hardware.',
          { noData: NO_DATA.none },
        ),
        self(
          'Time of sources',
          'percentunit',
          `sum by (instance, source) (${rate('sonde_source_sample_seconds_total')})`,
          'Share of time in which a source reads.',
        ),
        self(
          'Records',
          'short',
          `sum by (instance) (${rate('sonde_source_records_total')})`,
          'Records a second of all sources.',
        ),
        self('Queues', 'bytes', `sonde_sink_queued_bytes{${I}}`, 'Bytes that wait for destinations.', {
          noData: 'No data: no destination is configured',
        }),
        self('Lag', 's', `sonde_sink_lag_seconds{${I}}`, 'Age of the oldest record that has not arrived.', {
          noData: 'No data: no destination is configured',
        }),
        self(
          'Lost records',
          'ops',
          `sum by (instance, component, reason) (${rate('sonde_loss_records_total')}) > 0`,
          'Records that were given up, by reason.',
          { noData: NO_DATA.none },
        ),
      ],
    },
    {
      title: 'Cost',
      panels: [
        self('Processor', 'percentunit', rate('sonde_process_cpu_seconds_total'), 'Share of one processor.'),
        self('Memory', 'bytes', `sonde_process_resident_memory_bytes{${I}}`, 'Memory of the process.'),
        self('History on disk', 'bytes', `sonde_store_size_bytes{${I}}`, 'Size of the store.', {
          noData: 'No data: no history on disk here (sonde agent)',
        }),
      ],
    },
  ],
}

function self(
  title: string,
  unit: string,
  expr: string,
  help: string,
  more: { kind?: 'stat'; warning?: number; critical?: number; noData?: string } = {},
) {
  const legend = '{{instance}} {{source}}{{sink}}{{component}} {{reason}}'
  return panel(title, unit, [expr, more.kind === 'stat' ? '' : legend], {
    help,
    noData: NO_DATA.sonde,
    min: 0,
    ...more,
  })
}
