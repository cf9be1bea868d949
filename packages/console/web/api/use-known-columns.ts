import { useMemo } from 'react'
import type { FrameRange } from './frame.ts'
import { type Columns, useColumns } from './query-client.ts'
import { useTypes } from './resources.ts'
import type { MetricQuery } from './types.ts'

/** Answers to those of some questions that this server knows. */
export interface KnownColumns extends Columns {
  /** Whether what there is to know is here: answers, or that there is nothing to ask. */
  readonly isReady: boolean
}

/** Asks of some questions those whose metric this server has: one unknown metric would refuse them all. */
export function useKnownColumns(queries: readonly MetricQuery[], range: FrameRange, stepMs: number): KnownColumns {
  const { data } = useTypes()
  const known = useMemo(() => {
    const metrics = new Set(data?.types.flatMap(({ fields }) => fields.map(({ metric }) => metric)))
    return queries.filter(({ metric }) => metrics.has(metric))
  }, [data, queries])
  const answer = useColumns(known, range, stepMs)
  const isReady = answer.grid !== undefined || (data !== undefined && known.length === 0)
  return useMemo(() => ({ ...answer, isReady }), [answer, isReady])
}
