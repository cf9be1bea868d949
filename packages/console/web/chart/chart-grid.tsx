import type { QueryColumns } from '../api/query-client.ts'
import { AbsentList } from '../components/absent-list.tsx'
import { PanelBoundary } from '../components/error-boundary.tsx'
import { Chart } from './chart.tsx'
import { herdNames } from './chart-model.ts'
import type { ChartSpec } from './chart-spec.ts'
import { edgeNames } from './heat.ts'
import { HERD_MIN_COUNT } from './herd.ts'
import { roomFor } from './line-ends.ts'

/** A chart, or why there is none. */
export interface GridChart {
  readonly spec: ChartSpec
  /** The answer whose grid the members lie on. */
  readonly answer: QueryColumns
  /** Why it cannot be had; empty or missing where it can. */
  readonly absent?: string
  /** Lines of it that cannot be had, and why. */
  readonly missing?: readonly { readonly name: string; readonly reason: string }[]
}

/** Members beyond these are not named at the right end. */
const NAMED_LIMIT_COUNT = 8

/**
 * Charts side by side. Their plots are as wide as each other, so that a time stands in one column; what cannot be had
 * is listed below.
 */
export function ChartGrid({
  charts,
  beside = charts,
}: {
  readonly charts: readonly GridChart[]
  /** All charts of the page, where they stand in several grids. */
  readonly beside?: readonly GridChart[]
}) {
  const drawn = charts.filter(({ absent }) => !absent)
  const endPx = sharedRoom(beside.filter(({ absent }) => !absent))
  const absent = charts.flatMap(({ spec: { title }, absent, missing = [] }) =>
    absent ? [{ title, reason: absent }] : missing.map(({ name, reason }) => ({ title: `${title}: ${name}`, reason })),
  )
  return (
    <>
      {drawn.length > 0 && (
        <div className="chart-grid">
          {drawn.map(({ spec, answer }) => (
            <PanelBoundary key={spec.id}>
              <Chart spec={spec} answer={answer} endPx={endPx} />
            </PanelBoundary>
          ))}
        </div>
      )}
      {absent.length > 0 && <AbsentList items={absent} />}
    </>
  )
}

/** Room at the right end with which the plots of some charts are as wide as each other. Unit: CSS pixels. */
export function sharedRoom(charts: readonly Pick<GridChart, 'spec' | 'answer'>[]): number {
  return roomFor(charts.flatMap(endNames))
}

/** What may stand at the right end of a chart. */
function endNames({ spec, answer }: Pick<GridChart, 'spec' | 'answer'>): readonly string[] {
  const { members, isAlike } = spec
  if (spec.scale === 'heat') return edgeNames(spec)
  const herd = isAlike === false || members.length < HERD_MIN_COUNT ? [] : herdNames(spec, answer.stepMs)
  return members.length > NAMED_LIMIT_COUNT ? herd : [...herd, ...members.map(({ label }) => label)]
}
