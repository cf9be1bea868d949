import type { MetricQuery } from '@sonde/sdk/api'
import { useMemo } from 'react'
import type { PageState } from '../state/time-window.ts'
import { useSources, useTypes } from './resources.ts'
import { commonStep, FAST_WINDOW_MS, type Intervals, intervalsOf, splitBySpeed } from './speed.ts'
import { type KnownColumns, useKnownColumns } from './use-known-columns.ts'

const NOT_KNOWN: Intervals = new Map()

/** Answers over the window of the page, each at the speed of its source. */
export interface AnswersAtSpeed {
  /** The answer to a query. Steps of answers may differ. */
  readonly of: (query: MetricQuery) => KnownColumns
  readonly fast: KnownColumns
  readonly steady: KnownColumns
  readonly isReady: boolean
}

const NO_QUERIES: readonly MetricQuery[] = []

/**
 * The interval of every metric if the window is short enough; undefined while loading. A step in the address takes
 * precedence.
 */
function useIntervals({ range, url }: PageState): Intervals | undefined {
  const types = useTypes().data?.types
  const { data, error } = useSources()
  const sources = data?.sources
  const isWanted = range.kind === 'live' && range.windowMs <= FAST_WINDOW_MS && url.stepMs === undefined
  const isAwaited = isWanted && !(types && sources) && error === undefined
  return useMemo(() => {
    if (isAwaited) return undefined
    return isWanted && types && sources ? intervalsOf(types, sources) : NOT_KNOWN
  }, [isWanted, isAwaited, types, sources])
}

/** Sends queries over the window of the page. In a short window, fast sources are updated up to ten times a second. */
export function useColumnsAtSpeed(queries: readonly MetricQuery[], page: PageState): AnswersAtSpeed {
  const { range, stepMs } = page
  const intervals = useIntervals(page)
  const groups = useMemo(
    () => splitBySpeed(intervals ? queries : NO_QUERIES, intervals ?? NOT_KNOWN, stepMs),
    [queries, intervals, stepMs],
  )
  const fast = useKnownColumns(groups.fast.queries, range, groups.fast.stepMs)
  const steady = useKnownColumns(groups.steady.queries, range, groups.steady.stepMs)
  return useMemo(() => {
    const isFast = new Set(groups.fast.queries)
    return {
      fast,
      steady,
      // A query that becomes fast keeps its old drawing until the first fast samples arrive.
      of: (query) => (isFast.has(query) && (fast.result(query) || !steady.result(query)) ? fast : steady),
      isReady: intervals !== undefined && fast.isReady && steady.isReady,
    }
  }, [groups, intervals, fast, steady])
}

/** Sends compared queries with a common step: the step of the window, or finer if all sources are fast. */
export function useComparedColumns(queries: readonly MetricQuery[], page: PageState): KnownColumns {
  const intervals = useIntervals(page)
  const stepMs = commonStep(queries, intervals ?? NOT_KNOWN, page.stepMs)
  const answer = useKnownColumns(intervals ? queries : NO_QUERIES, page.range, stepMs)
  const isReady = intervals !== undefined && answer.isReady
  return useMemo(() => ({ ...answer, isReady }), [answer, isReady])
}
