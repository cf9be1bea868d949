import type { MetricQuery } from '@sonde/sdk/api'
import { useMemo, useRef } from 'react'
import { countText } from '../format/number.ts'
import type { FrameRange } from './frame.ts'
import { type QueryColumns, useColumns } from './query-client.ts'
import { useTypes } from './resources.ts'

/** Answers to those of some questions that this server knows. */
export interface KnownColumns extends QueryColumns {
  /** Whether what there is to know is here: every question is answered or refused, or there is nothing to ask. */
  readonly isReady: boolean
  /** What is waited for, in words. */
  readonly waitsFor: string
}

/** Asks of some questions those whose metric this server has: one unknown metric would refuse them all. */
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
  // A source that has just come makes more of the same questions known: what is shown stays while they are on the way.
  const isReady = isAnswered || (readyFor.current === asked && answeredCount > 0)
  const [missing] = isAnswered ? [] : known.filter((query) => !answer.isAnswered(query))
  const waitsFor =
    data === undefined
      ? 'the list of metrics'
      : `the samples of ${known.length - answeredCount} of ${countText(known.length, 'metric')}, such as ${missing?.metric}`
  return useMemo(() => ({ ...answer, isReady, waitsFor }), [answer, isReady, waitsFor])
}
