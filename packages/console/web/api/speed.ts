import type { ListedSource, ListedType, MetricQuery } from '@sonde/sdk/api'

/** The finest step that the server streams. Unit: milliseconds. */
const FAST_STEP_MS = 100
/** Windows up to this length are shown as fast as their sources are read. Unit: milliseconds. */
export const FAST_WINDOW_MS = 60_000

/** How often each metric that the server has is read, in milliseconds; undefined if no source of it reads now. */
export type Intervals = ReadonlyMap<string, number | undefined>

/** How often each metric is read: by the quickest of the sources that read its type now. */
export function intervalsOf(types: readonly ListedType[], sources: readonly ListedSource[]): Intervals {
  const ofType = new Map<string, number>()
  for (const { state, intervalMs, types: names } of sources) {
    if (state !== 'reading') continue
    for (const name of names) ofType.set(name, Math.min(intervalMs, ofType.get(name) ?? Number.POSITIVE_INFINITY))
  }
  return new Map(types.flatMap(({ name, fields }) => fields.map(({ metric }) => [metric, ofType.get(name)] as const)))
}

/** Questions that are asked with one step. */
export interface SpeedGroup {
  readonly stepMs: number
  readonly queries: readonly MetricQuery[]
}

/**
 * Splits questions into those of the quickest sources and all others, so that nothing is asked more often than it is
 * read: a value that is held between two samples would look like samples.
 *
 * `steadyMs` is the step of the window, and of what is not known to be quicker.
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
 * The finest step at which every one of some questions has samples of its own; never coarser than that of the window.
 * Metrics that the server does not have are not asked for, and do not count.
 */
export function commonStep(queries: readonly MetricQuery[], intervals: Intervals, steadyMs: number): number {
  const known = queries.filter(({ metric }) => intervals.has(metric))
  if (known.length === 0) return steadyMs
  return Math.max(...known.map(({ metric }) => fineStep(intervals.get(metric), steadyMs)))
}

/** The step of a source: whole tenths of a second, so that charts of different sources lie on one grid. */
function fineStep(intervalMs: number | undefined, steadyMs: number): number {
  if (intervalMs === undefined) return steadyMs
  return Math.min(steadyMs, Math.max(FAST_STEP_MS, Math.ceil(intervalMs / FAST_STEP_MS) * FAST_STEP_MS))
}
