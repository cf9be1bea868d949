import { SondeError } from '@sonde/sdk'
import { answerToColumns, askerOf, COLUMNS_CONTENT_TYPE, type History, parseQueryRequest } from '@sonde/sdk/internal'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { HttpStats } from '../pipeline/http-stats.ts'
import { sendBytes, sendJson } from './answer-parts.ts'
import { compress } from './compress.ts'
import type { QueryPlaces } from './query-places.ts'
import type { UnreadAnswers } from './unread-answers.ts'

/** What answers queries, and how many at a time. */
export interface Queried {
  readonly history: History
  readonly http: HttpStats
  readonly places: QueryPlaces
  /** Where answers are counted that wait for their readers. */
  readonly unread: UnreadAnswers
}

/** `/api/v1/query`, by POST and by GET. */
export function queryRoutes(app: FastifyInstance, queried: Queried): void {
  const options = { onSend: compress }
  app.post('/api/v1/query', options, (request, reply) => answer(queried, request, reply, () => request.body))
  app.get('/api/v1/query', options, (request, reply) => answer(queried, request, reply, () => jsonParameter(request)))
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

/** A parameter of the address, as an object of one key; empty if it is not there. */
export function parameter<const K extends string>(request: FastifyRequest, name: K): { readonly [P in K]?: string } {
  const value = (request.query as Record<string, string | string[] | undefined>)[name]
  if (value === undefined) return {}
  if (typeof value === 'string' && value !== '') return { [name]: value } as { [P in K]: string }
  throw new SondeError('QRY_FORM', `${name} is ${JSON.stringify(value).slice(0, 100)}; allowed: once, with a value`)
}

/** A header against caches: a query that is repeated after a second needs a new answer. */
export function fresh(reply: FastifyReply): FastifyReply {
  return reply.header('cache-control', 'no-store')
}

async function answer(
  queried: Queried,
  request: FastifyRequest,
  reply: FastifyReply,
  form: () => unknown,
): Promise<FastifyReply> {
  const asked = parseQueryRequest(form())
  const { history, places, unread } = queried
  const asker = askerOf(request)
  const result = await places.take(asker, () => history.query(asked, asker))
  const wantsColumns = request.headers.accept?.includes(COLUMNS_CONTENT_TYPE) === true
  return wantsColumns
    ? sendBytes(fresh(reply).type(COLUMNS_CONTENT_TYPE), answerToColumns(result), unread)
    : sendJson(fresh(reply), result, unread)
}
