import type { MetricQuery } from '@sonde/sdk/api'
import { useMemo, useRef } from 'react'
import { countText } from '../format/number.ts'
import type { FrameRange } from './frame.ts'
import { type QueryColumns, useColumns } from './query-client.ts'
import { useTypes } from './resources.ts'

/** Answers to the queries that this server knows. */
export interface KnownColumns extends QueryColumns {
  /** Whether every query is answered or refused, or there is none. */
  readonly isReady: boolean
  /** What the page waits for, in words. */
  readonly waitsFor: string
}

/** Sends only queries whose metric this server has, because one unknown metric makes it refuse all. */
export function useKnownColumns(queries: readonly MetricQuery[], range: FrameRange, stepMs: number): KnownColumns {
  const { data } = useTypes()
  const known = useMemo(() => {
    const metrics = new Set(data?.types.flatMap(({ fields }) => fields.map(({ metric }) => metric)))
    return queries.filter(({ metric }) => metrics.has(metric))
  }, [data, queries])
  const answer = useColumns(known, range, stepMs)
  const answeredCount = useMemo(() => known.filter(answer.isAnswered).length, [known, answer])
  const asked = useMemo(() => JSON.stringify(queries), [queries])
  const readyFor = useRef<string>(undefined)
  const isAnswered = data !== undefined && answeredCount === known.length
  if (isAnswered) readyFor.current = asked
  // A new source makes more of the same queries known. The shown data stay while those load.
  const isReady = isAnswered || (readyFor.current === asked && answeredCount > 0)
  const [missing] = isAnswered ? [] : known.filter((query) => !answer.isAnswered(query))
  const waitsFor =
    data === undefined
      ? 'the list of metrics'
      : `the samples of ${known.length - answeredCount} of ${countText(known.length, 'metric')}, such as ${missing?.metric}`
  return useMemo(() => ({ ...answer, isReady, waitsFor }), [answer, isReady, waitsFor])
}
