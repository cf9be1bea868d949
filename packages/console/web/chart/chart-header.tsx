import type { ReactNode } from 'react'
import { Breakable } from '../components/breakable.tsx'
import { SeriesKey } from '../components/series-key.tsx'
import { formatIn } from '../format/number.ts'
import { formatAge, formatDuration, formatRoughAge } from '../format/time.ts'
import { staleAfterMs } from '../state/clock.ts'
import { useCursor } from '../state/cursor.ts'
import { usePageState } from '../state/time-window.ts'
import type { ChartModel } from './chart-model.ts'
import type { ChartSpec } from './chart-spec.ts'
import type { PlotLine } from './plot-model.ts'
import { readingOf, readoutsOf } from './readouts.ts'

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
  /** Actions of the chart. */
  readonly children?: ReactNode
}) {
  const { plot, unit } = model
  const lagMs = model.newest < 0 ? 0 : plot.toMs - plot.times[model.newest]!
  const isStale = plot.isLive && lagMs > staleAfterMs(plot.stepMs)
  const caption = [spec.caption, plot.stepMs !== 1_000 ? `${formatDuration(plot.stepMs)} step` : undefined]
    .filter(Boolean)
    .join(' · ')
  return (
    <header className="panel-head">
      <h2 id={titleId} className="panel-title">
        <Breakable name={spec.title} />
      </h2>
      {unit.label && <span className="panel-unit">{unit.label}</span>}
      {caption && (
        <span className="panel-caption" title={caption}>
          {caption}
        </span>
      )}
      {isStale && (
        <span className="badge is-warning" title={`The newest sample is ${formatAge(lagMs)} old.`}>
          Stale {formatRoughAge(lagMs)}
        </span>
      )}
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
  const { lit, others, moreCount } = readoutsOf(model, at)
  const isNothing =
    lit.length + others.length === 0 && plot.lines.some((line) => (line.lane || plot.heat) && readingOf(line, at) === 0)
  const readout = (line: PlotLine) => (
    <span key={line.key || 'herd'} className="readout">
      {line.slot && plot.lines.length > 1 && !line.lane && <SeriesKey slot={line.slot} markerOnly />}
      {spec.members.length > 1 && (
        <span className="readout-name">{herd && line.slot === undefined && lit.length > 0 ? 'peers' : line.label}</span>
      )}
      <span className="readout-value num">{formatIn(unit, readingOf(line, at))}</span>
    </span>
  )
  const beside = (
    <>
      {others.map(readout)}
      {isNothing && <span className="readout-value">none</span>}
      {moreCount > 0 && <span className="readout-more">+{moreCount}</span>}
    </>
  )
  const tone = isStale ? ' is-stale' : ''
  if (lit.length === 0) return <div className={`readouts${tone}`}>{beside}</div>
  return (
    <div className={`readouts has-lit${tone}`}>
      <div className="readouts-beside">{beside}</div>
      <div className="readouts-lit">{lit.map(readout)}</div>
    </div>
  )
}
