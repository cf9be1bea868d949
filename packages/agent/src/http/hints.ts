import type { FastifyInstance } from 'fastify'
import type { Agent } from '../agent.ts'
import { compress } from './compress.ts'

/** `GET /api/v1/hints`: what rules see on the node now, and what they saw in the last hour. */
export function hintsRoute(app: FastifyInstance, agent: Agent): void {
  app.get('/api/v1/hints', { onSend: compress }, (_request, reply) =>
    reply.header('cache-control', 'no-store').send(agent.hints.answer()),
  )
}
