import type { ListedType, MetricQuery } from '@sonde/sdk/api'
import { useDeferredValue, useMemo } from 'react'
import { queryKey } from '../../api/frame.ts'
import type { QueryColumns } from '../../api/query-client.ts'
import { useNode, useTypes } from '../../api/resources.ts'
import { useComparedColumns } from '../../api/use-speed.ts'
import { Chart } from '../../chart/chart.tsx'
import { sharedRoom } from '../../chart/chart-grid.tsx'
import { AnswerState } from '../../components/answer-state.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Empty } from '../../components/empty.tsx'
import { PanelBoundary } from '../../components/error-boundary.tsx'
import { Icon } from '../../components/icon.tsx'
import { PageHead } from '../../components/page-head.tsx'
import { useSpan } from '../../components/use-span.ts'
import { serverNowMs } from '../../state/clock.ts'
import { formatSignal, parseSignal } from '../../state/signal.ts'
import { usePageState } from '../../state/time-window.ts'
import { useSeldom } from '../../state/use-seldom.ts'
import { usePageTitle } from '../use-page-title.ts'
import { type ExplorerLane, explorerLanes } from './explorer-lanes.ts'
import { csvOf, curlCommand, download, type ExportTable, exportFileName, exportSpan, jsonOf } from './export.ts'
import { MetricBrowser } from './metric-browser.tsx'
import { RecordBrowser } from './record-browser.tsx'
import { SeriesTable } from './series-table.tsx'
import { SignalList } from './signal-list.tsx'
import { StepSelect } from './step-select.tsx'

const LANE_HEIGHT_PX = 260
/** Larger tables are updated only every few seconds, because their 95th percentiles take much of a frame. */
const TABLE_LARGE_VALUES = 100_000
const TABLE_LARGE_EVERY_MS = 5_000
/** Nobody can read numbers that change more often. Unit: milliseconds. */
const TABLE_EVERY_MS = 1_000
const NO_TYPES: readonly ListedType[] = []

/** Compares any metrics of any sources. The address holds the whole request. */
export function ExplorePage() {
  usePageTitle('Explorer')
  const page = usePageState()
  const { types = NO_TYPES, leftOut = 0 } = useTypes().data ?? {}
  const signals = JSON.stringify(page.url.sig ?? [])
  const queries = useMemo(
    () => (JSON.parse(signals) as string[]).map(parseSignal).filter((query) => query !== undefined),
    [signals],
  )
  const write = (next: readonly MetricQuery[]): void =>
    page.change({ sig: next.length > 0 ? next.map(formatSignal) : undefined, lit: undefined, q: undefined }, 'push')
  const answer = useComparedColumns(queries, page)
  const { stepMs } = answer
  const node = useNode().data
  const isSimulated = node?.simulated ?? false
  const lanes = useMemo(
    () => explorerLanes(queries, answer, { simulated: isSimulated }),
    [queries, answer, isSimulated],
  )
  const problems = new Map(
    queries.map((query) => {
      const notes = answer.result(query)?.meta.notes.join(' ')
      return [query, problemOf(query, types, answer.snapshot.queryErrors.get(queryKey(query))?.message ?? notes)]
    }),
  )
  const copyQuery = (): string => curlCommand(location.origin, queries, exportSpan(page.range, serverNowMs()), stepMs)
  const sheet = (): ExportTable => {
    const { fromMs, toMs } = exportSpan(page.range, serverNowMs())
    const times = answer.grid?.times ?? new Float64Array(0)
    const series = lanes.flatMap((lane) => lane.series)
    return { node: node?.node ?? '', stepMs, times, series, ...positionsOf(answer, fromMs, toMs) }
  }
  const endPx = sharedRoom(lanes.map(({ spec }) => ({ spec, answer })))
  const saveCsv = (): void => {
    const name = exportFileName(
      [],
      lanes.some(({ spec }) => spec.isSimulated),
      'csv',
    )
    download(name, new Blob([csvOf(sheet())], { type: 'text/csv' }))
  }
  return (
    <>
      <PageHead title="Explorer">
        {queries.length > 0 && (
          <>
            <StepSelect byWindowMs={stepMs} />
            <CopyButton label="Copy link" icon="link" text={() => location.href} />
            <CopyButton label="Copy as curl" text={copyQuery} />
            <CopyButton label="Copy as CSV" text={() => csvOf(sheet())} />
            <CopyButton label="Copy as JSON" text={() => jsonOf(sheet())} />
            <button type="button" className="button" disabled={lanes.length === 0} onClick={saveCsv}>
              <Icon name="download" /> CSV
            </button>
          </>
        )}
      </PageHead>
      <SignalList queries={queries} types={types} problems={problems} onChange={write} />
      {queries.length === 0 && types.length > 0 && (
        <>
          <MetricBrowser types={types} />
          <RecordBrowser types={types} leftOut={leftOut} />
        </>
      )}
      {queries.length > 0 && <AnswerState answer={answer} panels={1} />}
      {lanes.map((lane) => (
        <PanelBoundary key={lane.spec.id}>
          <LanePanel lane={lane} answer={answer} endPx={endPx} />
        </PanelBoundary>
      ))}
    </>
  )
}

function LanePanel({
  lane,
  answer,
  endPx,
}: {
  readonly lane: ExplorerLane
  readonly answer: QueryColumns
  readonly endPx: number
}) {
  const { fromMs, toMs } = useSpan(answer)
  const table = useMemo(
    () => ({
      lane,
      stepMs: answer.stepMs,
      nowMs: answer.range.kind === 'live' ? toMs : undefined,
      ...positionsOf(answer, fromMs, toMs),
    }),
    [lane, answer, fromMs, toMs],
  )
  const isLarge = answer.range.kind === 'live' && lane.series.length * (table.to - table.from) > TABLE_LARGE_VALUES
  const kind = [lane.spec.title, lane.spec.caption, toMs - fromMs].join()
  // The chart is drawn first. The table follows when idle, and less often if it is large.
  const everyMs = isLarge ? TABLE_LARGE_EVERY_MS : answer.stepMs < TABLE_EVERY_MS ? TABLE_EVERY_MS : 0
  const described = useDeferredValue(useSeldom(table, everyMs, kind), undefined)
  const save = (picture: Blob): void =>
    download(exportFileName([lane.spec.title], lane.spec.isSimulated === true, 'png'), picture)
  if (lane.series.length === 0) {
    return (
      <Empty fact={`No series of ${lane.spec.title} matches.`}>
        Loosen a condition, or take a window in which it was read.
      </Empty>
    )
  }
  return (
    <div className="lane">
      <Chart spec={lane.spec} answer={answer} heightPx={LANE_HEIGHT_PX} endPx={endPx} onSave={save} />
      <div className="panel lane-table">{described && <SeriesTable {...described} />}</div>
    </div>
  )
}

/** The grid positions of a window. */
function positionsOf({ grid, stepMs }: QueryColumns, fromMs: number, toMs: number): { from: number; to: number } {
  const position = (timeMs: number): number => Math.floor((timeMs - (grid?.times[0] ?? 0)) / stepMs)
  return { from: Math.max(0, position(fromMs) + 1), to: Math.min((grid?.length ?? 0) - 1, position(toMs)) }
}

function problemOf(query: MetricQuery, types: readonly ListedType[], said: string | undefined): string {
  if (said) return said
  const isKnown = types.some(({ fields }) => fields.some(({ metric }) => metric === query.metric))
  return isKnown || types.length === 0 ? '' : `${query.metric} is not read here.`
}
