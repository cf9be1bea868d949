import type { MetricQuery } from '@sonde/sdk/api'
import { useMemo } from 'react'
import type { DeviceInfo } from '../../api/devices.ts'
import { type KnownColumns, useKnownColumns } from '../../api/use-known-columns.ts'
import { ChartGrid } from '../../chart/chart-grid.tsx'
import { AnswerState } from '../../components/answer-state.tsx'
import { PanelBoundary } from '../../components/error-boundary.tsx'
import { Headline } from '../../components/headline.tsx'
import { NoSamples } from '../../components/no-samples.tsx'
import { INTERFACE_QUERIES, type InterfaceColumns, interfaceColumns } from '../../devices/interface-data.ts'
import type { InterfaceFact } from '../../devices/interface-facts.ts'
import { countText } from '../../format/number.ts'
import { usePageState } from '../../state/time-window.ts'
import { type NodeFacts, nodeHeadline } from '../node/headline.ts'
import { nodeFacts } from '../node/node-facts.ts'
import { type PageMoment, useLiveDevices, useMoment } from '../use-moment.ts'
import { fabricCharts } from './fabric-charts.ts'
import { InterfaceTable } from './interface-table.tsx'

const QUERIES: readonly MetricQuery[] = Object.values(INTERFACE_QUERIES)

/** The interfaces of the host that belong to no adapter port. */
export interface HostInterfaces {
  readonly moment: PageMoment
  readonly answer: KnownColumns
  readonly rows: readonly InterfaceColumns[]
  readonly facts: NodeFacts
  /** The number of interfaces in words; empty if there are none. */
  readonly countWords: string
}

/** Reads the interfaces that belong to none of the given ports. */
export function useInterfaces(ports: readonly DeviceInfo[]): HostInterfaces {
  const moment = useMoment()
  const live = useLiveDevices(moment)
  const answer = useKnownColumns(QUERIES, moment.range, moment.stepMs)
  return useMemo(() => {
    const interfaceKey = (device: string, simulated: boolean): string => `${simulated} ${device}`
    const taken = new Set(
      ports.flatMap(({ series, simulated }) =>
        series?.netdev ? interfaceKey(series.netdev.device ?? '', simulated) : [],
      ),
    )
    const rows = interfaceColumns(answer).filter(({ device, simulated }) => !taken.has(interfaceKey(device, simulated)))
    const facts = nodeFacts(moment, rows, { live })
    return { moment, answer, rows, facts, countWords: interfaceCount(facts.interfaces) }
  }, [moment, live, answer, ports])
}

function interfaceCount(facts: readonly InterfaceFact[]): string {
  const gone = facts.filter(({ isGone }) => isGone).length
  if (facts.length === 0) return ''
  return `${countText(facts.length - gone, 'interface')}${gone > 0 ? `, ${gone} gone` : ''}`
}

/** The table of interfaces. Without ports it includes the headline. */
export function InterfacePanel({
  interfaces,
  isAlone,
}: {
  readonly interfaces: HostInterfaces
  readonly isAlone: boolean
}) {
  const { moment, answer, rows, facts } = interfaces
  if (rows.length === 0) {
    if (!isAlone) return null
    return answer.isReady && !moment.isNow ? <NoSamples answer={answer} /> : <AnswerState answer={answer} />
  }
  return (
    <>
      {isAlone && <Headline text={nodeHeadline(facts, moment.tense)} moment={moment.words} />}
      <PanelBoundary>
        <InterfaceTable interfaces={rows} facts={facts.interfaces} answer={answer} span={moment} />
      </PanelBoundary>
    </>
  )
}

/** Charts of the interfaces over the window. */
export function InterfaceCharts() {
  const page = usePageState()
  const answer = useKnownColumns(QUERIES, page.range, page.stepMs)
  const charts = useMemo(() => fabricCharts(interfaceColumns(answer)), [answer])
  if (charts.every(({ members }) => members.length === 0)) return <NoSamples answer={answer} />
  return <ChartGrid charts={charts.map((spec) => ({ spec, answer }))} />
}
