import type { Scraper, ScraperAnswer, ScraperState } from '@sonde/sdk/api'
import { sondeCommand } from '@sonde/sdk/internal'

/** The parameter that is the switch. */
export const SCRAPER_PARAM = 'gpu_scraper_enable'

/** The worst first. */
const ORDER: readonly ScraperState[] = ['error', 'enabling', 'disabling', 'enabled', 'disabled']

const NO_EXPORTER =
  'There is no exporter to read. Add one to data_sources, or let the Prometheus scrape dcgm-exporter, then switch it here.'

/** The switch of a console that asks agents and has no Prometheus: it reads no exporter, and changes no node. */
export function switchOfAgents(isOn: boolean): ScraperAnswer {
  const command = `${sondeCommand()} params set gpu_scraper_enable=false`
  return {
    ...{ isOn, state: 'disabled', summary: 'The agents of this console read the exporters.', scrapers: [] },
    locked: `Each node has a switch of its own. There, run: ${command}`,
  }
}

/** The state of all scrapers together, and whether the switch is locked. */
export function scraperAnswer(isOn: boolean, scrapers: readonly Scraper[]): ScraperAnswer {
  const state = ORDER.find((each) => scrapers.some((scraper) => scraper.state === each))
  if (state === undefined)
    return {
      isOn,
      state: isOn ? 'error' : 'disabled',
      summary: 'Nothing here scrapes GPUs.',
      locked: NO_EXPORTER,
      scrapers,
    }
  const shown = scrapers.find((scraper) => scraper.state === state)
  const isUnanswered = state === 'error' && isOn && !scrapers.some(({ hasAnswered }) => hasAnswered)
  const locked = isUnanswered ? 'No exporter has answered yet. The switch opens with the first answer.' : ''
  return { isOn, state, summary: summaryOf(state, shown), locked, scrapers }
}

function summaryOf(state: ScraperState, { name, detail }: Pick<Scraper, 'name' | 'detail'> = { name: '', detail: '' }) {
  if (state === 'enabled') return `${name} reads ${detail === '' ? 'exporters' : detail}.`
  if (state === 'enabling') return `${name} was switched on and has not found an exporter yet.`
  if (state === 'disabling') return `${name} was switched off and has not stopped yet.`
  return state === 'disabled' ? 'No exporter is read.' : `${name}: ${detail}.`
}
