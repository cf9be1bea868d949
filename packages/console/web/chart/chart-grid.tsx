import type { QueryColumns } from '../api/query-client.ts'
import { AbsentList } from '../components/absent-list.tsx'
import { PanelBoundary } from '../components/error-boundary.tsx'
import { Chart } from './chart.tsx'
import { herdNames } from './chart-model.ts'
import type { ChartSpec } from './chart-spec.ts'
import { edgeNames } from './heat.ts'
import { HERD_MIN_COUNT } from './herd.ts'
import { roomFor } from './line-ends.ts'

/** A chart, or the reason for its absence. */
export interface GridChart {
  readonly spec: ChartSpec
  /** The answer with the grid of the members. */
  readonly answer: QueryColumns
  /** Why the chart is unavailable; empty or missing if it is available. */
  readonly absent?: string
  /** Unavailable lines with their reasons. */
  readonly missing?: readonly { readonly name: string; readonly reason: string }[]
  /** A chart that nobody can draw, and why; this chart replaces it. */
  readonly replaces?: { readonly title: string; readonly reason: string }
}

/** Members beyond these are not named at the right end. */
const NAMED_LIMIT_COUNT = 8

/** Charts in a grid. Their plots have the same width, so that times align; unavailable charts are listed below. */
export function ChartGrid({
  title = '',
  charts,
  beside = charts,
}: {
  /** The heading above it, where the page has several grids. */
  readonly title?: string
  readonly charts: readonly GridChart[]
  /** All charts of the page, where they stand in several grids. */
  readonly beside?: readonly GridChart[]
}) {
  const drawn = charts.filter(({ absent }) => !absent)
  const endPx = sharedRoom(beside.filter(({ absent }) => !absent))
  const absent = [...Map.groupBy(charts.flatMap(absentItems), ({ reason }) => reason)].map(([reason, items]) => ({
    title: items.map(({ title }) => title).join(', '),
    reason,
  }))
  return (
    <>
      {drawn.length > 0 && (
        <div className="chart-grid">
          {drawn.map(({ spec, answer, replaces }) => (
            <PanelBoundary key={spec.id}>
              <Chart
                spec={spec}
                answer={answer}
                endPx={endPx}
                {...(replaces ? { note: `Instead of ${replaces.title}.` } : {})}
              />
            </PanelBoundary>
          ))}
        </div>
      )}
      {absent.length > 0 && <AbsentList {...(title ? { label: `Not available: ${title}` } : {})} items={absent} />}
    </>
  )
}

/** Everything of a chart that is unavailable, and the chart that it replaces. */
function absentItems({ spec: { title }, absent, missing = [], replaces }: GridChart) {
  const own = absent
    ? [{ title, reason: absent }]
    : missing.map(({ name, reason }) => ({ title: `${title}: ${name}`, reason }))
  if (!replaces) return own
  const instead = absent ? '' : ` ${title} is shown instead.`
  return [...own, { title: replaces.title, reason: `${replaces.reason}${instead}` }]
}

/** Space at the right end that gives the plots of all charts the same width. Unit: CSS pixels. */
export function sharedRoom(charts: readonly Pick<GridChart, 'spec' | 'answer'>[]): number {
  return roomFor(charts.flatMap(endNames))
}

/** Possible names at the right end of a chart. */
function endNames({ spec, answer }: Pick<GridChart, 'spec' | 'answer'>): readonly string[] {
  const { members, isAlike } = spec
  if (spec.scale === 'heat') return edgeNames(spec)
  const herd = isAlike === false || members.length < HERD_MIN_COUNT ? [] : herdNames(spec, answer.stepMs)
  return members.length > NAMED_LIMIT_COUNT ? herd : [...herd, ...members.map(({ label }) => label)]
}
