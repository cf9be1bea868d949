import type { EventsAnswer } from '@sonde/sdk/api'
import type { Page, Route } from 'playwright-core'
import type { GeneratedEvent } from './generated-event.ts'

/** What the routes of events answer; functions so that it can change while the page is open. */
export interface EventAnswers {
  readonly list?: (address: URL) => EventsAnswer
  readonly event?: () => GeneratedEvent
}

/** Answers the routes of events in place of the server, in the format of the API. */
export async function answerEvents(page: Page, { list, event }: EventAnswers): Promise<void> {
  await page.route('**/api/v1/events**', (route: Route) => {
    const address = new URL(route.request().url())
    if (address.pathname === '/api/v1/events/stream') {
      const data = list && JSON.stringify(list(address))
      return data
        ? route.fulfill({ contentType: 'text/event-stream', body: `event: events\ndata: ${data}\n\n` })
        : route.continue()
    }
    if (address.pathname === '/api/v1/events') return list ? route.fulfill({ json: list(address) }) : route.continue()
    const made = event?.()
    if (!made || !address.pathname.startsWith(`/api/v1/events/${made.event.id}`))
      return route.fulfill({
        status: 404,
        json: { error: { code: 'TRB_UNKNOWN', message: 'No event of this id is kept.' } },
      })
    if (!address.pathname.endsWith('/samples')) return route.fulfill({ json: made.answer() })
    return route.fulfill({ contentType: 'application/vnd.sonde.samples', body: made.samples(address) })
  })
}
