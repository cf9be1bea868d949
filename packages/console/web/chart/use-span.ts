import type { FrameRange } from '../api/frame.ts'
import { useSecond } from '../state/clock.ts'

/** The span that is shown: a live one ends now and moves once a second. */
export function useSpan(range: FrameRange): { readonly fromMs: number; readonly toMs: number } {
  const nowMs = useSecond()
  return range.kind === 'fixed' ? range : { fromMs: nowMs - range.windowMs, toMs: nowMs }
}

/** Moves a live span in whole pixels, so that what was drawn before stays sharp and in its place. */
export function snapSpan(
  span: { readonly fromMs: number; readonly toMs: number },
  widthPx: number,
): { readonly fromMs: number; readonly toMs: number } {
  const lengthMs = span.toMs - span.fromMs
  const perPixelMs = lengthMs / Math.max(1, widthPx)
  const toMs = Math.ceil(span.toMs / perPixelMs) * perPixelMs
  return { fromMs: toMs - lengthMs, toMs }
}
