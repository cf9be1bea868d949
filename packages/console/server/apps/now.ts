import type { Labels } from '@sonde/sdk'
import type { QueryRequest, SeriesQuery } from '@sonde/sdk/internal'

/** Rows are as they were at the last full second: a value holds for 2.5 of its periods. Unit: milliseconds. */
const STEP_MS = 1000

/** A request for the latest value of each series. */
export function requestOfNow(nowMs: number, queries: readonly SeriesQuery[]): QueryRequest {
  const toMs = Math.floor(nowMs / STEP_MS) * STEP_MS
  return { fromMs: toMs - STEP_MS, toMs, stepMs: STEP_MS, queries }
}

/**
 * Whether a value is of the sample that a row was made of, and not of an earlier sample: a history holds each value for
 * a while, and a value that the newest row lacks is not known any more. Times are undefined if a history tells none.
 */
export function isOfSample(valueMs: number | undefined, rowMs: number | undefined): boolean {
  return valueMs === undefined || rowMs === undefined || valueMs >= rowMs
}

/** The maker of a row: rows of one agent have the same times, and rows of simulated pods have their own. */
export function originOf({ app: _, service: _service, namespace: _namespace, pod: _pod, ...rest }: Labels): string {
  return JSON.stringify(Object.entries(rest).sort())
}
