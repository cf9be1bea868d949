import type { SourcesAnswer } from '@sonde/sdk/api'
import { countsOf, droppedTotal } from '@sonde/sdk/internal'
import type { FastifyInstance } from 'fastify'
import type { Agent } from '../agent.ts'
import { seriesRates } from '../pipeline/series-rates.ts'
import { agentCatalogue } from './agent-catalogue.ts'
import { answerRoute } from './answer-route.ts'
import { catalogueRoutes } from './catalogue.ts'
import { describeNode } from './node.ts'
import { type Queried, queryRoutes } from './query.ts'
import { describeSource, sourceRoute } from './source.ts'

/** Routes of `/api/v1`, but for the live stream. */
export function apiRoutes(app: FastifyInstance, agent: Agent, queried: Queried): void {
  answerRoute(app, '/api/v1/node', () => describeNode(agent))
  answerRoute(app, '/api/v1/sources', () => describeSources(agent))
  answerRoute(app, '/api/v1/rates', () => seriesRates(agent.recent))
  sourceRoute(app, agent)
  catalogueRoutes(app, agentCatalogue(agent))
  queryRoutes(app, queried)
}

/** The ledger is counted in three places: by whoever reports, by the router, and by each sink. */
function describeSources({ sources: running, router, self, service, madeRecords }: Agent): SourcesAnswer {
  const sources = running.map(describeSource)
  const counted = [...running, ...(service === undefined ? [] : [service])]
  const dropped = counted.reduce((sum, { stats }) => sum + droppedTotal(stats), 0)
  const ofClients = service?.stats.records ?? 0
  const reported = running.reduce(
    (sum, { stats }) => sum + stats.records + stats.stateRecords,
    self.records + madeRecords + ofClients,
  )
  const sinks = router.routes.map(({ sink, set, intervalS, failing = '' }) => {
    return { name: sink.name, set, intervalS, ...countsOf(sink), failing }
  })
  return {
    sources,
    clients: service?.status().clients ?? [],
    sinks,
    ledger: { in: reported + dropped, out: router.records, dropped },
  }
}
