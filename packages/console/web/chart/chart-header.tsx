import type { ReactNode } from 'react'
import { SeriesKey } from '../components/series-key.tsx'
import { formatIn } from '../format/number.ts'
import { formatAge, formatDuration } from '../format/time.ts'
import { useCursor } from '../state/cursor.ts'
import { usePageState } from '../state/time-window.ts'
import type { ChartModel } from './chart-model.ts'
import type { ChartSpec } from './chart-spec.ts'
import type { PlotLine } from './plot-model.ts'

/** Most readouts that a header has room for. */
const READOUT_LIMIT_COUNT = 4
const STALE_AFTER_STEPS = 2
/** A source answers a little after its interval; below this a lag is no news. */
const STALE_MIN_MS = 4_000

/** Title with the unit, and the values under the cursor, or the newest ones where no cursor stands. */
export function ChartHeader({
  spec,
  model,
  titleId,
  children,
}: {
  readonly spec: ChartSpec
  readonly model: ChartModel
  readonly titleId: string
  /** What can be done with the chart. */
  readonly children?: ReactNode
}) {
  const { plot, unit } = model
  const lagMs = model.newest < 0 ? 0 : plot.toMs - plot.times[model.newest]!
  const isStale = plot.isLive && lagMs > Math.max(STALE_AFTER_STEPS * plot.stepMs + 1_000, STALE_MIN_MS)
  const caption = [spec.caption, plot.stepMs !== 1_000 ? `${formatDuration(plot.stepMs)} step` : undefined]
    .filter(Boolean)
    .join(' · ')
  return (
    <header className="panel-head">
      <h2 id={titleId} className="panel-title">
        {spec.title}
      </h2>
      {unit.label && <span className="panel-unit">{unit.label}</span>}
      {caption && (
        <span className="panel-caption" title={caption}>
          {caption}
        </span>
      )}
      {isStale && <span className="badge is-warning">Stale {formatAge(lagMs)}</span>}
      <Readouts model={model} spec={spec} isStale={isStale} />
      {children}
    </header>
  )
}

function Readouts({
  model,
  spec,
  isStale,
}: {
  readonly model: ChartModel
  readonly spec: ChartSpec
  readonly isStale: boolean
}) {
  const page = usePageState()
  const cursorMs = useCursor(page.url.atMs)
  const { plot, unit, newest, herd } = model
  const at = cursorMs === null ? newest : Math.round((cursorMs - (plot.times[0] ?? 0)) / plot.stepMs)
  const readingOf = (line: PlotLine): number => line.values[at] ?? Number.NaN
  const isShare = unit.quantity.timeShare !== undefined
  const isLanes = spec.scale === 'lanes'
  // Of lanes that are shares of time only those are said in which something is.
  const named = plot.lines.filter((line) =>
    isLanes ? !isShare || readingOf(line) > 0 : line.slot !== undefined || herd,
  )
  const shown = named.slice(0, READOUT_LIMIT_COUNT)
  const isAlone = spec.members.length === 1
  return (
    <div className={isStale ? 'readouts is-stale' : 'readouts'}>
      {shown.map((line) => (
        <span key={line.key || 'herd'} className="readout">
          {line.slot && plot.lines.length > 1 && !isLanes && <SeriesKey slot={line.slot} markerOnly />}
          {!isAlone && (
            <span className="readout-name">
              {herd && line.slot === undefined && herd.lit.length > 0 ? 'peers' : line.label}
            </span>
          )}
          <span className="readout-value num">{formatIn(unit, readingOf(line))}</span>
        </span>
      ))}
      {isLanes && isShare && named.length === 0 && plot.lines.some((line) => readingOf(line) === 0) && (
        <span className="readout-value">none</span>
      )}
      {named.length > shown.length && <span className="readout-more">+{named.length - shown.length}</span>}
    </div>
  )
}
