import { useLayoutEffect, useRef, useState } from 'react'
import { Icon } from '../components/icon.tsx'
import { SeriesKey } from '../components/series-key.tsx'
import { formatIn, joinUnit } from '../format/number.ts'
import { formatClock, formatDuration, zoneName } from '../format/time.ts'
import { usePageState } from '../state/time-window.ts'
import { placeCard } from './card-place.ts'
import type { ChartModel } from './chart-model.ts'
import type { ChartSpec } from './chart-spec.ts'
import { busiest } from './heat.ts'
import type { Plot } from './plot.ts'

const ROW_LIMIT_COUNT = 8

interface CardProps {
  readonly spec: ChartSpec
  readonly model: ChartModel
  readonly plot: Plot
  readonly onClose: () => void
}

/** The pinned card: values at the pinned time, lit members first, then the herd as a range. */
export function ChartCard({ spec, model, plot, onClose }: CardProps) {
  const page = usePageState()
  const ref = useRef<HTMLDivElement>(null)
  const [place, setPlace] = useState({ left: 0, top: 0 })
  const { atMs = 0 } = page.url
  const { stepMs, times, lines, zone, toMs, isLive, heat } = model.plot
  const at = Math.round((atMs - (times[0] ?? 0)) / stepMs)
  useLayoutEffect(() => {
    const card = ref.current
    if (!card) return
    const { area } = plot
    const found = placeCard(
      { width: card.offsetWidth, height: card.offsetHeight },
      area,
      plot.positionOf(atMs),
      marksOf(model, plot),
    )
    const next = { left: area.left + found.left, top: area.top + found.top }
    setPlace((before) => (before.left === next.left && before.top === next.top ? before : next))
  }, [model, plot, atMs])
  const named = heat
    ? busiest(lines, at, ROW_LIMIT_COUNT)
    : [...lines].sort((a, b) => Number(a.slot === undefined) - Number(b.slot === undefined)).slice(0, ROW_LIMIT_COUNT)
  const write = (raw: number | undefined): string => formatIn(model.unit, raw ?? Number.NaN)
  return (
    <div ref={ref} className="chart-card" style={{ left: place.left, top: place.top }}>
      <div className="chart-card-head">
        <span className="num">{formatClock(atMs, zone, stepMs < 1000 ? 'milliseconds' : 'seconds')}</span>{' '}
        {zoneName(zone, atMs)}
        {isLive && <span> · {formatDuration(Math.round((toMs - atMs) / 1000) * 1000)} ago</span>}
        <button type="button" className="icon-button is-small" aria-label="Unpin" onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      <dl className="chart-card-rows">
        {heat && named.length === 0 && (
          <div>
            <dt>
              {lines.some((line) => !Number.isNaN(line.values[at] ?? Number.NaN)) ? 'Nothing counted' : 'No sample'}
            </dt>
          </div>
        )}
        {named.map((line) => (
          <div key={line.key || 'herd'}>
            <dt>
              {line.slot && !line.lane && lines.length > 1 && <SeriesKey slot={line.slot} />}
              {line.label}
            </dt>
            <dd className="num">
              {line.slot === undefined && model.herd
                ? `${write(model.herd.low[at])} – ${write(model.herd.high[at])}`
                : joinUnit(write(line.values[at]), model.unit.label)}
            </dd>
          </div>
        ))}
      </dl>
      {spec.provenance && (
        <div className="chart-card-foot">{spec.provenance.replace('{step}', formatDuration(stepMs))}</div>
      )}
    </div>
  )
}

function marksOf(model: ChartModel, plot: Plot): { readonly x: number; readonly y: number }[] {
  const { times, lines, top, bottom, heat } = model.plot
  if (heat) return []
  const { height } = plot.area
  const stride = Math.max(1, Math.floor(times.length / 200))
  const marks: { x: number; y: number }[] = []
  for (const { heights } of lines.slice(0, ROW_LIMIT_COUNT)) {
    for (let i = 0; i < times.length; i += stride) {
      if (!Number.isNaN(heights[i]!))
        marks.push({ x: plot.positionOf(times[i]!), y: height * (1 - (heights[i]! - bottom) / (top - bottom)) })
    }
  }
  return marks
}
