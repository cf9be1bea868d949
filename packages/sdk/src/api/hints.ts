import type { QueryFunction, SeriesQuery } from '../query/form.ts'

// The answer of `GET /api/v1/hints`, for the agent and the page.

/** How much a hint matters. */
export type HintSeverity = 'critical' | 'warning' | 'notice'

/**
 * How a hint ended: `ended` after it was confirmed; `dismissed` before; `cut` if Sonde stopped while it was open, so
 * that its end is unknown.
 */
export type HintOutcome = 'ended' | 'dismissed' | 'cut'

/** How the value of a hint stands to its limit. */
export type HintComparator = '>' | '>=' | '<' | '<='

/** A query of a hint; missing members have their defaults. */
export interface HintEvidence extends Pick<SeriesQuery, 'metric' | 'matchers'> {
  readonly function: Exclude<QueryFunction, 'quantile'>
}

/** The finding of a rule on a device. Times in milliseconds since the Unix epoch. */
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
  /** Id of the device at fault; `node` or `sim-node` if it is about no single device. */
  readonly device: string
  readonly sinceMs: number
  /** When its rule held last, or held last within the window that was asked for. */
  readonly seenMs: number
  /**
   * When title, sentence and numbers were so: when the rule held last; of a hint that is over, when it was worst.
   */
  readonly measuredMs: number
  /** When its rule was last true; present after the end of the hint. May be after the requested window. */
  readonly endedMs?: number
  /** How it ended; there with `endedMs`. */
  readonly outcome?: HintOutcome
  readonly neededMs: number
  readonly title: string
  /** A sentence with `value`, `limit` and the values of siblings. */
  readonly sentence: string
  /** The measure of the rule. `value comparator limit` is always true. */
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

/** A time span without known hints. Times in milliseconds since the Unix epoch. */
export interface HintsUnknown {
  readonly fromMs: number
  readonly toMs: number
  /** Why, as a sentence. */
  readonly reason: string
}

/** What `GET /api/v1/hints` answers, and the event `hints` of the stream. The page makes one of past incidents, too. */
export interface HintsAnswer {
  readonly nowMs: number
  /** How many rules watch. */
  readonly rules: number
  /** Names of rules without any signal on this node: whether they are true is unknown. */
  readonly blind: readonly string[]
  /** The time span of the answer: the last hour, or the requested window. */
  readonly fromMs: number
  readonly toMs: number
  /** Hints that hold at `toMs`, or are open now; worst first. Of a window that is over one may have ended since. */
  readonly hints: readonly Hint[]
  /** Those that ended within the span, the latest first. */
  readonly ended: readonly Hint[]
  /** Unknown parts of the time span, in order. Empty if all is known. */
  readonly unknown: readonly HintsUnknown[]
}

/** When a hint held. Times in milliseconds since the Unix epoch. */
export interface HintSpan {
  readonly fromMs: number
  /** When it ended; left out where it holds still. */
  readonly toMs?: number
}

/** A span of time that hints are looked at in: the last hour, or a window. */
export type HintWindow = HintSpan & { readonly toMs: number }

/**
 * The time span of a hint, as known at a time. This defines *ended* everywhere: a hint ended when its rule was last
 * true. It stays open for a while in case its rule becomes true again; that wait is no part of its time span.
 */
export function spanOfHint({ sinceMs, seenMs, endedMs, stage }: Hint, atMs = Number.POSITIVE_INFINITY): HintSpan {
  const toMs = endedMs ?? (stage === 'lingering' ? seenMs : Number.POSITIVE_INFINITY)
  return toMs < atMs ? { fromMs: sinceMs, toMs } : { fromMs: sinceMs }
}

/** How long a hint held inside a window; negative where it did not. Unit: milliseconds. */
export function heldWithinMs(hint: Hint, { fromMs, toMs }: HintWindow): number {
  const span = spanOfHint(hint, toMs)
  return (span.toMs ?? toMs) - Math.max(span.fromMs, fromMs)
}

const RANKS: Readonly<Record<HintSeverity, number>> = { critical: 0, warning: 1, notice: 2 }

/** Whether a hint was confirmed: a forming hint counts less than a standing hint. */
function isSure({ stage, outcome }: Hint): boolean {
  return stage !== 'forming' && outcome !== 'dismissed'
}

/** The order of open hints: true hints first, then by severity, confirmed hints, and age. */
export function byWeightNow(a: Hint, b: Hint): number {
  const isOver = (hint: Hint) => Number(spanOfHint(hint).toMs !== undefined)
  return isOver(a) - isOver(b) || bySeverity(a, b) || a.sinceMs - b.sinceMs
}

/**
 * The order of hints of a window: by severity, confirmed hints, and the length of their time in the window. Hints that
 * did not hold long enough to be confirmed come last.
 */
export function byWeightIn(window: HintWindow): (a: Hint, b: Hint) => number {
  const wasDismissed = ({ outcome }: Hint) => Number(outcome === 'dismissed')
  return (a, b) =>
    wasDismissed(a) - wasDismissed(b) || bySeverity(a, b) || heldWithinMs(b, window) - heldWithinMs(a, window)
}

function bySeverity(a: Hint, b: Hint): number {
  return RANKS[a.severity] - RANKS[b.severity] || Number(isSure(b)) - Number(isSure(a))
}
