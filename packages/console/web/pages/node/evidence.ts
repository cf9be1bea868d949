import { type Hint, type MetricQuery, spanOfHint } from '@sonde/sdk/api'
import { formatSignal } from '../../state/signal.ts'
import type { UrlChange } from '../../state/time-window.ts'

/** Most signals of a hint opened together. */
const SIGNAL_LIMIT_COUNT = 8
/** Most queries for the sparklines of tiles. */
const QUERY_LIMIT_COUNT = 16
/** Time shown before a hint began and after it ended. Unit: milliseconds. */
const AROUND_MS = 60_000

/**
 * The evidence of a hint in the explorer: its signals from a minute before it began to a minute after it ended. For an
 * open hint, a live window that reaches back as far.
 */
export function evidenceOf(
  hint: Hint,
  { nowMs, toMs }: { readonly nowMs: number; readonly toMs?: number | undefined },
): UrlChange {
  const { evidence, sinceMs } = hint
  const sig = evidence.slice(0, SIGNAL_LIMIT_COUNT).map(formatSignal)
  const overMs = spanOfHint(hint).toMs ?? toMs
  const fromMs = Math.floor(sinceMs - AROUND_MS)
  if (overMs !== undefined) return { sig, rangeMs: undefined, fromMs, toMs: Math.ceil(overMs + AROUND_MS) }
  const rangeMs = Math.ceil((nowMs - fromMs) / AROUND_MS) * AROUND_MS
  return { sig, rangeMs, fromMs: undefined, toMs: undefined }
}

/** The query that shows each hint best, without duplicates. */
export function firedQueries(hints: readonly Hint[]): readonly MetricQuery[] {
  const found = new Map<string, MetricQuery>()
  for (const { evidence } of hints) {
    const [query] = evidence
    if (query && found.size < QUERY_LIMIT_COUNT) found.set(formatSignal(query), query)
  }
  return [...found.values()]
}
