import { useMemo } from 'react'
import { useTypes } from './resources.ts'
import type { MetricQuery } from './types.ts'

/** Of some questions, those whose metric this server has: one unknown metric would refuse them all. Empty before the catalogue is known. */
export function useKnownQueries(queries: readonly MetricQuery[]): readonly MetricQuery[] {
  const { data } = useTypes()
  return useMemo(() => {
    const known = new Set(data?.types.flatMap(({ fields }) => fields.map(({ metric }) => metric)))
    return queries.filter(({ metric }) => known.has(metric))
  }, [data, queries])
}
