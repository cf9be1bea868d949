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
  /** Only of a hint that is over. */
  readonly endedMs?: number
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
  /** Those that stood within the last hour and are over. */
  readonly ended: readonly Hint[]
}

/** Slow: changes come by the stream, at once. */
const hintsPoll = createPoll(() => getJson<HintsAnswer>('/api/v1/hints'), 10_000)

/** Takes hints from the stream. */
export function takeHints(hints: HintsAnswer): void {
  // Several streams may cross: what is older says nothing new.
  if (hints.nowMs < (hintsPoll.store.get().data?.nowMs ?? 0)) return
  hintsPoll.store.set({ data: hints, error: undefined, failures: 0, failedMs: 0, cameMs: Date.now() })
}

/** What rules see now, worst first: renewed by the stream, and every 10 s. */
export function useHints(): Resource<HintsAnswer> {
  return usePoll(hintsPoll)
}
