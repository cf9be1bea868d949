import type { Labels } from '@sonde/sdk'
import type { QueryRequest, SeriesQuery } from '@sonde/sdk/internal'

/** Rows describe the last full second. A value is valid for 2.5 of its periods. Unit: milliseconds. */
const STEP_MS = 1000

/** A request for the latest value of each series. */
export function requestOfNow(nowMs: number, queries: readonly SeriesQuery[]): QueryRequest {
  const toMs = Math.floor(nowMs / STEP_MS) * STEP_MS
  return { fromMs: toMs - STEP_MS, toMs, stepMs: STEP_MS, queries }
}

/**
 * Whether a value belongs to the sample of a row, and not to an earlier sample: a history repeats each value for a
 * while, although the newest row may lack it. Times are undefined if a history reports none.
 */
export function isOfSample(valueMs: number | undefined, rowMs: number | undefined): boolean {
  return valueMs === undefined || rowMs === undefined || valueMs >= rowMs
}

/** The origin of a row. Rows of one agent have the same times; rows of simulated pods have their own. */
export function rowMaker({ app: _, service: _service, namespace: _namespace, pod: _pod, ...rest }: Labels): string {
  return JSON.stringify(Object.entries(rest).sort())
}

/** The agent that wrote a row of a service. Two jobs that scrape it give each row twice. */
export function agentKey({ job: _, ...labels }: Labels): string {
  return rowMaker(labels)
}
