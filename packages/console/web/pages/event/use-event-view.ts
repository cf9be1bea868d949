import { useCallback, useEffect, useMemo, useRef } from 'react'
import { usePageState } from '../../state/time-window.ts'
import { LaneStage } from './lane-stage.ts'
import { clampSpan, covers, type Span } from './view-span.ts'

/** A view that moves is written into the address once it rests. Unit: milliseconds. */
const REST_MS = 250

/** The stretch of an event that is drawn, and how it is changed. */
export interface EventView {
  readonly stage: LaneStage
  readonly bounds: Span
  readonly isWhole: boolean
  /** Shows a stretch; `push` makes a step of history of it, and `rest` writes it once nothing moves any more. */
  readonly show: (span: Span, mode: 'push' | 'rest') => void
  readonly reset: () => void
}

/** Keeps the stretch in view together with the address. */
export function useEventView(bounds: Span): EventView {
  const page = usePageState()
  const { zoom } = page.url
  // biome-ignore lint/correctness/useExhaustiveDependencies: a stage lives as long as the page, whatever it shows
  const stage = useMemo(() => new LaneStage(zoom ? clampSpan(zoom, bounds) : bounds), [])
  const moving = useRef<ReturnType<typeof setTimeout>>(undefined)
  const latest = useRef({ page, bounds })
  latest.current = { page, bounds }
  const written = useRef(zoom)
  useEffect(() => {
    // What moves is ahead of the address, unless somebody went to another address meanwhile.
    if (moving.current !== undefined && isSame(zoom, written.current)) return
    clearTimeout(moving.current)
    moving.current = undefined
    written.current = zoom
    stage.view.set(zoom ? clampSpan(zoom, bounds) : bounds)
  }, [stage, zoom, bounds])
  useEffect(
    () => () => {
      clearTimeout(moving.current)
      stage.close()
    },
    [stage],
  )
  const show = useCallback(
    (span: Span, mode: 'push' | 'rest') => {
      const shown = clampSpan(span, latest.current.bounds)
      stage.view.set(shown)
      clearTimeout(moving.current)
      const write = (how: 'push' | 'replace'): void => {
        moving.current = undefined
        const { page, bounds } = latest.current
        written.current = covers(shown, bounds) ? undefined : inMicroseconds(shown)
        page.change({ zoom: written.current }, how)
      }
      if (mode === 'push') write('push')
      else moving.current = setTimeout(() => write('replace'), REST_MS)
    },
    [stage],
  )
  const reset = useCallback(() => show(latest.current.bounds, 'push'), [show])
  return useMemo(
    () => ({ stage, bounds, isWhole: zoom === undefined, show, reset }),
    [stage, bounds, zoom, show, reset],
  )
}

function isSame(one: Span | undefined, other: Span | undefined): boolean {
  return one?.fromMs === other?.fromMs && one?.toMs === other?.toMs
}

/** As the address has it, so that reading it gives the same. */
function inMicroseconds({ fromMs, toMs }: Span): Span {
  return { fromMs: Math.floor(fromMs * 1_000) / 1_000, toMs: Math.ceil(toMs * 1_000) / 1_000 }
}
