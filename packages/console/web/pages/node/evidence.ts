import type { Hint } from '../../api/hints.ts'
import type { MetricQuery } from '../../api/types.ts'
import { formatSignal } from '../../state/signal.ts'

/** Most signals of one hint that are opened together. */
const SIGNAL_LIMIT_COUNT = 8
/** Most questions that are asked for the sparklines of tiles. */
const QUERY_LIMIT_COUNT = 16

/** The evidence of a hint as signals of the explorer. */
export function evidenceSignals({ evidence }: Hint): readonly string[] {
  return evidence.slice(0, SIGNAL_LIMIT_COUNT).map(formatSignal)
}

/** The question that shows each hint best, each once. */
export function firedQueries(hints: readonly Hint[]): readonly MetricQuery[] {
  const found = new Map<string, MetricQuery>()
  for (const { evidence } of hints) {
    const [query] = evidence
    if (query && found.size < QUERY_LIMIT_COUNT) found.set(formatSignal(query), query)
  }
  return [...found.values()]
}
