import type { MetricQuery } from '@sonde/sdk/api'
import type { QueryColumns } from '../../api/query-client.ts'
import { stepFor } from '../../state/time-window.ts'

/** Points that a window has at least, so that a step of a training that hangs leaves a chart. */
const POINTS_LEAST = 30
const POINTS_MAX = 1_500

/**
 * The step of a chart of step times: a training reports once for each of its steps, so a finer chart would show gaps
 * between them.
 */
export function trainingStepMs(
  { grid, columns }: Pick<QueryColumns, 'grid' | 'columns'>,
  stepTime: MetricQuery,
  stepMs: number,
): number {
  if (!grid) return stepMs
  const longestS = columns(stepTime)
    .flatMap((column) => [...grid.slice(column)])
    .reduce((longest, one) => (one > longest ? one : longest), 0)
  const spanMs = grid.length * grid.stepMs
  const wantedMs = Math.min(longestS * 1000, spanMs / POINTS_LEAST)
  return Math.max(stepMs, stepFor(wantedMs * POINTS_MAX))
}
