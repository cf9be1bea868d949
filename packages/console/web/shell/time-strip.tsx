import { INCIDENT_MARGIN_MS, type Incident } from '@sonde/sdk/api'
import { type KeyboardEvent, type PointerEvent, useMemo, useState } from 'react'
import { useIncidents } from '../api/incidents.ts'
import { useNode } from '../api/resources.ts'
import { countText } from '../format/number.ts'
import { formatClock, formatDateTime, formatSpanOfTime, zoneName } from '../format/time.ts'
import { useSecond } from '../state/clock.ts'
import { DEFAULT_WINDOW_MS, type PageState, usePageState } from '../state/time-window.ts'
import { nextIncident, placeOn, type StripSpan, stripSpan, windowOf } from './strip-place.ts'
import { TimeField } from './time-field.tsx'

/** The strip moves in steps, so that its incidents are not requested each second. Unit: milliseconds. */
const MOVES_BY_MS = 30_000
/** Most incidents with a tick. */
const TICK_LIMIT_COUNT = 500
/** A shorter drag is a click: it shows the time around it. Unit: CSS pixels. */
const DRAG_LEAST_PX = 4

/** The window while it is dragged, and where the drag began. */
interface DraggedSpan extends StripSpan {
  readonly anchorMs: number
}

/** The history that exists in one row: incidents as ticks, gaps hatched, and the window of the page. */
export function TimeStrip() {
  const page = usePageState()
  const node = useNode().data
  const nowMs = Math.ceil(useSecond() / MOVES_BY_MS) * MOVES_BY_MS
  const oldestMs = node?.store.oldestMs
  const strip = useMemo(() => stripSpan(nowMs, oldestMs), [nowMs, oldestMs])
  const { data } = useIncidents({ fromMs: Math.floor(strip.fromMs), limit: TICK_LIMIT_COUNT })
  const [dragged, setDragged] = useState<DraggedSpan>()
  const zone = page.url.tz ?? 'utc'
  const incidents = data?.incidents ?? []
  const { range } = page
  const shown = range.kind === 'live' ? { fromMs: nowMs - range.windowMs, toMs: nowMs } : range
  const words =
    range.kind === 'live' ? 'Live' : `${formatSpanOfTime(range.fromMs, range.toMs, zone)} ${zoneName(zone, range.toMs)}`
  const drag = dragHandlers(strip, dragged, setDragged, page)
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
        onKeyDown={(event) => step(event, incidents, page, nowMs)}
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
        <Mark className="time-strip-window" place={placeOn(strip, dragged ?? shown)} />
        {incidents.map((one) => (
          <Mark
            key={one.id}
            className={`time-strip-tick is-${one.severity}`}
            place={placeOn(strip, { fromMs: Math.max(strip.fromMs, one.startMs), toMs: one.endMs ?? nowMs })}
            title={`${one.title}, ${formatDateTime(one.startMs, zone)} ${zoneName(zone, one.startMs)}`}
          />
        ))}
      </div>
      <button
        type="button"
        className="button time-strip-live"
        aria-pressed={page.isLive}
        onClick={() => page.follow(range.kind === 'live' ? range.windowMs : DEFAULT_WINDOW_MS)}
      >
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
function step(event: KeyboardEvent, incidents: readonly Incident[], page: PageState, nowMs: number): void {
  const { range } = page
  if (event.key === 'End') page.follow(DEFAULT_WINDOW_MS)
  else if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') {
    const atMs = range.kind === 'live' ? nowMs : range.fromMs + INCIDENT_MARGIN_MS
    const found = nextIncident(incidents, atMs, event.key === 'ArrowLeft' ? 'before' : 'after')
    if (found) {
      const { fromMs, toMs } = windowOf(found, nowMs)
      page.zoom(fromMs, toMs)
    } else if (event.key === 'ArrowRight') page.follow(DEFAULT_WINDOW_MS)
  } else return
  event.preventDefault()
  event.stopPropagation()
}

/** Dragging selects a window; a click shows the minutes around it. */
function dragHandlers(
  strip: StripSpan,
  state: DraggedSpan | undefined,
  setDragged: (span: DraggedSpan | undefined) => void,
  page: PageState,
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
      if (state === undefined) return
      const atMs = timeAt(event)
      const span = { fromMs: Math.min(atMs, state.anchorMs), toMs: Math.max(atMs, state.anchorMs) }
      setDragged({ ...span, anchorMs: state.anchorMs })
    },
    onPointerUp: (event: PointerEvent<HTMLElement>) => {
      if (state === undefined) return
      const leastMs = (DRAG_LEAST_PX / event.currentTarget.clientWidth) * (strip.toMs - strip.fromMs)
      const isClick = state.toMs - state.fromMs < leastMs
      setDragged(undefined)
      if (isClick) page.zoom(state.fromMs - INCIDENT_MARGIN_MS, state.fromMs + INCIDENT_MARGIN_MS)
      else page.zoom(state.fromMs, state.toMs)
    },
    onPointerCancel: () => setDragged(undefined),
  }
}
