import type { QueryFunction, SeriesQuery } from '../query/form.ts'

// What `GET /api/v1/hints` answers, for the agent that answers and the page that asks.

/** How much a hint matters. */
export type HintSeverity = 'critical' | 'warning' | 'notice'

/** A query as hints give it; what is left out has its default. */
export interface HintEvidence extends Pick<SeriesQuery, 'metric' | 'matchers'> {
  readonly function: Exclude<QueryFunction, 'quantile'>
}

/** What a rule sees on a device. Times in milliseconds since the Unix epoch. */
export interface Hint {
  /** Rule and device: two of the same are never open at once. */
  readonly id: string
  readonly rule: string
  readonly severity: HintSeverity
  /** `forming` while it holds for less than `neededMs`, then `standing`. */
  readonly stage: 'forming' | 'standing'
  /** Id of the device at fault; `node` or `sim-node` where it is about no single device. */
  readonly device: string
  readonly sinceMs: number
  /** Only of a hint that is over. */
  readonly endedMs?: number
  readonly neededMs: number
  readonly title: string
  readonly sentence: string
  readonly value: number
  readonly limit: number
  readonly unit: string
  /** Queries that show it. */
  readonly evidence: readonly HintEvidence[]
  /** Devices that show the effect without being the origin. */
  readonly affected: readonly string[]
  /** Signals that the rule would have used and that are absent. */
  readonly lacks: readonly string[]
}

/** What `GET /api/v1/hints` answers, and the event `hints` of the stream. */
export interface HintsAnswer {
  readonly nowMs: number
  /** How many rules watch. */
  readonly rules: number
  /** Open hints, worst first. */
  readonly hints: readonly Hint[]
  /** Those that ended in the last hour, the latest first. */
  readonly ended: readonly Hint[]
}
