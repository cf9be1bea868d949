import type { ListedSource, ListedType, MetricQuery } from '@sonde/sdk/api'

/** The finest step that the server streams. Unit: milliseconds. */
const FAST_STEP_MS = 100
/** Longest window that is updated as fast as its sources are read. Unit: milliseconds. */
export const FAST_WINDOW_MS = 60_000

/** Interval of each known metric; undefined if no source reads it now. Unit: milliseconds. */
export type Intervals = ReadonlyMap<string, number | undefined>

/** The interval of each metric, by the fastest active source of its type. */
export function intervalsOf(types: readonly ListedType[], sources: readonly ListedSource[]): Intervals {
  const ofType = new Map<string, number>()
  for (const { state, intervalMs, types: names } of sources) {
    if (state !== 'reading') continue
    for (const name of names) ofType.set(name, Math.min(intervalMs, ofType.get(name) ?? Number.POSITIVE_INFINITY))
  }
  return new Map(types.flatMap(({ name, fields }) => fields.map(({ metric }) => [metric, ofType.get(name)] as const)))
}

/** Queries that share a step. */
export interface SpeedGroup {
  readonly stepMs: number
  readonly queries: readonly MetricQuery[]
}

/**
 * Splits queries into fast and other sources, so that nothing is queried more often than it is read. Otherwise a held
 * value would look like several samples.
 *
 * `steadyMs` is the step of the window and of all sources not known to be faster.
 */
export function splitBySpeed(
  queries: readonly MetricQuery[],
  intervals: Intervals,
  steadyMs: number,
): { readonly fast: SpeedGroup; readonly steady: SpeedGroup } {
  const stepOf = ({ metric }: MetricQuery): number => fineStep(intervals.get(metric), steadyMs)
  const fastMs = Math.min(steadyMs, ...queries.map(stepOf))
  const isFast = (query: MetricQuery): boolean => fastMs < steadyMs && stepOf(query) === fastMs
  return {
    fast: { stepMs: fastMs, queries: queries.filter(isFast) },
    steady: { stepMs: steadyMs, queries: queries.filter((query) => !isFast(query)) },
  }
}

/**
 * The finest step at which every query has separate samples, never coarser than the step of the window. Metrics unknown
 * to the server do not count.
 */
export function commonStep(queries: readonly MetricQuery[], intervals: Intervals, steadyMs: number): number {
  const known = queries.filter(({ metric }) => intervals.has(metric))
  if (known.length === 0) return steadyMs
  return Math.max(...known.map(({ metric }) => fineStep(intervals.get(metric), steadyMs)))
}

/** The step of a source in whole tenths of a second, so that charts of different sources share a grid. */
function fineStep(intervalMs: number | undefined, steadyMs: number): number {
  if (intervalMs === undefined) return steadyMs
  return Math.min(steadyMs, Math.max(FAST_STEP_MS, Math.ceil(intervalMs / FAST_STEP_MS) * FAST_STEP_MS))
}
