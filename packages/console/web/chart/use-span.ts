import type { FrameRange } from '../api/frame.ts'
import { useEdge } from '../state/clock.ts'

/** The span that is shown: a live one ends now and moves once a second. */
export function useSpan(range: FrameRange): { readonly fromMs: number; readonly toMs: number } {
  const nowMs = useEdge()
  return range.kind === 'fixed' ? range : { fromMs: nowMs - range.windowMs, toMs: nowMs }
}
