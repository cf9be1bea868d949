import type { HintsUnknown } from '@sonde/sdk/api'
import { type History, parseQueryRequest } from '@sonde/sdk/internal'

/** A metric that is present whenever Sonde runs. */
const ALIVE = 'sonde_process_uptime_seconds'
const POINTS_MAX = 1000
const STEP_LEAST_MS = 10_000
/** Steps that may have no sample: the step in which Sonde started, and a late step. */
const MISSED_STEPS = 2
const NOT_RUN = 'Sonde did not run.'
const NOT_KEPT = 'Sonde did not run yet, or its history of that time was removed.'

/** Parts of a window in which Sonde did not run, according to the history; in their order. */
export async function unwatchedSpans(history: History, fromMs: number, toMs: number): Promise<HintsUnknown[]> {
  const stepMs = Math.max(STEP_LEAST_MS, Math.ceil((toMs - fromMs) / POINTS_MAX / 1000) * 1000)
  const queries = [{ metric: ALIVE, function: 'last' }]
  // A short window may have no sample although Sonde runs. Samples before the window then show that it runs.
  const askedFromMs = Math.min(fromMs, Math.max(0, toMs - (MISSED_STEPS + 1) * stepMs))
  const answer = await history.query(parseQueryRequest({ fromMs: askedFromMs, toMs, stepMs, queries }))
  const columns = answer.results[0]?.series ?? []
  const upTimes = [...answer.times].flatMap((timeMs, i) => {
    const uptimes = columns.map(({ values }) => values[i] as number).filter((value) => !Number.isNaN(value))
    return uptimes.length === 0 ? [] : [{ timeMs, startedMs: timeMs - Math.min(...uptimes) * 1000 }]
  })
  const gaps = gapsBetween(upTimes, { fromMs: askedFromMs, toMs, stepMs })
  return gaps.map((gap) => ({ ...gap, fromMs: Math.max(gap.fromMs, fromMs) })).filter((gap) => gap.toMs > gap.fromMs)
}

/** Times without Sonde, with the reason where it is known how Sonde ended. */
export function explained(spans: readonly HintsUnknown[], interruptions: readonly HintsUnknown[]): HintsUnknown[] {
  const isExplained = (span: HintsUnknown) =>
    span.reason === NOT_RUN && interruptions.some(({ fromMs, toMs }) => fromMs < span.toMs && toMs > span.fromMs)
  return [...spans.filter((span) => !isExplained(span)), ...interruptions]
}

interface UpTime {
  readonly timeMs: number
  /** Start time of the process that was running. */
  readonly startedMs: number
}

/**
 * The gaps between times at which a process was running. There is no gap if the process started before the earlier
 * time.
 */
function gapsBetween(
  upTimes: readonly UpTime[],
  { fromMs, toMs, stepMs }: { readonly fromMs: number; readonly toMs: number; readonly stepMs: number },
): HintsUnknown[] {
  const allowedMs = MISSED_STEPS * stepMs
  const gaps: HintsUnknown[] = []
  let knownToMs = fromMs
  const add = (untilMs: number) => {
    if (untilMs - knownToMs <= allowedMs) return
    const reason = knownToMs === fromMs ? NOT_KEPT : NOT_RUN
    gaps.push({ fromMs: Math.round(knownToMs), toMs: Math.round(untilMs), reason })
  }
  for (const { timeMs, startedMs } of upTimes) {
    add(Math.min(startedMs, timeMs))
    knownToMs = timeMs
  }
  add(toMs)
  return gaps
}
