import { useMemo } from 'react'
import type { MetricQuery } from '../../api/types.ts'
import { useKnownColumns } from '../../api/use-known-columns.ts'
import { Chart } from '../../chart/chart.tsx'
import { AnswerState } from '../../components/answer-state.tsx'
import { Empty } from '../../components/empty.tsx'
import { PanelBoundary } from '../../components/error-boundary.tsx'
import { Headline } from '../../components/headline.tsx'
import { NoSamples } from '../../components/no-samples.tsx'
import { PageHead } from '../../components/page-head.tsx'
import { countOf } from '../../format/number.ts'
import { usePageState } from '../../state/time-window.ts'
import { INTERFACE_QUERIES, interfaceColumns } from '../interface-data.ts'
import type { InterfaceFact } from '../interface-facts.ts'
import { nodeHeadline } from '../node/headline.ts'
import { nodeFacts } from '../node/node-facts.ts'
import { useLiveDevices, useMoment } from '../use-moment.ts'
import { usePageTitle } from '../use-page-title.ts'
import { fabricCharts } from './fabric-charts.ts'
import { InterfaceTable } from './interface-table.tsx'

const QUERIES: readonly MetricQuery[] = Object.values(INTERFACE_QUERIES)

/** All ports side by side; the odd one is lit. */
export function FabricPage() {
  usePageTitle('Fabric')
  const moment = useMoment()
  const live = useLiveDevices(moment)
  const recent = useKnownColumns(QUERIES, moment.range, moment.stepMs)
  const { interfaces, facts } = useMemo(() => {
    const interfaces = interfaceColumns(recent)
    return { interfaces, facts: nodeFacts(recent.grid, interfaces, { live }) }
  }, [recent, live])
  return (
    <>
      <PageHead title="Fabric" note={recent.grid && interfaceCount(facts.interfaces)} />
      {interfaces.length > 0 && <Headline text={nodeHeadline(facts)} moment={moment.words} />}
      {recent.isReady && !moment.isNow && interfaces.length === 0 && <NoSamples answer={recent} />}
      {recent.isReady && moment.isNow && interfaces.length === 0 && (
        <Empty fact="No interface is read here.">The source netdev says why on the page Sources.</Empty>
      )}
      <AnswerState answer={recent} />
      {interfaces.length > 0 && (
        <>
          <PanelBoundary>
            <InterfaceTable interfaces={interfaces} facts={facts.interfaces} range={recent.range} />
          </PanelBoundary>
          <FabricCharts />
        </>
      )}
    </>
  )
}

function interfaceCount(facts: readonly InterfaceFact[]): string {
  const gone = facts.filter(({ isGone }) => isGone).length
  return `${countOf(facts.length - gone, 'interface')}${gone > 0 ? `, ${gone} gone` : ''}`
}

function FabricCharts() {
  const page = usePageState()
  const answer = useKnownColumns(QUERIES, page.range, page.stepMs)
  const charts = useMemo(() => fabricCharts(interfaceColumns(answer)), [answer])
  if (charts.every(({ members }) => members.length === 0)) return <NoSamples answer={answer} />
  return (
    <div className="chart-grid">
      {charts.map((spec) => (
        <PanelBoundary key={spec.id}>
          <Chart spec={spec} answer={answer} />
        </PanelBoundary>
      ))}
    </div>
  )
}
