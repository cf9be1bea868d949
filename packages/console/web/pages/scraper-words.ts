import type { AppState, ScraperAnswer, ScraperState } from '@sonde/sdk/api'
import type { StateTone } from '../components/state-mark.tsx'

/** Icon and word of a state. */
interface ScraperMark {
  readonly tone: StateTone
  readonly word: string
}

/** Icon and word of each state of the scraper. */
export const SCRAPER_MARKS: Readonly<Record<ScraperState, ScraperMark>> = {
  enabled: { tone: 'ok', word: 'Enabled' },
  enabling: { tone: 'info', word: 'Enabling…' },
  disabled: { tone: 'absent', word: 'Disabled' },
  disabling: { tone: 'info', word: 'Disabling…' },
  error: { tone: 'critical', word: 'Error' },
}

/** The state of the scraper. Where there is no exporter to read, as on a bare host, nothing has failed. */
export function scraperMark({ isOn, state, scrapers }: ScraperAnswer): ScraperMark {
  return isOn && scrapers.length === 0 ? { tone: 'absent', word: 'No exporter' } : SCRAPER_MARKS[state]
}

/**
 * The state of GPU telemetry as the page of an app shows it. Where no scraper is configured, other sources of GPUs
 * decide.
 */
export function telemetryMark({ state, scrapers }: ScraperAnswer, ofApp: AppState): ScraperMark {
  if (ofApp === 'no_source') return SCRAPER_MARKS.disabled
  if (scrapers.length > 0 && state !== 'enabled') return SCRAPER_MARKS[state]
  if (ofApp === 'no_node') return { tone: 'info', word: 'Enabled, waiting for a GPU node' }
  return ofApp === 'disabled' ? SCRAPER_MARKS.error : SCRAPER_MARKS.enabled
}
