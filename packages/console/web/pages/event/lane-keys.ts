import { panSpan, type Span, spanWith, zoomSpan } from './view-span.ts'

/** Effect of a key on the view and the cursor of the lanes. */
export type LaneAction =
  | { readonly kind: 'cursor'; readonly atMs: number; readonly view: Span }
  | { readonly kind: 'view'; readonly view: Span }
  | { readonly kind: 'pin' | 'unpin' | 'table' }

/** State that the keys act on. */
export interface LaneKeyState {
  readonly view: Span
  readonly bounds: Span
  /** The cursor; undefined if there is none. */
  readonly atMs: number | undefined
  /** Times of the drawn samples of the chosen lane. */
  readonly times: Float64Array
  /** Start and end of the event. */
  readonly startMs: number
  readonly endMs: number | undefined
}

const STRIDE_COUNT = 10
const ZOOM_FACTOR = 2

/** The effect of a key; undefined if it has none. */
export function laneAction(key: string, isShifted: boolean, state: LaneKeyState): LaneAction | undefined {
  const { view, bounds, atMs, startMs, endMs } = state
  const middleMs = atMs ?? (view.fromMs + view.toMs) / 2
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowRight': {
      const count = (key === 'ArrowLeft' ? -1 : 1) * (isShifted ? STRIDE_COUNT : 1)
      return cursorTo(sampleAfter(state, count), state)
    }
    case '[':
      return cursorTo(startMs, state)
    case ']':
      return endMs === undefined ? undefined : cursorTo(endMs, state)
    case '+':
    case '=':
      return { kind: 'view', view: zoomSpan(view, bounds, middleMs, 1 / ZOOM_FACTOR) }
    case '-':
    case '−':
      return { kind: 'view', view: zoomSpan(view, bounds, middleMs, ZOOM_FACTOR) }
    case '0':
      return { kind: 'view', view: bounds }
    case 'PageUp':
      return { kind: 'view', view: panSpan(view, bounds, -1 / 2) }
    case 'PageDown':
      return { kind: 'view', view: panSpan(view, bounds, 1 / 2) }
    case 'Enter':
      return { kind: 'pin' }
    case 'Escape':
      return { kind: 'unpin' }
    case 't':
      return { kind: 'table' }
    default:
      return undefined
  }
}

function cursorTo(atMs: number, { view, bounds }: LaneKeyState): LaneAction {
  return { kind: 'cursor', atMs, view: spanWith(view, bounds, atMs) }
}

/** The time `count` samples after the cursor, or after the start of the event if there is no cursor. */
function sampleAfter({ times, atMs, view, startMs }: LaneKeyState, count: number): number {
  if (atMs === undefined)
    return startMs >= view.fromMs && startMs <= view.toMs ? startMs : (view.fromMs + view.toMs) / 2
  if (times.length === 0) return atMs
  let at = 0
  // The sample at the cursor, or the last one before it.
  while (at + 1 < times.length && times[at + 1]! <= atMs) at++
  const isBetween = times[at] !== atMs
  const next = Math.min(times.length - 1, Math.max(0, at + count + (isBetween && count < 0 ? 1 : 0)))
  return times[next]!
}
