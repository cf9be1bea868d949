import type { Columns } from '../api/query-client.ts'
import { useEdge } from '../state/clock.ts'

/**
 * The span that an answer is shown in: a live one ends now, and moves once a second or with every step that is shorter.
 */
export function useSpan({ range, stepMs }: Columns): {
  readonly fromMs: number
  readonly toMs: number
} {
  const nowMs = useEdge(stepMs)
  return range.kind === 'fixed' ? range : { fromMs: nowMs - range.windowMs, toMs: nowMs }
}
