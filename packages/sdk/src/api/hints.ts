import type { QueryFunction, SeriesQuery } from '../query/form.ts'

// What `GET /api/v1/hints` answers, for the agent that answers and the page that asks.

/** How much a hint matters. */
export type HintSeverity = 'critical' | 'warning' | 'notice'

/**
 * How a hint ended: `ended` after it stood; `dismissed` before it was confirmed; `cut` where Sonde stopped while it was
 * open, so that nobody saw its end.
 */
export type HintOutcome = 'ended' | 'dismissed' | 'cut'

/** How the value of a hint stands to its limit. */
export type HintComparator = '>' | '>=' | '<' | '<='

/** A query as hints give it; what is left out has its default. */
export interface HintEvidence extends Pick<SeriesQuery, 'metric' | 'matchers'> {
  readonly function: Exclude<QueryFunction, 'quantile'>
}

/** What a rule sees on a device. Times in milliseconds since the Unix epoch. */
export interface Hint {
  /** Rule and device: two of the same are never open at once. */
  readonly id: string
  /** Number of its event, of no other hint of the node; as text, since it is above 2^53. */
  readonly event: string
  readonly rule: string
  readonly severity: HintSeverity
  /**
   * `forming` while it holds for less than `neededMs`, then `standing`; `lingering` once its rule holds no more and
   * only waits whether it does again.
   */
  readonly stage: 'forming' | 'standing' | 'lingering'
  /** Id of the device at fault; `node` or `sim-node` where it is about no single device. */
  readonly device: string
  readonly sinceMs: number
  /** When its rule held last. */
  readonly seenMs: number
  /**
   * When title, sentence and numbers were so: when the rule held last, of a hint that is over when it was worst.
   */
  readonly measuredMs: number
  /** Only of a hint that is over; the last sign of it where it was cut. */
  readonly endedMs?: number
  /** How it ended; there with `endedMs`. */
  readonly outcome?: HintOutcome
  readonly neededMs: number
  readonly title: string
  /** Names `value`, `limit` and what siblings have. */
  readonly sentence: string
  /** What the rule measured: it stands to `limit` as `comparator` says, always. */
  readonly value: number
  readonly comparator: HintComparator
  readonly limit: number
  /** Unit of `value` and `limit`. */
  readonly unit: string
  /** Queries that show it. */
  readonly evidence: readonly HintEvidence[]
  /** Devices that show the effect without being the origin. */
  readonly affected: readonly string[]
  /** Signals that the rule would have used and that are absent. */
  readonly lacks: readonly string[]
}

/** A span of time of which it is not known what rules saw. Times in milliseconds since the Unix epoch. */
export interface HintsUnknown {
  readonly fromMs: number
  readonly toMs: number
  /** Why, as a sentence. */
  readonly reason: string
}

/** What `GET /api/v1/hints` answers, and the event `hints` of the stream. */
export interface HintsAnswer {
  readonly nowMs: number
  /** How many rules watch. */
  readonly rules: number
  /** Names of those rules that have no signal of any device here now: nobody can say that they do not hold. */
  readonly blind: readonly string[]
  /** The span that the answer is about: the last hour up to now, or the window that was asked for. */
  readonly fromMs: number
  readonly toMs: number
  /** Hints that are open at `toMs`, worst first. Of a window that is over one may have ended since. */
  readonly hints: readonly Hint[]
  /** Those that ended within the span, the latest first. */
  readonly ended: readonly Hint[]
  /** Hints of the span for which the answer has no room, the earliest. */
  readonly leftOut: number
  /** Parts of the span of which nothing is known, in their order. Empty where all of it is known. */
  readonly unknown: readonly HintsUnknown[]
}
