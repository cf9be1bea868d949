import type { Scraper } from '@sonde/sdk/api'
import type { FastifyInstance } from 'fastify'
import type { AuditLog } from '../access/audit-log.ts'
import { whoOf } from '../access/routes.ts'
import type { Params } from '../params/params.ts'
import { SCRAPER_PARAM, scraperAnswer, switchOfAgents } from './scraper-answer.ts'

/** What the routes of the switch need. */
export interface ScraperOrigin {
  readonly params: Params
  readonly audit: AuditLog
  /** Default: the agents of this console have them. */
  readonly scrapers?: () => readonly Scraper[] | Promise<readonly Scraper[]>
  /** Has all scrapers begin anew. Default: there is nothing to begin. */
  readonly reset?: () => Promise<void>
}

/** Routes of the switch of scraping. */
export function scraperRoutes(app: FastifyInstance, { params, audit, scrapers, reset }: ScraperOrigin): void {
  const answer = async () => {
    const isOn = params.value(SCRAPER_PARAM) === 'true'
    return scrapers === undefined ? switchOfAgents(isOn) : scraperAnswer(isOn, await scrapers())
  }
  app.get('/api/v1/scraper', async (_request, reply) => reply.header('cache-control', 'no-store').send(await answer()))
  app.post('/api/v1/scraper/reset', async (request, reply) => {
    await audit.note({ timeMs: Date.now(), action: 'scraper.reset', ...whoOf(request), what: SCRAPER_PARAM })
    await reset?.()
    return reply.send(await answer())
  })
}
