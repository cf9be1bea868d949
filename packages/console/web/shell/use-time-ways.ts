import type { Incident } from '@sonde/sdk/api'
import { useLocation } from 'wouter'
import { incidentPath } from '../devices/incident-path.ts'
import type { OwnWindow } from '../state/own-window.ts'
import { DEFAULT_WINDOW_MS, type PageState } from '../state/time-window.ts'
import { windowOf } from './strip-place.ts'

/** Ways to another time. */
export interface TimeWays {
  readonly showWindow: (fromMs: number, toMs: number) => void
  readonly showIncident: (incident: Incident) => void
  readonly follow: () => void
}

/**
 * The ways to another time from a page. A page with a window of its own cannot show another: the overview shows it,
 * and the page of another incident its incident.
 */
export function useTimeWays(own: OwnWindow | undefined, page: PageState, nowMs: number): TimeWays {
  const [, navigate] = useLocation()
  const { range } = page
  const followedMs = range.kind === 'live' ? range.windowMs : DEFAULT_WINDOW_MS
  const none = { rangeMs: undefined, fromMs: undefined, toMs: undefined }
  if (own === undefined)
    return {
      showWindow: page.zoom,
      showIncident: (incident) => {
        const { fromMs, toMs } = windowOf(incident, nowMs)
        page.zoom(fromMs, toMs)
      },
      follow: () => page.follow(followedMs),
    }
  const overview = (fromMs: number, toMs: number): string =>
    page.hrefTo('/', { ...none, fromMs: Math.round(fromMs), toMs: Math.round(toMs) })
  return {
    showWindow: (fromMs, toMs) => navigate(overview(fromMs, toMs)),
    showIncident: ({ id }) => navigate(page.hrefTo(incidentPath(id), none)),
    follow: () => navigate(page.hrefTo('/', { ...none, rangeMs: followedMs })),
  }
}
