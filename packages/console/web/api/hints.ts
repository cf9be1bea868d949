import { type HintsAnswer, routeAddress } from '@sonde/sdk/api'
import { getAnswer } from './client.ts'
import type { FrameRange } from './frame.ts'
import { hintsIn } from './hints-in.ts'
import { createPoll, type Poll, type Resource, usePoll } from './resources.ts'

const EVERY_MS = 10_000
/** Most cached past windows. Unused windows are dropped first. */
const WINDOW_LIMIT_COUNT = 16

/** Most incidents of a window that the page reads. The server gives no more at once. */
const LISTED_MAX_COUNT = 1000

/** Polling is slow, because the stream reports changes at once. */
const hintsPoll = createPoll(() => getAnswer('/api/v1/hints'), EVERY_MS)
const windowPolls = new Map<string, Poll<HintsAnswer>>()

/** Takes hints from the stream. */
export function takeHints(hints: HintsAnswer): void {
  // Several streams may cross, so older states are ignored.
  if (hints.nowMs < (hintsPoll.store.get().data?.nowMs ?? 0)) return
  hintsPoll.store.set({ data: hints, error: undefined, failures: 0, failedMs: 0, cameMs: Date.now() })
}

/** The hints of now or of a past window, polled every 10 s. */
export function useHintsOf(range: FrameRange): Resource<HintsAnswer> {
  return usePoll(range.kind === 'live' ? hintsPoll : windowPollFor(range.fromMs, range.toMs))
}

function windowPollFor(fromMs: number, toMs: number): Poll<HintsAnswer> {
  const window = { from: Math.floor(fromMs), to: Math.ceil(toMs) }
  const parameters = { ...window, kind: 'hint', limit: LISTED_MAX_COUNT }
  const address = routeAddress('/api/v1/incidents', parameters)
  const known = windowPolls.get(address)
  if (known) return known
  if (windowPolls.size >= WINDOW_LIMIT_COUNT) {
    for (const [key, poll] of windowPolls) if (poll.users === 0) windowPolls.delete(key)
  }
  const poll = createPoll(async () => hintsIn(await getAnswer('/api/v1/incidents', parameters)), EVERY_MS)
  windowPolls.set(address, poll)
  return poll
}
