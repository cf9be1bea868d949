import { createStore, useStore } from '../state/store.ts'
import { getJson } from './client.ts'
import { createPoll, type Resource, usePoll } from './resources.ts'
import type { MetricQuery } from './types.ts'

/** How much a hint matters. */
export type HintSeverity = 'critical' | 'warning' | 'notice'

/** What a rule sees on a device. */
export interface Hint {
  readonly id: string
  readonly rule: string
  readonly severity: HintSeverity
  /** `forming` while it holds for less than `neededMs`, then `standing`. */
  readonly stage: 'forming' | 'standing'
  /** Id of the device at fault; `node` or `sim-node` where it is about no single one. */
  readonly device: string
  readonly sinceMs: number
  readonly neededMs: number
  readonly title: string
  readonly sentence: string
  readonly value: number
  readonly limit: number
  readonly unit: string
  /** Queries that show it. */
  readonly evidence: readonly MetricQuery[]
  /** Devices that show the effect without being the origin. */
  readonly affected: readonly string[]
  /** Signals that the rule would have used and that are absent. */
  readonly lacks: readonly string[]
}

/** Answer of `/api/v1/hints`, worst first, and data of the stream's `hints` event. */
export interface HintsAnswer {
  readonly nowMs: number
  /** Rules that are evaluated. */
  readonly rules: number
  readonly hints: readonly Hint[]
}

/** A hint that stood while this page was open, and holds no more. */
export interface ClosedHint {
  readonly hint: Hint
  readonly closedMs: number
}

const CLOSED_KEPT_MS = 3_600_000
const CLOSED_LIMIT_COUNT = 20

const closed = createStore<readonly ClosedHint[]>([])
let before: HintsAnswer | undefined

/** Those that stood in one answer and are not in the next, newest first, with those that closed earlier. */
export function closedHints(
  earlier: readonly ClosedHint[],
  last: HintsAnswer | undefined,
  next: HintsAnswer,
): readonly ClosedHint[] {
  const held = new Set(next.hints.map(({ id }) => id))
  const fresh = (last?.hints ?? [])
    .filter(({ id, stage }) => stage === 'standing' && !held.has(id))
    .map((hint) => ({ hint, closedMs: next.nowMs }))
  const kept = earlier.filter(({ hint, closedMs }) => !held.has(hint.id) && closedMs > next.nowMs - CLOSED_KEPT_MS)
  if (fresh.length === 0 && kept.length === earlier.length) return earlier
  return [...fresh, ...kept].slice(0, CLOSED_LIMIT_COUNT)
}

function learn(next: HintsAnswer): void {
  // The poll and several streams may cross: what is older says nothing new.
  if (before && next.nowMs < before.nowMs) return
  closed.set(closedHints(closed.get(), before, next))
  before = next
}

/** Slow: changes come by the stream, at once. */
const hintsPoll = createPoll(() => getJson<HintsAnswer>('/api/v1/hints'), 10_000, learn)

/** Takes hints from the stream. */
export function takeHints(hints: HintsAnswer): void {
  if (before && hints.nowMs < before.nowMs) return
  learn(hints)
  hintsPoll.store.set({ data: hints, error: undefined, failures: 0, failedMs: 0, cameMs: Date.now() })
}

/** What rules see now, worst first: renewed by the stream, and every 10 s. */
export function useHints(): Resource<HintsAnswer> {
  return usePoll(hintsPoll)
}

/** Hints that stood and closed within the last hour, as far as this page was open to see it; newest first. */
export function useClosedHints(): readonly ClosedHint[] {
  return useStore(closed)
}
