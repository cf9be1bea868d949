import type { EventsAnswer } from '@sonde/sdk/api'
import { useEffect } from 'react'
import { renewEvents, takeEvents } from './events.ts'
import { followStream } from './follow-stream.ts'

/** Lists that are filtered, and the event that is shown, are asked for at most this often. Unit: milliseconds. */
const RENEW_EVERY_MS = 1_000

/**
 * Follows the events as long as the component lives: what the stream says stands at once, and what it does not say is
 * asked for. A stream that breaks is opened again; the lists are polled all the while.
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
    // It rests while the tab is hidden.
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
