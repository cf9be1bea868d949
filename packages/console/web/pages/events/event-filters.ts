import type { EventsRequest } from '../../api/events.ts'
import type { FrameRange } from '../../api/frame.ts'
import type { UrlState } from '../../state/url-state.ts'

/** Named windows of the list. */
export const WITHIN_CHOICES: readonly { readonly label: string; readonly withinMs: number }[] = [
  { label: 'Last hour', withinMs: 3_600_000 },
  { label: 'Last 24 h', withinMs: 86_400_000 },
  { label: 'Last 7 days', withinMs: 7 * 86_400_000 },
]

/** A live list is requested again once per this fraction of its window. */
const STEPS = 60

/** Whether the address filters the events. */
export function isFiltered({ rule, device, state, withinMs, fromMs }: UrlState): boolean {
  return [rule, device, state, withinMs, fromMs].some((part) => part !== undefined)
}

/** The request of the list for an address. A live window moves in steps, so that an answer stays valid for a while. */
export function eventsRequest(url: UrlState, nowMs: number): EventsRequest {
  const { rule, device, state, withinMs, fromMs, toMs } = url
  if (fromMs !== undefined) return { rule, device, state, fromMs, toMs }
  if (withinMs === undefined) return { rule, device, state }
  const stepMs = withinMs / STEPS
  return { rule, device, state, fromMs: Math.floor((nowMs - withinMs) / stepMs) * stepMs }
}

/** The window filter of the list, used for hints too; undefined without such a filter. */
export function windowOf(url: UrlState, nowMs: number): FrameRange | undefined {
  const { fromMs, toMs } = eventsRequest(url, nowMs)
  if (fromMs === undefined) return undefined
  const stepMs = (url.withinMs ?? 0) / STEPS
  return { kind: 'fixed', fromMs, toMs: toMs ?? fromMs + (url.withinMs ?? 0) + stepMs }
}
