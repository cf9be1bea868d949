import { useMemo } from 'react'
import { RECENT, RECENT_STEP_MS } from '../state/time-window.ts'
import { useColumns } from './query-client.ts'
import type { MetricQuery } from './types.ts'

/** A series that every node has: the stream carries news beside samples, but not without any. */
const CHEAPEST: MetricQuery = { metric: 'sonde_process_resident_memory_bytes', function: 'last' }

/** Keeps the stream open on a page that asks for no samples of its own, so that news comes at once. */
export function useNews(): void {
  const queries = useMemo(() => [CHEAPEST], [])
  useColumns(queries, RECENT, RECENT_STEP_MS)
}
