/**
 * How scraping of GPU exporters fares. `enabled` and `disabled` are reported by the scraper itself; `enabling` and
 * `disabling` last until it reports them; `error`: it is switched on and reads no exporter, or does not follow.
 */
export type ScraperState = 'enabled' | 'enabling' | 'disabled' | 'disabling' | 'error'

/** A part of the server that scrapes GPU exporters. */
export interface Scraper {
  /** Name of the source, or address of the Prometheus. */
  readonly name: string
  readonly state: ScraperState
  /** What it reads, or why it does not; without a full stop. */
  readonly detail: string
  /** Whether an exporter of it answered since the start of the server. */
  readonly hasAnswered: boolean
}

/** What `GET /api/v1/scraper` answers. */
export interface ScraperAnswer {
  /** The parameter `gpu_scraper_enable`. */
  readonly isOn: boolean
  /** The worst state of its scrapers. */
  readonly state: ScraperState
  /** A sentence. */
  readonly summary: string
  /** Why the switch on the page is locked, as a sentence; empty if it is not. */
  readonly locked: string
  readonly scrapers: readonly Scraper[]
}
