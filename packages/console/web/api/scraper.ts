import type { ScraperAnswer } from '@sonde/sdk/api'
import { getAnswer, sendChange } from './client.ts'
import { setParam } from './params.ts'
import { createPoll, type Resource, usePoll } from './resources.ts'

const scraperPoll = createPoll(() => getAnswer('/api/v1/scraper'), 2_000)

/** How scraping of GPU exporters fares, renewed every 2 s. */
export function useScraper(): Resource<ScraperAnswer> {
  return usePoll(scraperPoll)
}

/** Switches scraping on or off. Throws `ApiError`. */
export async function switchScraper(isOn: boolean): Promise<void> {
  await setParam('gpu_scraper_enable', String(isOn))
  await scraperPoll.refresh()
}

/** Has all scrapers begin anew. Throws `ApiError`. */
export async function resetScraper(): Promise<void> {
  await sendChange('POST', '/api/v1/scraper/reset')
  await scraperPoll.refresh()
}
