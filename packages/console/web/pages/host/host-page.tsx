import type { MetricQuery } from '@sonde/sdk/api'
import { useMemo } from 'react'
import type { DeviceInfo } from '../../api/devices.ts'
import { useKnownColumns } from '../../api/use-known-columns.ts'
import { ChartGrid } from '../../chart/chart-grid.tsx'
import { PanelBoundary } from '../../components/error-boundary.tsx'
import { Headline } from '../../components/headline.tsx'
import { INTERFACE_QUERIES, interfaceColumns } from '../../devices/interface-data.ts'
import { usePageState } from '../../state/time-window.ts'
import { DevicePage } from '../device/device-page.tsx'
import { HOST_QUERIES, hostColumns, NO_HOST } from '../host-data.ts'
import { HostFacts } from '../node/host-facts.tsx'
import { nodeCharts } from '../node/node-charts.ts'
import { nodeFacts } from '../node/node-facts.ts'
import { useKernelMarks } from '../use-kernel-marks.ts'
import { useMoment } from '../use-moment.ts'
import { cpuCharts, MODE_QUERY } from './cpu-charts.ts'
import { DiskTable } from './disk-table.tsx'
import { FilesystemTable } from './filesystem-table.tsx'
import { hostHeadline } from './host-headline.ts'
import { diskRows, filesystemRows, HOST_ROW_QUERIES } from './host-rows.ts'
import { HOST_SECTIONS } from './host-sections.ts'
import { MACHINE_METRICS, machineFacts } from './machine-facts.ts'
import { NoHost } from './no-host.tsx'
import { PressureCauseTable } from './pressure-cause-table.tsx'
import { PRESSURE_CAUSE_QUERIES, pressureCauses } from './pressure-causes.ts'
import { useHost, useIsUnread } from './use-host.ts'

/** Types in the table of counters. Those with a series for each CPU are in charts alone. */
const TYPES: readonly string[] = [
  'host_load',
  'host_kernel',
  'host_kernel_identity',
  'host_machine',
  'host_machine_identity',
  'host_clock',
  'host_systemd',
  'host_failed_unit',
  'host_kernel_log',
  'host_kernel_message',
  'host_memory',
  'host_vm',
  'host_pressure',
  'host_cgroup_pressure',
  'host_cgroups',
  'host_numa',
  'host_disk',
  'host_filesystem',
  'host_network',
  'host_sockets',
  'host_temperature',
  'host_fan',
  'host_power',
  'host_thermal_zone',
  'host_memory_controller',
  'host_memory_module',
  'host_cpu_package',
]
const PARENT = { label: 'Node', path: '/' } as const
const RECENT: readonly MetricQuery[] = [...Object.values(HOST_QUERIES), ...HOST_ROW_QUERIES, ...PRESSURE_CAUSE_QUERIES]
const CHARTED: readonly MetricQuery[] = [
  ...Object.values(HOST_QUERIES),
  MODE_QUERY,
  INTERFACE_QUERIES.received,
  INTERFACE_QUERIES.sent,
  INTERFACE_QUERIES.speed,
]

/** The page of the host: everything of the machine below its GPUs and NICs. */
export function HostPage() {
  const host = useHost()
  const page = usePageState()
  const zone = page.url.tz ?? 'utc'
  if (useIsUnread()) return <NoHost parent={{ label: PARENT.label, href: page.hrefTo(PARENT.path) }} />
  return (
    <DevicePage
      device={host}
      parent={PARENT}
      note={[]}
      sections={HOST_SECTIONS}
      types={TYPES}
      totals={MACHINE_METRICS}
      facts={(readings) => machineFacts(readings, Date.now(), zone)}
      headline={<HostNow />}
      lead={
        <>
          <HostTables />
          <HostCharts host={host} />
        </>
      }
    />
  )
}

/** What is short now, or was in the window. */
function HostNow() {
  const { moment, recent, filesystems } = useHostRows()
  const columns = useMemo(() => hostColumns(recent), [recent])
  const facts = useMemo(() => nodeFacts(moment, [], { host: columns }), [moment, columns])
  if (!recent.isReady) return <div className="headline is-awaited" />
  return (
    <>
      <Headline text={hostHeadline(facts, filesystems, moment.tense)} moment={moment.words} />
      <HostFacts host={columns} span={moment} />
    </>
  )
}

/** File systems, disks, and who waits. */
function HostTables() {
  const { moment, recent, filesystems } = useHostRows()
  const disks = useMemo(() => diskRows(recent, moment), [recent, moment])
  const causes = useMemo(() => pressureCauses(recent, moment), [recent, moment])
  return (
    <PanelBoundary>
      <FilesystemTable rows={filesystems} />
      <DiskTable rows={disks} span={moment} />
      {causes && <PressureCauseTable causes={causes} span={moment} />}
    </PanelBoundary>
  )
}

/** The samples of the moment, which both parts of the page share. */
function useHostRows() {
  const moment = useMoment()
  const recent = useKnownColumns(RECENT, moment.range, moment.stepMs)
  const filesystems = useMemo(() => filesystemRows(recent, moment), [recent, moment])
  return { moment, recent, filesystems }
}

/** Processors and interfaces over the window. */
function HostCharts({ host }: { readonly host: DeviceInfo }) {
  const marks = useKernelMarks(host)
  const page = usePageState()
  const answer = useKnownColumns(CHARTED, page.range, page.stepMs)
  const charts = useMemo(() => {
    // What the loopback carries never leaves the host, and would press the others flat.
    const interfaces = interfaceColumns(answer).filter(({ device }) => device !== 'lo')
    const ofInterfaces = nodeCharts(interfaces, NO_HOST).filter(({ id }) => id !== 'loss')
    return [...cpuCharts(answer, hostColumns(answer)), ...ofInterfaces].map((spec) => ({ ...spec, marks }))
  }, [answer, marks])
  return <ChartGrid title="Processors and interfaces" charts={charts.map((spec) => ({ spec, answer }))} />
}
