import { Fragment, useMemo } from 'react'
import type { DeviceInfo } from '../../api/devices.ts'
import { useKnownColumns } from '../../api/use-known-columns.ts'
import { useColumnsAtSpeed } from '../../api/use-speed.ts'
import { ChartGrid } from '../../chart/chart-grid.tsx'
import { AnswerState } from '../../components/answer-state.tsx'
import { PanelBoundary } from '../../components/error-boundary.tsx'
import { Headline } from '../../components/headline.tsx'
import { NoSamples } from '../../components/no-samples.tsx'
import { allHints, type MomentHints } from '../../devices/moment-hints.ts'
import { usePageState } from '../../state/time-window.ts'
import { useMarks } from '../device-charts-grid.tsx'
import { useAffected } from '../use-affected.ts'
import { type PageMoment, useMoment } from '../use-moment.ts'
import { useMomentHints, useSpokenMoment } from '../use-moment-hints.ts'
import { portsHeadline } from './fabric-headline.ts'
import { portSections } from './port-charts.ts'
import { type PortRow, portRows } from './port-data.ts'
import { PORT_QUERIES, PORT_SIGNALS, type PortColumn, type PortSignal } from './port-signals.ts'
import { PortTable } from './port-table.tsx'

const ALL = Object.values(PORT_QUERIES)
const ALL_NAMES = Object.keys(PORT_QUERIES) as PortColumn[]
const CHARTED_NAMES = Object.keys(PORT_SIGNALS) as PortSignal[]
/** Queries of the charts: their signals, and the line rate as their limit. */
const CHARTED = [...CHARTED_NAMES.map((name) => PORT_QUERIES[name]), PORT_QUERIES.lineRate]

/** Headline, table and charts of adapter ports. */
export function PortPanels({ ports }: { readonly ports: readonly DeviceInfo[] }) {
  return (
    <>
      <PortTables ports={ports} />
      <PortCharts ports={ports} />
    </>
  )
}

/** The newest values, updated once a second, because nobody can read numbers that change more often. */
function PortTables({ ports }: { readonly ports: readonly DeviceInfo[] }) {
  const moment = useMoment()
  const recent = useKnownColumns(ALL, moment.range, moment.stepMs)
  const rows = useMemo(() => portRows(ports, ALL_NAMES, () => recent), [ports, recent])
  const seen = useMomentHints(moment)
  const affected = useAffected(moment.window)
  const hasSamples = rows.some(({ columns }) => Object.keys(columns).length > 0)
  return (
    <>
      {hasSamples && <PortsHeadline rows={rows} seen={seen} moment={moment} />}
      <AnswerState answer={recent} />
      {hasSamples && (
        <PanelBoundary>
          <PortTable ports={rows} seen={seen} affected={affected} answer={recent} span={moment} />
        </PanelBoundary>
      )}
    </>
  )
}

/** A separate component, because its durations change every second and the table does not. */
function PortsHeadline({
  rows,
  seen,
  moment,
}: {
  readonly rows: readonly PortRow[]
  readonly seen: MomentHints
  readonly moment: PageMoment
}) {
  const spoken = useSpokenMoment(moment)
  return <Headline text={portsHeadline(rows, seen, moment, spoken)} moment={moment.words} />
}

/** Charts of the window, updated up to ten times a second if the window is short and ports are read that often. */
function PortCharts({ ports }: { readonly ports: readonly DeviceInfo[] }) {
  const page = usePageState()
  const answers = useColumnsAtSpeed(CHARTED, page)
  const { hints, ended } = useMomentHints(useMoment())
  const concerned = useMemo(() => {
    const ids = new Set(ports.map(({ id }) => id))
    return allHints({ hints, ended }).filter(({ device }) => ids.has(device))
  }, [ports, hints, ended])
  const marks = useMarks(concerned)
  const sections = useMemo(() => {
    const rows = portRows(ports, [...CHARTED_NAMES, 'lineRate'], answers.of)
    return portSections(rows, answers.of, marks)
  }, [ports, answers, marks])
  if (answers.isReady && sections.length === 0) return <NoSamples answer={answers.steady} />
  const beside = sections.flatMap((section) => section.charts)
  return sections.map(({ title, note, charts }, order) => (
    <Fragment key={title}>
      <h2 className="section-title">
        {title} {order === 0 && note && <span className="page-note">{note}</span>}
      </h2>
      <ChartGrid title={title} charts={charts} beside={beside} />
    </Fragment>
  ))
}
