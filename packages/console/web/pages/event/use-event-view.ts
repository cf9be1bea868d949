import { useCallback, useEffect, useMemo, useRef } from 'react'
import { usePageState } from '../../state/time-window.ts'
import { LaneStage } from './lane-stage.ts'
import { clampSpan, covers, type Span } from './view-span.ts'

/** Rest time before a moved view is written to the address. Unit: milliseconds. */
const REST_MS = 250

/** The visible span of an event, and the functions that change it. */
export interface EventView {
  readonly stage: LaneStage
  readonly bounds: Span
  readonly isWhole: boolean
  /** Shows a span. `push` adds a step to the browser history; `rest` writes the address once the view rests. */
  readonly show: (span: Span, mode: 'push' | 'rest') => void
  readonly reset: () => void
}

/** Keeps the view and the address in step. */
export function useEventView(bounds: Span): EventView {
  const page = usePageState()
  const { zoom } = page.url
  // biome-ignore lint/correctness/useExhaustiveDependencies: the stage lives as long as the page
  const stage = useMemo(() => new LaneStage(zoom ? clampSpan(zoom, bounds) : bounds), [])
  const moving = useRef<ReturnType<typeof setTimeout>>(undefined)
  const latest = useRef({ page, bounds })
  latest.current = { page, bounds }
  const written = useRef(zoom)
  useEffect(() => {
    // A moving view is ahead of the address. It wins unless the user went to another address.
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

/** Rounds a span as the address does, so that reading it back gives the same span. */
function inMicroseconds({ fromMs, toMs }: Span): Span {
  return { fromMs: Math.floor(fromMs * 1_000) / 1_000, toMs: Math.ceil(toMs * 1_000) / 1_000 }
}
