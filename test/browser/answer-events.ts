import type { IncidentsAnswer } from '@sonde/sdk/api'
import type { Page, Route } from 'playwright-core'
import { type GeneratedEvent, generatedList, NODE } from './generated-event.ts'

/** What the routes of incidents answer; functions so that it can change while the page is open. */
export interface EventAnswers {
  readonly list?: (address: URL) => IncidentsAnswer
  readonly event?: () => GeneratedEvent
}

/** Answers the routes of incidents in place of the server, in the format of the API. */
export async function answerEvents(page: Page, { list, event }: EventAnswers): Promise<void> {
  await page.route('**/api/v1/incidents**', (route: Route) => {
    const address = new URL(route.request().url())
    if (address.pathname === '/api/v1/incidents/stream') {
      const data = list && JSON.stringify(list(address))
      return data
        ? route.fulfill({ contentType: 'text/event-stream', body: `event: incidents\ndata: ${data}\n\n` })
        : route.continue()
    }
    if (address.pathname === '/api/v1/incidents')
      return list ? route.fulfill({ json: list(address) }) : route.continue()
    const made = event?.()
    const path = made && `/api/v1/incidents/${encodeURIComponent(`${NODE}:${made.event.id}`)}`
    if (!made || path === undefined || !address.pathname.startsWith(path))
      return route.fulfill({
        status: 404,
        json: { error: { code: 'INC_UNKNOWN', message: 'No incident of this id is kept.' } },
      })
    if (address.pathname === path) {
      const [incident] = generatedList(Date.now()).incidents
      // The server answers a window for each incident, also for one without samples.
      const { startMs, endMs = startMs, window = { fromMs: startMs - 120_000, toMs: endMs + 120_000 } } = made.event
      return route.fulfill({ json: { nowMs: Date.now(), incident, window, notes: [] } })
    }
    if (address.pathname.endsWith('/lanes')) return route.fulfill({ json: made.answer() })
    return route.fulfill({ contentType: 'application/vnd.sonde.samples', body: made.samples(address) })
  })
}
