import { droppedTotal } from '@sonde/sdk'
import { countsOf } from '@sonde/sdk/internal'
import type { FastifyInstance } from 'fastify'
import type { Agent } from '../agent.ts'
import { agentCatalogue } from './agent-catalogue.ts'
import { catalogueRoutes } from './catalogue.ts'
import { compress } from './compress.ts'
import { describeNode } from './node.ts'
import { fresh, type Queried, queryRoutes } from './query.ts'
import { describeSource, sourceRoute } from './source.ts'

/** Routes of `/api/v1`, but for the live stream. */
export function apiRoutes(app: FastifyInstance, agent: Agent, queried: Queried): void {
  const options = { onSend: compress }
  app.get('/api/v1/node', options, (_request, reply) => fresh(reply).send(describeNode(agent)))
  app.get('/api/v1/sources', options, (_request, reply) => fresh(reply).send(describeSources(agent)))
  sourceRoute(app, agent)
  catalogueRoutes(app, agentCatalogue(agent))
  queryRoutes(app, queried)
}

/** The ledger is counted in three places: by whoever reports, by the router, and by each sink. */
function describeSources({ sources: running, router, self, service, madeRecords }: Agent) {
  const sources = running.map(describeSource)
  const counted = [...running, ...(service === undefined ? [] : [service])]
  const dropped = counted.reduce((sum, { stats }) => sum + droppedTotal(stats), 0)
  const ofClients = service?.stats.records ?? 0
  const reported = running.reduce(
    (sum, { stats }) => sum + stats.records + stats.stateRecords,
    self.records + madeRecords + ofClients,
  )
  const sinks = router.routes.map(({ sink, failing = '' }) => ({ name: sink.name, ...countsOf(sink), failing }))
  return {
    sources,
    clients: service?.status().clients ?? [],
    sinks,
    ledger: { in: reported + dropped, out: router.records, dropped },
  }
}
