import { useMemo } from 'react'
import type { PlotLine } from '../../chart/plot.ts'
import { SeriesKey } from '../../components/series-key.tsx'
import { parseSort, type Sort, sortRows } from '../../components/sort.ts'
import { SortHead } from '../../components/sort-head.tsx'
import { TableBox } from '../../components/table-box.tsx'
import { useUnit } from '../../components/use-unit.ts'
import { countOf, formatIn, groupThousands } from '../../format/number.ts'
import { usePageState } from '../../state/time-window.ts'
import type { Lane } from './lanes.ts'
import { type Statistics, statisticsOf } from './statistics.ts'

/** Rows beyond these are left out and counted. */
const ROW_LIMIT_COUNT = 200
const BY_NAME: Sort = { column: 'series', direction: 'ascending' }

type Slot = NonNullable<PlotLine['slot']>

interface TableProps {
  readonly lane: Lane
  /** Positions on the grid that the window shows. */
  readonly from: number
  readonly to: number
}

/** What every series of a lane did in the window. A press on its name lights it. */
export function SeriesTable({ lane, from, to }: TableProps) {
  const page = usePageState()
  const sort = parseSort(page.url.sort, BY_NAME)
  const lit = page.url.lit ?? []
  const all = useMemo(
    () =>
      lane.series.map(({ member }, order) => ({ member, order, statistics: statisticsOf(member.values, from, to) })),
    [lane, from, to],
  )
  const unit = useUnit(lane.spec.quantity, Math.max(...all.map(({ statistics }) => statistics.max || 0)))
  const rows = sortRows(all, sort.direction, ({ member, statistics }) =>
    sort.column in statistics ? statistics[sort.column as keyof Statistics] : member.label,
  )
  const slots = lane.spec.slots ?? []
  const isColoured = all.length > 1 && all.length <= slots.length
  const head = (column: keyof Statistics, text: string, hasUnit: boolean) => (
    <SortHead column={column} sort={sort}>
      {text} {hasUnit && <span className="unit">{unit.label}</span>}
    </SortHead>
  )
  const toggle = (key: string): void =>
    page.change({ lit: lit.includes(key) ? lit.filter((other) => other !== key) : [...lit, key] }, 'replace')
  return (
    <TableBox label={`Table of ${lane.spec.title}`}>
      <table className="table is-compact has-first-fixed">
        <thead>
          <tr>
            <SortHead column="series" sort={sort} kind="text" className="is-wide">
              Series
            </SortHead>
            {head('last', 'Last', true)}
            {head('min', 'Min', true)}
            {head('mean', 'Mean', true)}
            {head('p95', 'p95', true)}
            {head('max', 'Max', true)}
            {head('sampleCount', 'Samples', false)}
            {head('gapCount', 'Gaps', false)}
            <th scope="col" className="is-number">
              Resets
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, ROW_LIMIT_COUNT).map(({ member, order, statistics }) => (
            <tr key={member.key}>
              <th scope="row">
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
              </th>
              {(['last', 'min', 'mean', 'p95', 'max'] as const).map((name) => (
                <td key={name} className="is-number num">
                  {formatIn(unit, statistics[name])}
                </td>
              ))}
              <td className="is-number num">{groupThousands(String(statistics.sampleCount))}</td>
              <td className="is-number num">{groupThousands(String(statistics.gapCount))}</td>
              <td className="is-number num">{member.resetsMs?.length ?? 0}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > ROW_LIMIT_COUNT && (
        <p className="panel-note">
          The first {ROW_LIMIT_COUNT} of {countOf(rows.length, 'series', 'series')}. A condition narrows them.
        </p>
      )}
    </TableBox>
  )
}
