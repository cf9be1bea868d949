import type { Hint, HintsAnswer } from '@sonde/sdk/internal'
import { getJson } from './client.ts'
import { createPoll, type Resource, usePoll } from './resources.ts'

export type { Hint, HintsAnswer }

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
