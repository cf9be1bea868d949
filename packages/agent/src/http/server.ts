import { messageOf, SondeError } from '@sonde/sdk'
import fastify, { type FastifyInstance } from 'fastify'
import type { Agent } from '../agent.ts'
import { apiRoutes } from './api.ts'
import { healthRoutes } from './health.ts'
import { metricsRoute } from './metrics.ts'
import { streamRoute } from './stream.ts'

const BODY_LIMIT_BYTES = 256 << 10
const REQUEST_LIMIT_MS = 30_000

/** A server with the rules that hold for every route: errors as JSON with a code, bounded bodies and times, no sniffing. */
export function createServer(): FastifyInstance {
  const app = fastify({ bodyLimit: BODY_LIMIT_BYTES, requestTimeout: REQUEST_LIMIT_MS, forceCloseConnections: true })
  app.addHook('onSend', async (_request, reply) => {
    reply.header('x-content-type-options', 'nosniff').header('referrer-policy', 'no-referrer')
  })
  app.setErrorHandler((error, _request, reply) => {
    const { code, status } = describeError(error)
    void reply.code(status).send({ error: { code, message: messageOf(error) } })
  })
  app.setNotFoundHandler((request, reply) => {
    void reply
      .code(404)
      .send({ error: { code: 'HTTP_NOT_FOUND', message: `nothing is at ${request.url.slice(0, 200)}` } })
  })
  return app
}

function describeError(error: unknown): { code: string; status: number } {
  if (error instanceof SondeError) {
    if (error.code.endsWith('_LIMIT')) return { code: error.code, status: error.code.startsWith('STR') ? 503 : 422 }
    return { code: error.code, status: error.code.startsWith('QRY') ? 400 : 500 }
  }
  const { statusCode } = error as { statusCode?: number }
  return {
    code: 'HTTP_REQUEST',
    status: statusCode !== undefined && statusCode >= 400 && statusCode < 500 ? statusCode : 500,
  }
}

/** All routes of an agent. */
export function agentRoutes(app: FastifyInstance, agent: Agent): void {
  metricsRoute(app, agent)
  healthRoutes(app, agent)
  apiRoutes(app, agent)
  streamRoute(app, agent)
}
