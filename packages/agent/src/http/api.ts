import {
  answerToColumns,
  answerToJson,
  COLUMNS_CONTENT_TYPE,
  droppedTotal,
  parseQueryRequest,
  SondeError,
} from '@sonde/sdk'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Agent } from '../agent.ts'
import { latestSeries } from './latest.ts'
import { describeNode } from './node.ts'

/** Routes of `/api/v1`, but for the live stream. */
export function apiRoutes(app: FastifyInstance, agent: Agent): void {
  app.get('/api/v1/node', () => describeNode(agent))
  app.get('/api/v1/sources', () => describeSources(agent))
  app.get('/api/v1/types', () => ({ types: describeTypes(agent) }))
  app.get('/api/v1/series', (request) => {
    const { metric, type } = request.query as { metric?: string; type?: string }
    if (metric === undefined && type === undefined) throw new SondeError('QRY_FORM', 'give metric= or type=')
    const wanted = { ...(metric === undefined ? {} : { metric }), ...(type === undefined ? {} : { type }) }
    return { nowMs: Date.now(), series: latestSeries(agent.recent, wanted) }
  })
  app.post('/api/v1/query', (request, reply) => answer(agent, request, reply, request.body))
  app.get('/api/v1/query', (request, reply) => answer(agent, request, reply, queryParameter(request)))
}

/** The JSON of the parameter `q`. */
export function queryParameter(request: FastifyRequest): unknown {
  const { q } = request.query as { q?: string }
  if (typeof q !== 'string')
    throw new SondeError('QRY_FORM', 'the parameter q is missing; it is the request as JSON, URL-encoded')
  try {
    return JSON.parse(q)
  } catch (cause) {
    throw new SondeError('QRY_FORM', 'the parameter q is not JSON', { cause })
  }
}

async function answer(
  agent: Agent,
  request: FastifyRequest,
  reply: FastifyReply,
  body: unknown,
): Promise<FastifyReply> {
  const result = await agent.history.query(parseQueryRequest(body))
  if (request.headers.accept?.includes(COLUMNS_CONTENT_TYPE) === true) {
    return reply.type(COLUMNS_CONTENT_TYPE).send(answerToColumns(result))
  }
  return reply.type('application/json; charset=utf-8').send(answerToJson(result))
}

function describeSources({ runners, router }: Agent) {
  const sources = runners.map((runner) => ({
    name: runner.name,
    type: runner.definition.name,
    placement: runner.definition.placement,
    state: runner.state,
    reason: runner.reason,
    intervalMs: runner.intervalMs,
    intervalRealMs: runner.stats.intervalRealMs,
    sampleMsP99: runner.stats.sampleMsP99,
    samples: runner.stats.samples,
    records: runner.stats.records,
    errors: runner.stats.errors,
    overruns: runner.overruns,
    restarts: runner.stats.restarts,
    dropped: Object.fromEntries(runner.stats.dropped),
    lastSampleMs: runner.stats.lastSampleMs,
    types: runner.definition.types.map(({ name }) => name),
  }))
  const lost = runners.reduce((sum, { stats }) => sum + droppedTotal(stats), 0)
  const out = runners.reduce((sum, { stats }) => sum + stats.records, 0)
  const sinks = router.sinks.map(({ name, stats }) => ({ name, ...stats, dropped: Object.fromEntries(stats.dropped) }))
  return { sources, sinks, ledger: { in: out + lost, out, dropped: lost } }
}

function describeTypes({ recent }: Agent) {
  return recent.types().map((type) => ({
    name: type.name,
    description: type.description,
    labels: type.labels.map(({ name }) => name),
    fields: type.layout.slots.flatMap(({ name, field }) => {
      const metric = type.metrics.get(name)
      if (metric === undefined) return []
      return [{ name, metric, kind: field.kind, role: field.role, unit: field.unit ?? '', help: field.help ?? '' }]
    }),
  }))
}
