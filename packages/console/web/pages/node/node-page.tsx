import type { MetricQuery } from '@sonde/sdk/api'
import { useMemo } from 'react'
import { Link } from 'wouter'
import { type DeviceInfo, useDevices } from '../../api/devices.ts'
import { useNode } from '../../api/resources.ts'
import { useKnownColumns } from '../../api/use-known-columns.ts'
import { ChartGrid } from '../../chart/chart-grid.tsx'
import { AnswerState, Outlines } from '../../components/answer-state.tsx'
import { Empty } from '../../components/empty.tsx'
import { PanelBoundary } from '../../components/error-boundary.tsx'
import { Headline } from '../../components/headline.tsx'
import { NoSamples } from '../../components/no-samples.tsx'
import { SimulatedOffer } from '../../components/simulated-offer.tsx'
import { useFirstLook } from '../../components/use-first-look.ts'
import { ENTITIES_PATH, isGeneric, kindWords } from '../../devices/device.ts'
import { INTERFACE_QUERIES, interfaceColumns } from '../../devices/interface-data.ts'
import { usePageState } from '../../state/time-window.ts'
import { HOST_QUERIES, hostColumns } from '../host-data.ts'
import { useLiveDevices, useMoment } from '../use-moment.ts'
import { usePageTitle } from '../use-page-title.ts'
import { DevicesOverview } from './devices-overview.tsx'
import { nodeHeadline } from './headline.ts'
import { HostFacts } from './host-facts.tsx'
import { InterfaceTiles } from './interface-tiles.tsx'
import { nodeCharts } from './node-charts.ts'
import { nodeFacts } from './node-facts.ts'
import { SourcesPanel } from './sources-panel.tsx'

const RECENT_QUERIES: readonly MetricQuery[] = [...Object.values(INTERFACE_QUERIES), ...Object.values(HOST_QUERIES)]
const { received, sent, errorsIn, errorsOut, dropsIn, dropsOut, speed } = INTERFACE_QUERIES
const CHART_QUERIES: readonly MetricQuery[] = [
  received,
  sent,
  errorsIn,
  errorsOut,
  dropsIn,
  dropsOut,
  speed,
  ...Object.values(HOST_QUERIES),
]

/** Overview of a machine: whether it is well, and if not, where the trouble is. */
export function NodePage() {
  const { data: node } = useNode()
  const { data, error } = useDevices()
  const firstLook = useFirstLook()
  usePageTitle(node?.node ?? 'Node')
  const devices = useMemo(() => data?.devices.filter(({ kind }) => kind === 'gpu' || kind === 'nic'), [data])
  return (
    <>
      <h1 className="visually-hidden">{node?.node ?? 'Node'}</h1>
      {devices && devices.length > 0 && <DevicesOverview devices={devices} />}
      {devices?.length === 0 && firstLook !== '' && <Outlines panels={6} waitsFor={firstLook} />}
      {((devices?.length === 0 && firstLook === '') || (error && !devices)) && <InterfacesOverview />}
      {!devices && !error && <Outlines panels={6} waitsFor="the list of devices" />}
      <OtherEntities all={data?.devices} />
    </>
  )
}

/** Link to entities that are not hardware. Empty if there are none. */
function OtherEntities({ all = [] }: { readonly all: readonly DeviceInfo[] | undefined }) {
  const page = usePageState()
  const others = all.filter(isGeneric)
  if (others.length === 0) return null
  return (
    <p className="page-more">
      Also reported here: <Link href={page.hrefTo(ENTITIES_PATH)}>{kindWords(others)}</Link>.
    </p>
  )
}

/** The overview of a machine that has only interfaces. */
function InterfacesOverview() {
  const moment = useMoment()
  const live = useLiveDevices(moment)
  const recent = useKnownColumns(RECENT_QUERIES, moment.range, moment.stepMs)
  const { interfaces, host, facts } = useMemo(() => {
    const interfaces = interfaceColumns(recent)
    const host = hostColumns(recent)
    return { interfaces, host, facts: nodeFacts(moment, interfaces, { host, live }) }
  }, [recent, live, moment])
  const { isReady } = recent
  return (
    <>
      {interfaces.length > 0 && <Headline text={nodeHeadline(facts, moment.tense)} moment={moment.words} />}
      {isReady && moment.isNow && interfaces.length === 0 && <NoInterface />}
      {interfaces.length > 0 && (
        <PanelBoundary>
          <InterfaceTiles interfaces={interfaces} facts={facts.interfaces} answer={recent} span={moment} />
        </PanelBoundary>
      )}
      {moment.isNow && <SimulatedOffer />}
      <HostFacts host={host} span={moment} />
      <AnswerState answer={recent} />
      {isReady && <NodeCharts />}
      <PanelBoundary>
        <SourcesPanel />
      </PanelBoundary>
    </>
  )
}

/** Shown if nothing of a node is known. That is normal for a Prometheus without agents. */
function NoInterface() {
  const page = usePageState()
  const { data: node } = useNode()
  const explorer = <Link href={page.hrefTo('/explore')}>Explorer</Link>
  if (node?.backend !== undefined)
    return (
      <Empty fact="The Prometheus behind this page has no node that runs Sonde.">
        GPUs of pods are in <Link href={page.hrefTo('/apps')}>Apps</Link>, every other value is in the {explorer}.
      </Empty>
    )
  return (
    <Empty fact="No interface is read here.">
      Interfaces come from the source netdev, ports from rdma. Every other value is in the {explorer}.
    </Empty>
  )
}

function NodeCharts() {
  const page = usePageState()
  const answer = useKnownColumns(CHART_QUERIES, page.range, page.stepMs)
  const charts = useMemo(() => nodeCharts(interfaceColumns(answer), hostColumns(answer)), [answer])
  if (charts.length === 0) return <NoSamples answer={answer} />
  return <ChartGrid charts={charts.map((spec) => ({ spec, answer }))} />
}
