import type { FastifyInstance } from 'fastify'
import type { Agent } from '../agent.ts'

/** `/healthz` and `/readyz`. */
export function healthRoutes(app: FastifyInstance, agent: Agent): void {
  app.get('/healthz', () => ({ status: 'ok' }))
  app.get('/readyz', (_request, reply) => {
    const waiting = agent.sources.filter(({ settled }) => !settled).map(({ name }) => name)
    return reply
      .code(waiting.length === 0 ? 200 : 503)
      .send({ status: waiting.length === 0 ? 'ready' : 'starting', waiting })
  })
}
