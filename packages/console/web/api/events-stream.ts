import type { EventsAnswer } from '@sonde/sdk/api'
import { useEffect } from 'react'
import { hear } from '../state/clock.ts'
import { renewEvents, takeEvents } from './events.ts'
import { parseMarked } from './marked-text.ts'

const RETRY_MIN_MS = 1_000
const RETRY_MAX_MS = 15_000
/** Lists that are filtered, and the event that is shown, are asked for at most this often. Unit: milliseconds. */
const RENEW_EVERY_MS = 1_000

/**
 * Follows the events as long as the component lives: what the stream says stands at once, and what it does not say is
 * asked for. A stream that breaks is opened again; the lists are polled all the while.
 */
export function useEventsStream(): void {
  useEffect(() => {
    let source: EventSource | undefined
    let timer: ReturnType<typeof setTimeout> | undefined
    let renewing: ReturnType<typeof setTimeout> | undefined
    let renewedMs = Number.NEGATIVE_INFINITY
    let retryMs = RETRY_MIN_MS
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
    const lose = (): void => {
      source?.close()
      source = undefined
      clearTimeout(timer)
      timer = setTimeout(connect, retryMs)
      retryMs = Math.min(retryMs * 2, RETRY_MAX_MS)
    }
    const connect = (): void => {
      if (document.hidden) return
      source = new EventSource('/api/v1/events/stream')
      source.onerror = lose
      source.addEventListener('fault', lose)
      source.addEventListener('events', (event: MessageEvent<string>) => {
        hear()
        retryMs = RETRY_MIN_MS
        takeEvents(parseMarked<EventsAnswer>(event.data))
        renewSoon()
      })
    }
    // It rests while the tab is hidden.
    const look = (): void => {
      clearTimeout(timer)
      source?.close()
      source = undefined
      connect()
    }
    document.addEventListener('visibilitychange', look)
    connect()
    return () => {
      document.removeEventListener('visibilitychange', look)
      clearTimeout(timer)
      clearTimeout(renewing)
      source?.close()
    }
  }, [])
}
