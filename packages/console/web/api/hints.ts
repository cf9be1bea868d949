import type { Hint, HintsAnswer, HintsUnknown } from '@sonde/sdk/internal'
import { getJson } from './client.ts'
import type { FrameRange } from './frame.ts'
import { createPoll, type Poll, type Resource, usePoll } from './resources.ts'

export { byWeightIn, type HintWindow, spanOfHint } from '@sonde/sdk/api'
export type { Hint, HintsAnswer, HintsUnknown }

const EVERY_MS = 10_000
/** Most windows of the past whose hints are kept; unused ones go first. */
const WINDOW_LIMIT_COUNT = 16

/** Slow: changes come by the stream, at once. */
const hintsPoll = createPoll(() => getJson<HintsAnswer>('/api/v1/hints'), EVERY_MS)
const windowPolls = new Map<string, Poll<HintsAnswer>>()

/** Takes hints from the stream. */
export function takeHints(hints: HintsAnswer): void {
  // Several streams may cross: what is older says nothing new.
  if (hints.nowMs < (hintsPoll.store.get().data?.nowMs ?? 0)) return
  hintsPoll.store.set({ data: hints, error: undefined, failures: 0, failedMs: 0, cameMs: Date.now() })
}

/** What rules see now, or saw in a window that is over; both renewed every 10 s. */
export function useHintsOf(range: FrameRange): Resource<HintsAnswer> {
  return usePoll(range.kind === 'live' ? hintsPoll : windowPollFor(range.fromMs, range.toMs))
}

function windowPollFor(fromMs: number, toMs: number): Poll<HintsAnswer> {
  const window = `from=${Math.floor(fromMs)}&to=${Math.ceil(toMs)}`
  const known = windowPolls.get(window)
  if (known) return known
  if (windowPolls.size >= WINDOW_LIMIT_COUNT) {
    for (const [key, poll] of windowPolls) if (poll.users === 0) windowPolls.delete(key)
  }
  const poll = createPoll(() => getJson<HintsAnswer>(`/api/v1/hints?${window}`), EVERY_MS)
  windowPolls.set(window, poll)
  return poll
}
