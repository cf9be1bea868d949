import type { IncidentAnswer } from '@sonde/sdk/api'
import { usePageState } from '../../state/time-window.ts'

/** Addresses of pages that show the window of an incident; while it is open, what is so now. */
export function useHrefThen({ incident, window }: IncidentAnswer): (path: string) => string {
  const page = usePageState()
  if (incident.state === 'open') return page.hrefTo
  const then = { rangeMs: undefined, fromMs: Math.floor(window.fromMs), toMs: Math.ceil(window.toMs) }
  return (path) => page.hrefTo(path, then)
}
