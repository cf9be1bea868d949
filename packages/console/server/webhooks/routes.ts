import { SondeError } from '@sonde/sdk'
import type { ApiAnswers, WebhookTestAnswer } from '@sonde/sdk/api'
import { isJsonObject } from '@sonde/sdk/internal'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { DeliveryFilter } from './delivery-list.ts'
import type { Webhooks } from './webhooks.ts'

const LIMIT_DEFAULT = 100
const LIMIT_MAX = 1000
const STATES = ['waiting', 'succeeded', 'failed'] as const

/** Routes below `/api/v1/webhooks`: the receivers, the last deliveries, and a test. */
export function webhookRoutes(app: FastifyInstance, webhooks: Webhooks): void {
  app.get('/api/v1/webhooks', (_request, reply) =>
    fresh(reply).send(webhooks.answer() satisfies ApiAnswers['/api/v1/webhooks']),
  )
  app.get<{ Querystring: Query }>('/api/v1/webhooks/deliveries', ({ query }, reply) =>
    fresh(reply).send(webhooks.deliveries(filterOf(query)) satisfies ApiAnswers['/api/v1/webhooks/deliveries']),
  )
  app.post('/api/v1/webhooks/test', async ({ body }, reply) => {
    const deliveries = await webhooks.test(receiverOf(body))
    return fresh(reply).send({ deliveries } satisfies WebhookTestAnswer)
  })
}

type Query = Readonly<Record<string, unknown>>

function filterOf(query: Query): DeliveryFilter {
  const { state: wanted, limit: text = String(LIMIT_DEFAULT) } = query
  const state = STATES.find((one) => one === wanted)
  if (wanted !== undefined && state === undefined)
    throw new SondeError('WHK_FORM', `state is no known state; allowed: ${STATES.join(', ')}`)
  const limit = Number(text)
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_MAX)
    throw new SondeError('WHK_FORM', `limit is no such number; allowed: a whole number from 1 to ${LIMIT_MAX}`)
  const receiver = textIn(query, 'receiver')
  const type = textIn(query, 'type')
  return {
    ...(receiver !== undefined && { receiver }),
    ...(type !== undefined && { type }),
    ...(state !== undefined && { state }),
    limit,
  }
}

function textIn(query: Query, name: string): string | undefined {
  const value = query[name]
  if (value === undefined || typeof value === 'string') return value
  throw new SondeError('WHK_FORM', `${name} is given more than once; allowed: once`)
}

/** The receiver to test; undefined for all of them. */
function receiverOf(body: unknown): string | undefined {
  const { receiver } = isJsonObject(body) ? body : {}
  const isForm = body === undefined || body === null || (isJsonObject(body) && Object.keys(body).every(isReceiver))
  if (isForm && (receiver === undefined || typeof receiver === 'string')) return receiver
  throw new SondeError('WHK_FORM', 'the body has another form; allowed: {"receiver": "NAME"}, or {} for all receivers')
}

function isReceiver(key: string): boolean {
  return key === 'receiver'
}

function fresh(reply: FastifyReply): FastifyReply {
  return reply.header('cache-control', 'no-store')
}
