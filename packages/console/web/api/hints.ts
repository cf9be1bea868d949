import { type HintsAnswer, type Incident, routeAddress } from '@sonde/sdk/api'
import { getAnswer } from './client.ts'
import type { FrameRange } from './frame.ts'
import { hintsIn } from './hints-in.ts'
import { incidentsPoll, OPEN_INCIDENTS, retryIncidents } from './incidents.ts'
import { createPoll, type Poll, type ReadablePoll, type Resource, usePoll } from './resources.ts'

const EVERY_MS = 10_000
/** Most cached past windows. Unused windows are dropped first. */
const WINDOW_LIMIT_COUNT = 16

/** Most incidents of a window that the page reads. The server gives no more at once. */
const LISTED_MAX_COUNT = 1000

/** Polling is slow, because the stream reports changes at once. */
const hintsPoll = createPoll(() => getAnswer('/api/v1/hints'), EVERY_MS)
const windowPolls = new Map<string, Poll<WindowAnswer>>()

/** The hints of a past window, and the incidents that they belong to. */
interface WindowAnswer extends HintsAnswer {
  readonly incidents: readonly Incident[]
}

const NO_INCIDENTS: readonly Incident[] = []

/** Takes hints from the stream. */
export function takeHints(hints: HintsAnswer): void {
  // Several streams may cross, so older states are ignored.
  const before = hintsPoll.store.get().data
  if (hints.nowMs < (before?.nowMs ?? 0)) return
  hintsPoll.store.set({ data: hints, error: undefined, failures: 0, failedMs: 0, cameMs: Date.now() })
  if (before !== undefined && namesOf(before) !== namesOf(hints)) retryIncidents()
}

/** The open hints. Incidents change with them. */
function namesOf({ hints }: HintsAnswer): string {
  return hints.map(({ event }) => event).join()
}

/** The hints of now or of a past window, polled every 10 s. */
export function useHintsOf(range: FrameRange): Resource<HintsAnswer> {
  const poll: ReadablePoll<HintsAnswer> = range.kind === 'live' ? hintsPoll : windowPollFor(range.fromMs, range.toMs)
  return usePoll(poll)
}

/** The open incidents, or all incidents of a past window that have hints; empty before the first answer. */
export function useIncidentsOf(range: FrameRange): readonly Incident[] {
  const poll: ReadablePoll<{ readonly incidents: readonly Incident[] }> =
    range.kind === 'live' ? incidentsPoll(OPEN_INCIDENTS) : windowPollFor(range.fromMs, range.toMs)
  return usePoll(poll).data?.incidents ?? NO_INCIDENTS
}

function windowPollFor(fromMs: number, toMs: number): Poll<WindowAnswer> {
  const window = { from: Math.floor(fromMs), to: Math.ceil(toMs) }
  const parameters = { ...window, kind: 'hint', limit: LISTED_MAX_COUNT }
  const address = routeAddress('/api/v1/incidents', parameters)
  const known = windowPolls.get(address)
  if (known) return known
  if (windowPolls.size >= WINDOW_LIMIT_COUNT) {
    for (const [key, poll] of windowPolls) if (poll.users === 0) windowPolls.delete(key)
  }
  const load = async (): Promise<WindowAnswer> => {
    const answer = await getAnswer('/api/v1/incidents', parameters)
    return { ...hintsIn(answer), incidents: answer.incidents }
  }
  const poll = createPoll(load, EVERY_MS)
  windowPolls.set(address, poll)
  return poll
}
