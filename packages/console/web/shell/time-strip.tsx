import { INCIDENT_MARGIN_MS, type Incident } from '@sonde/sdk/api'
import { type KeyboardEvent, type PointerEvent, useMemo, useState } from 'react'
import { useLocation } from 'wouter'
import { useIncidents } from '../api/incidents.ts'
import { useNode } from '../api/resources.ts'
import { countText } from '../format/number.ts'
import { formatClock, formatDateTime, formatSpanOfTime, zoneName } from '../format/time.ts'
import { useSecond } from '../state/clock.ts'
import { useOwnWindow } from '../state/own-window.ts'
import { rangeMs, usePageState } from '../state/time-window.ts'
import { incidentNear, nextIncident, placeOn, type StripSpan, stripSpan } from './strip-place.ts'
import { TimeField } from './time-field.tsx'
import { type TimeWays, useTimeWays } from './use-time-ways.ts'

/** The strip moves in steps, so that its incidents are not requested each second. Unit: milliseconds. */
const MOVES_BY_MS = 30_000
/** Most incidents with a tick. */
const TICK_LIMIT_COUNT = 500
/** A shorter drag is a click: it shows the incident there, or the time around it. Unit: CSS pixels. */
const DRAG_LEAST_PX = 4
/** A click this close to an incident means the incident. Unit: CSS pixels. */
const NEAR_PX = 6

/** The window while it is dragged, and where the drag began. */
interface DraggedSpan extends StripSpan {
  readonly anchorMs: number
}

/** The history that exists in one row: incidents as ticks, gaps hatched, and the window of the page. */
export function TimeStrip() {
  const page = usePageState()
  const [location] = useLocation()
  const node = useNode().data
  const nowMs = Math.ceil(useSecond() / MOVES_BY_MS) * MOVES_BY_MS
  const oldestMs = node?.store.oldestMs
  const strip = useMemo(() => stripSpan(nowMs, oldestMs), [nowMs, oldestMs])
  const { data } = useIncidents({ fromMs: Math.floor(strip.fromMs), limit: TICK_LIMIT_COUNT })
  const [dragged, setDragged] = useState<DraggedSpan>()
  const zone = page.url.tz ?? 'utc'
  const incidents = data?.incidents ?? []
  const { range } = page
  const own = useOwnWindow()
  const ways = useTimeWays(own, page, nowMs)
  // Before, the window would stand somewhere else for a moment.
  const isKnown = node !== undefined && (own !== undefined || !location.startsWith('/incidents/'))
  const past = own ?? (range.kind === 'live' ? undefined : range)
  const shown = past ?? { fromMs: nowMs - rangeMs(range), toMs: nowMs }
  const words = past ? `${formatSpanOfTime(past.fromMs, past.toMs, zone)} ${zoneName(zone, past.toMs)}` : 'Live'
  const drag = dragHandlers(strip, { incidents, dragged, setDragged, ways })
  return (
    <section className="time-strip" aria-label="Time">
      <span className="time-strip-end num">{formatClock(strip.fromMs, zone, 'minutes')}</span>
      <div
        className="time-strip-track"
        role="slider"
        tabIndex={0}
        aria-label={`Time, with ${countText(incidents.length, 'incident')}. Arrow keys step between incidents`}
        aria-valuemin={strip.fromMs}
        aria-valuemax={strip.toMs}
        aria-valuenow={Math.min(strip.toMs, Math.max(strip.fromMs, shown.toMs))}
        aria-valuetext={words}
        onKeyDown={(event) => step(event, incidents, past?.fromMs ?? nowMs, ways)}
        {...drag}
      >
        {(data?.unknown ?? []).map((span) => (
          <Mark
            key={`gap ${span.fromMs}`}
            className="time-strip-gap"
            place={placeOn(strip, span)}
            title={span.reason}
          />
        ))}
        {isKnown && <Mark className="time-strip-window" place={placeOn(strip, dragged ?? shown)} />}
        {incidents.map((one) => (
          <Mark
            key={one.id}
            className={`time-strip-tick is-${one.severity}`}
            place={placeOn(strip, { fromMs: Math.max(strip.fromMs, one.startMs), toMs: one.endMs ?? nowMs })}
            title={`${one.title}, ${formatDateTime(one.startMs, zone)} ${zoneName(zone, one.startMs)}`}
          />
        ))}
      </div>
      <span className="time-strip-end num">{formatClock(strip.toMs, zone, 'minutes')}</span>
      <button type="button" className="button time-strip-live" aria-pressed={past === undefined} onClick={ways.follow}>
        Go live
      </button>
      <TimeField />
    </section>
  )
}

function Mark({
  className,
  place,
  title,
}: {
  readonly className: string
  readonly place: ReturnType<typeof placeOn>
  readonly title?: string
}) {
  return place ? <span className={className} style={place} title={title} /> : null
}

/** Steps to the incident before or after the window; the right end is live. */
function step(event: KeyboardEvent, incidents: readonly Incident[], fromMs: number, ways: TimeWays): void {
  if (event.key === 'End') ways.follow()
  else if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') {
    const found = nextIncident(incidents, fromMs, event.key === 'ArrowLeft' ? 'before' : 'after')
    if (found) ways.showIncident(found)
    else if (event.key === 'ArrowRight') ways.follow()
  } else return
  event.preventDefault()
  event.stopPropagation()
}

/** Dragging selects a window; a click shows the incident there, or the minutes around it. */
function dragHandlers(
  strip: StripSpan,
  {
    incidents,
    dragged,
    setDragged,
    ways,
  }: {
    readonly incidents: readonly Incident[]
    readonly dragged: DraggedSpan | undefined
    readonly setDragged: (span: DraggedSpan | undefined) => void
    readonly ways: TimeWays
  },
) {
  const timeAt = ({ clientX, currentTarget }: PointerEvent<HTMLElement>): number => {
    const { left, width } = currentTarget.getBoundingClientRect()
    const share = Math.min(1, Math.max(0, (clientX - left) / width))
    return strip.fromMs + share * (strip.toMs - strip.fromMs)
  }
  return {
    onPointerDown: (event: PointerEvent<HTMLElement>) => {
      event.currentTarget.setPointerCapture(event.pointerId)
      const atMs = timeAt(event)
      setDragged({ fromMs: atMs, toMs: atMs, anchorMs: atMs })
    },
    onPointerMove: (event: PointerEvent<HTMLElement>) => {
      if (dragged === undefined) return
      const atMs = timeAt(event)
      const span = { fromMs: Math.min(atMs, dragged.anchorMs), toMs: Math.max(atMs, dragged.anchorMs) }
      setDragged({ ...span, anchorMs: dragged.anchorMs })
    },
    onPointerUp: (event: PointerEvent<HTMLElement>) => {
      if (dragged === undefined) return
      const { fromMs, toMs } = dragged
      const pixelMs = (strip.toMs - strip.fromMs) / event.currentTarget.clientWidth
      setDragged(undefined)
      if (toMs - fromMs >= DRAG_LEAST_PX * pixelMs) return ways.showWindow(fromMs, toMs)
      const found = incidentNear(incidents, fromMs, NEAR_PX * pixelMs)
      if (found) ways.showIncident(found)
      else ways.showWindow(fromMs - INCIDENT_MARGIN_MS, fromMs + INCIDENT_MARGIN_MS)
    },
    onPointerCancel: () => setDragged(undefined),
  }
}
