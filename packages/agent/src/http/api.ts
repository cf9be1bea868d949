import { Readable } from 'node:stream'
import {
  answerToColumns,
  answerToJsonParts,
  COLUMNS_CONTENT_TYPE,
  droppedTotal,
  parseQueryRequest,
  type QueryAnswer,
  SondeError,
} from '@sonde/sdk'
import { turn } from '@sonde/sdk/internal'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Agent } from '../agent.ts'
import { latestSeries } from '../pipeline/latest.ts'
import { compress } from './compress.ts'
import { describeNode } from './node.ts'
import { describeSource, sourceRoute } from './source.ts'
import { typesRoute } from './types.ts'

/** Text that an answer is sent in at a time. Unit: characters. */
const PART_LENGTH = 64 << 10

/** Routes of `/api/v1`, but for the live stream. */
export function apiRoutes(app: FastifyInstance, agent: Agent): void {
  const options = { onSend: compress }
  app.get('/api/v1/node', options, (_request, reply) => fresh(reply).send(describeNode(agent)))
  app.get('/api/v1/sources', options, (_request, reply) => fresh(reply).send(describeSources(agent)))
  sourceRoute(app, agent)
  typesRoute(app, agent)
  app.get('/api/v1/series', options, (request, reply) => {
    const wanted = { ...parameter(request, 'metric'), ...parameter(request, 'type') }
    if (Object.keys(wanted).length === 0)
      throw new SondeError('QRY_FORM', 'metric and type are missing; give one of them')
    return fresh(reply).send({ nowMs: Date.now(), series: latestSeries(agent.recent, wanted) })
  })
  app.post('/api/v1/query', options, (request, reply) => answer(agent, request, reply, () => request.body))
  app.get('/api/v1/query', options, (request, reply) => answer(agent, request, reply, () => jsonParameter(request)))
}

/** The JSON of the parameter `q`. */
export function jsonParameter(request: FastifyRequest): unknown {
  const { q } = parameter(request, 'q')
  if (q === undefined)
    throw new SondeError('QRY_FORM', 'the parameter q is missing; it is the request as JSON, URL-encoded')
  try {
    return JSON.parse(q)
  } catch (cause) {
    throw new SondeError('QRY_FORM', `q is ${JSON.stringify(q.slice(0, 100))}; allowed: JSON, URL-encoded`, { cause })
  }
}

/** A parameter of the address, as an object of one key; empty where it is not there. */
export function parameter<const K extends string>(request: FastifyRequest, name: K): { readonly [P in K]?: string } {
  const value = (request.query as Record<string, string | string[] | undefined>)[name]
  if (value === undefined) return {}
  if (typeof value === 'string' && value !== '') return { [name]: value } as { [P in K]: string }
  throw new SondeError('QRY_FORM', `${name} is ${JSON.stringify(value).slice(0, 100)}; allowed: once, with a value`)
}

/** What is asked again a second later must not come from a cache. */
function fresh(reply: FastifyReply): FastifyReply {
  return reply.header('cache-control', 'no-store')
}

async function answer(
  agent: Agent,
  request: FastifyRequest,
  reply: FastifyReply,
  form: () => unknown,
): Promise<FastifyReply> {
  const { http, history, options } = agent
  const { parallel_queries: limit } = options.config.limits
  const asked = parseQueryRequest(form())
  if (http.queries >= limit) {
    http.refuse('parallel_queries')
    throw new SondeError('QRY_BUSY', `${limit} queries are being answered; ask again, or raise limits.parallel_queries`)
  }
  http.queries++
  try {
    const result = await history.query(asked)
    const wantsColumns = request.headers.accept?.includes(COLUMNS_CONTENT_TYPE) === true
    return wantsColumns
      ? fresh(reply).type(COLUMNS_CONTENT_TYPE).send(answerToColumns(result))
      : fresh(reply)
          .type('application/json; charset=utf-8')
          .send(Readable.from(jsonOf(result), { objectMode: false }))
  } catch (error) {
    if (error instanceof SondeError && error.code.endsWith('_LIMIT')) http.refuse('query_cost')
    throw error
  } finally {
    http.queries--
  }
}

/** An answer as JSON, in parts. */
async function* jsonOf(result: QueryAnswer): AsyncGenerator<string> {
  let text = ''
  for (const part of answerToJsonParts(result)) {
    text += part
    if (text.length < PART_LENGTH) continue
    yield text
    text = ''
    if (turn.isOver()) await turn.next()
  }
  if (text !== '') yield text
}

/** The ledger is counted in three places: by sources and service, by the router, and by each sink. */
function describeSources({ sources: running, router, self, service }: Agent) {
  const sources = running.map(describeSource)
  const counted = [...running, ...(service === undefined ? [] : [service])]
  const dropped = counted.reduce((sum, { stats }) => sum + droppedTotal(stats), 0)
  const ofClients = service?.stats.records ?? 0
  const reported = running.reduce(
    (sum, { stats }) => sum + stats.records + stats.stateRecords,
    self.records + ofClients,
  )
  const sinks = router.routes.map(({ sink: { name, stats }, failing = '' }) => {
    return { name, ...stats, dropped: Object.fromEntries(stats.dropped), failing }
  })
  return {
    sources,
    clients: service?.status().clients ?? [],
    sinks,
    ledger: { in: reported + dropped, out: router.records, dropped },
  }
}
