import type { HintSeverity } from '@sonde/sdk/api'
import type { IncidentsRequest } from '../../api/incidents.ts'
import type { UrlState } from '../../state/url-state.ts'

/** Named windows of the list. */
export const WITHIN_CHOICES: readonly { readonly label: string; readonly withinMs: number }[] = [
  { label: 'Last hour', withinMs: 3_600_000 },
  { label: 'Last 24 h', withinMs: 86_400_000 },
  { label: 'Last 7 days', withinMs: 7 * 86_400_000 },
]

const KINDS = ['hint', 'event'] as const

/** A live list is requested again once per this fraction of its window. */
const STEPS = 60

/** The severities, the worst first. */
export const HINT_SEVERITIES: readonly HintSeverity[] = ['critical', 'warning', 'notice']

/** Whether the address filters the incidents. */
export function isFiltered({ rule, device, state, withinMs, fromMs, severity, kind, q }: UrlState): boolean {
  return [rule, device, state, withinMs, fromMs, severity, kind, q || undefined].some((part) => part !== undefined)
}

/** Removes every filter from the address. */
export const NO_FILTER = {
  ...{ rule: undefined, device: undefined, state: undefined, withinMs: undefined, fromMs: undefined },
  ...{ toMs: undefined, severity: undefined, kind: undefined, q: undefined },
} as const

/** The request of the list for an address. A live window moves in steps, so that an answer stays valid for a while. */
export function incidentsRequest(url: UrlState, nowMs: number): IncidentsRequest {
  const { rule, device, state, severity, withinMs, fromMs, toMs, q = '' } = url
  const kind = KINDS.find((one) => one === url.kind)
  const same = { rule, device, state, severity, kind, ...(q.trim() === '' ? {} : { find: q.trim() }) }
  if (fromMs !== undefined) return { ...same, fromMs: Math.floor(fromMs), toMs: toMs && Math.ceil(toMs) }
  if (withinMs === undefined) return same
  const stepMs = withinMs / STEPS
  return { ...same, fromMs: Math.floor((nowMs - withinMs) / stepMs) * stepMs }
}
