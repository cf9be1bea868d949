import { type PointerEvent, useEffect, useRef, useState } from 'react'
import { hoverStore } from '../../state/cursor.ts'
import type { EventView } from './use-event-view.ts'
import { lengthOf, type Span, zoomSpan } from './view-span.ts'

/** A drag that is shorter than this is a click. Unit: CSS pixels. */
const DRAG_MIN_PX = 6
/** Zoom factor of one wheel notch, about 100 pixels. */
const WHEEL_FACTOR = 1.25
const NOTCH_PX = 100

/** Horizontal extent of the plot inside of the pointed element. Unit: CSS pixels. */
interface PlotPlace {
  readonly leftPx: number
  readonly widthPx: number
}

/** Pointer state and handlers of the lanes. */
export interface LanePointer {
  readonly onPointerDown: (event: PointerEvent<HTMLElement>) => void
  readonly onPointerMove: (event: PointerEvent<HTMLElement>) => void
  readonly onPointerUp: (event: PointerEvent<HTMLElement>) => void
  readonly onPointerCancel: () => void
  readonly onPointerLeave: () => void
  /** The span marked for zooming. */
  readonly marked: Span | undefined
}

interface Drag {
  readonly kind: 'zoom' | 'move'
  readonly fromPx: number
  readonly view: Span
}

/**
 * Dragging over lanes zooms to the dragged span. With Shift, or over the axis, dragging moves the view. The wheel zooms
 * over the axis, and over lanes with Ctrl; with Shift it moves the view.
 */
export function useLanePointer(
  host: HTMLElement | null,
  place: PlotPlace,
  view: EventView,
  onPin: (atMs: number) => void,
): LanePointer {
  const drag = useRef<Drag>(undefined)
  const [marked, setMarked] = useState<Span>()
  const latest = useRef({ place, view })
  latest.current = { place, view }

  const timeAt = (px: number): number => {
    const { place, view } = latest.current
    const shown = view.stage.view.get()
    const share = Math.min(1, Math.max(0, (px - place.leftPx) / Math.max(1, place.widthPx)))
    return shown.fromMs + share * lengthOf(shown)
  }
  const isOnPlot = (px: number): boolean => px >= place.leftPx - 1 && px <= place.leftPx + place.widthPx + 1

  useWheel(host, timeAt, latest)

  return {
    marked,
    onPointerDown: (event) => {
      const px = pointerShare(event)
      if (event.button !== 0 || !isOnPlot(px)) return
      const isAxis = event.target instanceof Element && event.target.closest('.lane-axis') !== null
      drag.current = { kind: event.shiftKey || isAxis ? 'move' : 'zoom', fromPx: px, view: view.stage.view.get() }
      event.currentTarget.setPointerCapture(event.pointerId)
    },
    onPointerMove: (event) => {
      const px = pointerShare(event)
      const { current } = drag
      if (!current) return hoverStore.set(isOnPlot(px) ? timeAt(px) : null)
      if (current.kind === 'move') {
        const byMs = ((current.fromPx - px) / Math.max(1, place.widthPx)) * lengthOf(current.view)
        view.show({ fromMs: current.view.fromMs + byMs, toMs: current.view.toMs + byMs }, 'rest')
        return
      }
      hoverStore.set(timeAt(px))
      setMarked(Math.abs(px - current.fromPx) < DRAG_MIN_PX ? undefined : between(timeAt(current.fromPx), timeAt(px)))
    },
    onPointerUp: (event) => {
      const { current } = drag
      drag.current = undefined
      setMarked(undefined)
      const px = pointerShare(event)
      if (!current || current.kind === 'move') return
      if (Math.abs(px - current.fromPx) < DRAG_MIN_PX) onPin(timeAt(px))
      else view.show(between(timeAt(current.fromPx), timeAt(px)), 'push')
    },
    onPointerCancel: () => {
      drag.current = undefined
      setMarked(undefined)
    },
    onPointerLeave: () => {
      if (!drag.current) hoverStore.set(null)
    },
  }
}

function pointerShare(event: { readonly currentTarget: Element; readonly clientX: number }): number {
  return event.clientX - event.currentTarget.getBoundingClientRect().left
}

function between(one: number, other: number): Span {
  return { fromMs: Math.min(one, other), toMs: Math.max(one, other) }
}

/** Adds its own listener, because the wheel listeners of React are passive and cannot stop the page from scrolling. */
function useWheel(
  host: HTMLElement | null,
  timeAt: (px: number) => number,
  latest: { readonly current: { readonly place: PlotPlace; readonly view: EventView } },
): void {
  const time = useRef(timeAt)
  time.current = timeAt
  useEffect(() => {
    if (!host) return
    const onWheel = (event: WheelEvent): void => {
      const { place, view } = latest.current
      const px = event.clientX - host.getBoundingClientRect().left
      if (px < place.leftPx || px > place.leftPx + place.widthPx) return
      const shown = view.stage.view.get()
      const isAxis = event.target instanceof Element && event.target.closest('.lane-axis') !== null
      const sidePx = event.deltaX !== 0 ? event.deltaX : event.shiftKey ? event.deltaY : 0
      if (Math.abs(sidePx) > Math.abs(event.shiftKey ? 0 : event.deltaY)) {
        event.preventDefault()
        const byMs = (sidePx / Math.max(1, place.widthPx)) * lengthOf(shown)
        view.show({ fromMs: shown.fromMs + byMs, toMs: shown.toMs + byMs }, 'rest')
      } else if (event.ctrlKey || event.metaKey || isAxis) {
        event.preventDefault()
        const factor = WHEEL_FACTOR ** (event.deltaY / NOTCH_PX)
        view.show(zoomSpan(shown, view.bounds, time.current(px), factor), 'rest')
      }
    }
    host.addEventListener('wheel', onWheel, { passive: false })
    return () => host.removeEventListener('wheel', onWheel)
  }, [host, latest])
}
