import type { QueryColumns } from '../api/query-client.ts'
import { useNode } from '../api/resources.ts'
import { useEdge } from '../state/clock.ts'
import { grownFromMs } from '../state/grown-window.ts'

/** The span that an answer is shown in. Times in milliseconds since the Unix epoch. */
export interface ShownSpan {
  readonly fromMs: number
  readonly toMs: number
}

/**
 * The time span of a shown answer. A live span ends now, moves once a second or with each shorter step, and grows from
 * the first sample to the chosen length.
 */
export function useSpan({ range, stepMs }: Pick<QueryColumns, 'range' | 'stepMs'>): ShownSpan {
  const nowMs = useEdge(stepMs)
  const firstMs = useFirstMs()
  return range.kind === 'fixed' ? range : { fromMs: grownFromMs(nowMs, range.windowMs, firstMs), toMs: nowMs }
}

/** Time of the first stored sample; without a store, the start of the agent. Undefined if unknown. */
function useFirstMs(): number | undefined {
  const { data: node } = useNode()
  if (node === undefined || node.backend !== undefined) return undefined
  return node.store.oldestMs ?? node.startedMs
}

/** The index of the first shown sample of an answer, from which sparklines are drawn. */
export function useFirstPosition({ grid, range }: Pick<QueryColumns, 'grid' | 'range'>): number {
  const firstMs = useFirstMs()
  const lastMs = grid?.times.at(-1)
  if (range.kind === 'fixed' || grid === undefined || lastMs === undefined) return 0
  const fromMs = grownFromMs(lastMs, range.windowMs, firstMs)
  return Math.max(0, Math.ceil((fromMs - grid.times[0]!) / grid.stepMs))
}
