import type { Labels } from '@sonde/sdk/api'
import { memo, type ReactNode, useCallback, useMemo, useState } from 'react'
import { Link } from 'wouter'
import { useSources, useTypes } from '../../api/resources.ts'
import type { ChartMember } from '../../chart/chart-spec.ts'
import type { PlotLine } from '../../chart/plot-model.ts'
import { DataTable } from '../../components/data-table.tsx'
import { SeriesKey } from '../../components/series-key.tsx'
import { parseSort, type Sort, sortRows } from '../../components/sort.ts'
import type { TableColumn } from '../../components/table-column.ts'
import { useUnit } from '../../components/use-unit.ts'
import { countText, formatIn, groupThousands } from '../../format/number.ts'
import { formatAge, formatDuration } from '../../format/time.ts'
import { usePageState } from '../../state/time-window.ts'
import type { ExplorerLane, ExplorerSeries } from './explorer-lanes.ts'
import { sourcesOf } from './provenance.ts'
import { type SeriesStatistics, statisticsOf } from './series-statistics.ts'

/** Rows shown at first, and at most. */
const ROW_FIRST_COUNT = 40
const ROW_LIMIT_COUNT = 200
const BY_NAME: Sort = { column: 'series', direction: 'ascending' }

const STATISTIC_COLUMNS: ReadonlySet<string> = new Set<keyof SeriesStatistics>([
  'last',
  'min',
  'mean',
  'p95',
  'max',
  'sampleCount',
  'gapCount',
])

type Slot = NonNullable<PlotLine['slot']>

interface TableProps {
  readonly lane: ExplorerLane
  /** First and last grid position of the window. */
  readonly from: number
  readonly to: number
  /** Interval of the samples. Unit: milliseconds. */
  readonly stepMs: number
  /** The end of a live window, for ages; undefined for a past window. */
  readonly nowMs: number | undefined
}

/** Statistics of every series of a lane in the window. A press on a name highlights the series. */
export const SeriesTable = memo(function SeriesTable({ lane, from, to, stepMs, nowMs }: TableProps) {
  const sourcesFor = useSourceNames()
  const page = usePageState()
  const [areAllShown, setAllShown] = useState(false)
  const sort = parseSort(page.url.sort, BY_NAME)
  const lit = page.url.lit ?? []
  const limit = areAllShown ? ROW_LIMIT_COUNT : ROW_FIRST_COUNT
  const rows = useMemo(
    () => describedRows(lane, { from, to }, { column: sort.column, direction: sort.direction }, limit),
    [lane, from, to, sort.column, sort.direction, limit],
  )
  const hiddenCount = lane.series.length - rows.length
  const unit = useUnit(lane.spec.quantity, Math.max(...rows.map(({ statistics }) => statistics.max || 0)))
  const slots = lane.spec.slots ?? []
  const isColoured = lane.series.length > 1 && lane.series.length <= slots.length
  const toggle = (key: string): void =>
    page.change({ lit: lit.includes(key) ? lit.filter((other) => other !== key) : [...lit, key] }, 'replace')
  const statistic = (
    name: keyof SeriesStatistics,
    head: ReactNode,
    words: (value: number) => string,
  ): TableColumn<SeriesTableRow> => ({
    key: name,
    head,
    kind: 'number',
    cell: ({ statistics }) => words(statistics[name]),
    sortKey: ({ statistics }) => statistics[name],
  })
  const value = (name: keyof SeriesStatistics, head: string) =>
    statistic(
      name,
      <>
        {head} <span className="unit">{unit.label}</span>
      </>,
      (number) => formatIn(unit, number),
    )
  const columns: readonly TableColumn<SeriesTableRow>[] = [
    {
      key: 'series',
      head: 'Series',
      kind: 'rowHead',
      isWide: true,
      cell: ({ member, order, series }) => (
        <>
          <button
            type="button"
            className="series-button"
            aria-pressed={lit.includes(member.key)}
            title="Light this series"
            onClick={() => toggle(member.key)}
          >
            {isColoured && <SeriesKey slot={slots[order] as Slot} />}
            {member.label}
          </button>
          {series.more && <span className="series-more">{series.more}</span>}
        </>
      ),
      sortKey: ({ member }) => member.label,
    },
    value('last', 'Last'),
    value('min', 'Min'),
    value('mean', 'Mean'),
    value('p95', 'p95'),
    value('max', 'Max'),
    statistic('sampleCount', 'Samples', (count) => groupThousands(String(count))),
    statistic('gapCount', 'Gaps', (count) => groupThousands(String(count))),
    { key: 'resets', head: 'Resets', kind: 'number', cell: ({ member }) => member.resetsMs?.length ?? 0 },
    {
      key: 'source',
      head: 'Source',
      cell: ({ series: { meta, labels } }) => (
        <Link href={page.hrefTo('/explain', { of: meta.metric })} aria-label={`Explain ${meta.metric}`}>
          {sourcesFor(meta.metric, labels).join(', ') || 'an application'}
        </Link>
      ),
    },
    ...(nowMs === undefined
      ? []
      : [
          {
            key: 'age',
            head: 'Age',
            kind: 'number',
            cell: ({ statistics }) => ageOf(nowMs, lane, statistics.lastPosition),
          } satisfies TableColumn<SeriesTableRow>,
        ]),
  ]
  return (
    <DataTable
      label={`Table of ${lane.spec.title}`}
      look="is-compact has-first-fixed"
      columns={columns}
      rows={rows}
      keyOf={({ member }) => member.key}
      sort={sort}
    >
      <p className="panel-note">Of the values shown, one every {formatDuration(stepMs)}.</p>
      {hiddenCount > 0 && (
        <p className="panel-note">
          {rows.length} of {countText(lane.series.length, 'series', 'series')}.{' '}
          {areAllShown ? (
            'A condition narrows them.'
          ) : (
            <button type="button" className="button" onClick={() => setAllShown(true)}>
              Show {hiddenCount + rows.length > ROW_LIMIT_COUNT ? ROW_LIMIT_COUNT : 'all'}
            </button>
          )}
        </p>
      )}
    </DataTable>
  )
})

/** Returns a function that finds the sources of a series. */
function useSourceNames(): (metric: string, labels: Labels) => readonly string[] {
  const types = useTypes().data?.types
  const sources = useSources().data?.sources
  return useCallback((metric, labels) => sourcesOf(metric, labels, types ?? [], sources ?? []), [types, sources])
}

/** Age of the newest sample of a series. */
function ageOf(nowMs: number, lane: ExplorerLane, newest: number): string {
  const timeMs = lane.times[newest]
  return timeMs === undefined ? '–' : formatAge(nowMs - timeMs)
}

interface SeriesTableRow {
  readonly series: ExplorerSeries
  readonly member: ChartMember
  /** Position in the lane, which decides the colour. */
  readonly order: number
  readonly statistics: SeriesStatistics
}

/**
 * The first rows of the table. If sorted by name, only shown rows are described, because the others would cost time
 * every second.
 */
function describedRows(
  lane: ExplorerLane,
  { from, to }: { readonly from: number; readonly to: number },
  { column, direction }: Sort,
  limit: number,
): SeriesTableRow[] {
  const members = lane.series.map((series, order) => ({ series, member: series.member, order }))
  const describe = (row: (typeof members)[number]): SeriesTableRow => ({
    ...row,
    statistics: statisticsOf(row.member.values, from, to),
  })
  if (column === BY_NAME.column || !STATISTIC_COLUMNS.has(column)) {
    return sortRows(members, direction, ({ member, order }) => (member.bin ? order : member.label))
      .slice(0, limit)
      .map(describe)
  }
  return sortRows(
    members.map(describe),
    direction,
    ({ statistics }) => statistics[column as keyof SeriesStatistics],
  ).slice(0, limit)
}
