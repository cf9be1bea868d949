import { useEffect } from 'react'
import { isConsole, isUnanswerable } from '../state/node-scope.ts'
import { followStream } from './follow-stream.ts'
import { retryIncidents } from './incidents.ts'

const ADDRESS = '/api/v1/incidents/stream'
/** Least time between requests for the shown lists and for the shown incident. Unit: milliseconds. */
const RENEW_EVERY_MS = 1_000

/**
 * Follows the incidents as long as the component lives: a change in the stream requests what is shown again. Reopens a
 * broken stream; the lists are polled meanwhile.
 */
export function useIncidentsStream(): void {
  useEffect(() => {
    let stream: ReturnType<typeof followStream> | undefined
    let renewing: ReturnType<typeof setTimeout> | undefined
    let renewedMs = Number.NEGATIVE_INFINITY
    const renewSoon = (): void => {
      if (renewing !== undefined) return
      renewing = setTimeout(
        () => {
          renewing = undefined
          renewedMs = performance.now()
          retryIncidents()
        },
        Math.max(0, renewedMs + RENEW_EVERY_MS - performance.now()),
      )
    }
    // The stream is closed while the tab is hidden.
    const look = (): void => {
      stream?.close()
      stream =
        document.hidden || isUnanswerable(ADDRESS)
          ? undefined
          : followStream({ address: () => ADDRESS, proof: 'incidents', takers: { incidents: renewSoon } })
    }
    document.addEventListener('visibilitychange', look)
    const forget = isConsole.subscribe(look)
    look()
    return () => {
      document.removeEventListener('visibilitychange', look)
      forget()
      clearTimeout(renewing)
      stream?.close()
    }
  }, [])
}
