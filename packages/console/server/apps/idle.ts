import { type History, type SeriesQuery, turn } from '@sonde/sdk/internal'
import { IDLE_MINUTES } from './condition.ts'
import { podMetric } from './fields.ts'
import { sharedPodKey } from './shared-gpus.ts'

const STEP_MS = 60_000

/** Keys of the pods whose GPUs did nothing in ten minutes, with samples in the first and in the last minute. */
export async function idlePods(
  history: History,
  matchers: SeriesQuery['matchers'],
  nowMs: number,
): Promise<ReadonlySet<string>> {
  const toMs = Math.floor(nowMs / STEP_MS) * STEP_MS
  const query = { metric: podMetric('gpu-util'), function: 'avg', matchers, by: undefined, aggregate: 'sum' } as const
  const window = { fromMs: toMs - IDLE_MINUTES * STEP_MS, toMs, stepMs: STEP_MS }
  const { results } = await history.query({ ...window, queries: [query] })
  const idle = new Set<string>()
  for (const { series } of results) {
    for (const { labels, values } of series) {
      if (turn.isOver()) await turn.next()
      if (isIdle(values)) idle.add(sharedPodKey(labels))
    }
  }
  return idle
}

/** Whether the first and the last value are 0, and no other value is above; NaN is no value. */
export function isIdle(values: Float64Array): boolean {
  return values.length > 0 && values[0] === 0 && values[values.length - 1] === 0 && !values.some((value) => value > 0)
}
