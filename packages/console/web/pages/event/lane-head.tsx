import { useLayoutEffect, useRef } from 'react'
import { useCursor } from '../../state/cursor.ts'
import { usePageState } from '../../state/time-window.ts'
import { useStore } from '../../state/value-store.ts'
import { formatAfter, formatMoment } from './event-time.ts'
import { axisTicks } from './lane-axis.ts'
import type { LaneContext } from './lane-row.tsx'
import { lengthOf } from './view-span.ts'

/** Widths of half a label, of the words beside a mark, and of a flag. Unit: CSS pixels. */
const TICK_PX = 26
const START_PX = 40
const END_PX = 96
const FLAG_PX = 12
const OPEN_PX = 64

/** The time axis of all lanes: times after the start, flags of marks, and the time of the cursor. */
export function LaneHead({ context }: { readonly context: LaneContext }) {
  const { view, startMs, marks, event, isOpen, widthPx, gutterPx } = context
  const shown = useStore(view.stage.view)
  const plotPx = Math.max(1, widthPx - gutterPx)
  const x = (ms: number): number => gutterPx + ((ms - shown.fromMs) / lengthOf(shown)) * plotPx
  const isInside = (ms: number): boolean => ms >= shown.fromMs && ms <= shown.toMs
  /** Whether the words after a mark would not fit. They then stand before it. */
  const isAtEdge = (ms: number): boolean => x(ms) + END_PX > widthPx
  const own = marks.filter((mark) => mark.event === event && isInside(mark.atMs))
  const others = marks.filter((mark) => mark.event !== event && mark.isStart && isInside(mark.atMs))
  const taken = own.map(({ atMs, isStart }) =>
    isStart
      ? { from: x(atMs) - START_PX, to: x(atMs) + FLAG_PX }
      : isAtEdge(atMs)
        ? { from: x(atMs) - END_PX, to: x(atMs) }
        : { from: x(atMs), to: x(atMs) + END_PX },
  )
  const reachedMs = view.bounds.toMs
  const isReached = isOpen && isInside(reachedMs)
  if (isReached) taken.push({ from: x(reachedMs) - OPEN_PX, to: x(reachedMs) })
  // Drops labels that an edge would cut or that touch a mark.
  const ticks = axisTicks(shown, startMs, plotPx).filter(
    ({ atMs }) =>
      x(atMs) > gutterPx - TICK_PX &&
      x(atMs) < widthPx - TICK_PX &&
      taken.every(({ from, to }) => x(atMs) + TICK_PX < from || x(atMs) - TICK_PX > to),
  )
  return (
    <div className="lane-axis" aria-hidden="true">
      {ticks.map(({ atMs, text }) => (
        <span key={text} className="lane-tick num" style={{ left: x(atMs) }}>
          {text}
        </span>
      ))}
      {others.map((mark) => (
        <span
          key={`${mark.event}`}
          className="lane-mark is-other"
          style={{ left: x(mark.atMs) }}
          title={`${mark.rule}, ${mark.device}`}
        />
      ))}
      {own.map((mark) => (
        <span
          key={mark.isStart ? 'start' : 'end'}
          className={
            mark.isStart
              ? 'lane-mark is-start num'
              : isAtEdge(mark.atMs)
                ? 'lane-mark is-end is-before num'
                : 'lane-mark is-end num'
          }
          style={{ left: x(mark.atMs) }}
        >
          {mark.isStart ? 'start' : `end ${formatAfter(mark.atMs - startMs, mark.errorMs || 0.001)}`}
        </span>
      ))}
      {isReached && (
        <span className="lane-mark is-open" style={{ left: x(reachedMs) }}>
          still open
        </span>
      )}
    </div>
  )
}

/** The line at the cursor over all lanes, and its time. */
export function LaneCursor({
  context,
  resolutionMs,
}: {
  readonly context: LaneContext
  readonly resolutionMs: number
}) {
  const page = usePageState()
  const zone = page.url.tz ?? 'utc'
  const cursorMs = useCursor(page.url.atMs)
  const line = useRef<HTMLDivElement>(null)
  const { view, startMs, widthPx, gutterPx } = context
  const shown = useStore(view.stage.view)
  const isInside = cursorMs !== null && cursorMs >= shown.fromMs && cursorMs <= shown.toMs
  const at = isInside ? gutterPx + ((cursorMs - shown.fromMs) / lengthOf(shown)) * (widthPx - gutterPx) : 0
  const perPixelMs = lengthOf(shown) / Math.max(1, widthPx - gutterPx)
  const knownMs = Math.max(resolutionMs, perPixelMs)
  // Keeps the chip inside of the plot.
  const chip = useRef<HTMLSpanElement>(null)
  useLayoutEffect(() => {
    const own = chip.current
    if (!own || !isInside) return
    const half = own.offsetWidth / 2
    const moved = Math.max(half - at, Math.min(0, widthPx - half - at))
    own.style.transform = `translateX(calc(-50% + ${moved}px))`
  })
  if (!isInside) return null
  return (
    <div ref={line} className="lane-cursor" style={{ transform: `translateX(${at}px)` }} aria-hidden="true">
      <span ref={chip} className="lane-chip num">
        {formatAfter(cursorMs - startMs, knownMs)} · {formatMoment(cursorMs, zone, knownMs)}
      </span>
    </div>
  )
}
