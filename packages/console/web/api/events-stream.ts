import type { EventsAnswer } from '@sonde/sdk/api'
import { useEffect } from 'react'
import { renewEvents, takeEvents } from './events.ts'
import { followStream } from './follow-stream.ts'

/** Least time between requests for filtered lists and for the shown event. Unit: milliseconds. */
const RENEW_EVERY_MS = 1_000

/**
 * Follows the events as long as the component lives. Shows changes of the stream at once, and requests the data that
 * the stream lacks. Reopens a broken stream; the lists are polled meanwhile.
 */
export function useEventsStream(): void {
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
          renewEvents()
        },
        Math.max(0, renewedMs + RENEW_EVERY_MS - performance.now()),
      )
    }
    const takeAll = (events: EventsAnswer): void => {
      takeEvents(events)
      renewSoon()
    }
    // The stream is closed while the tab is hidden.
    const look = (): void => {
      stream?.close()
      stream = document.hidden
        ? undefined
        : followStream({ address: () => '/api/v1/events/stream', proof: 'events', takers: { events: takeAll } })
    }
    document.addEventListener('visibilitychange', look)
    look()
    return () => {
      document.removeEventListener('visibilitychange', look)
      clearTimeout(renewing)
      stream?.close()
    }
  }, [])
}
