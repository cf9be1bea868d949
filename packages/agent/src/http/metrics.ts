import type { FastifyInstance } from 'fastify'
import type { Agent } from '../agent.ts'

/** The Prometheus endpoint, at the configured path. */
export function metricsRoute(app: FastifyInstance, agent: Agent): void {
  app.get(agent.options.config.export.prometheus.path, async (request, reply) => {
    const { accept, 'accept-encoding': acceptEncoding } = request.headers
    const page = await agent.prometheus.render({ accept, acceptEncoding })
    if (page.contentEncoding !== undefined) reply.header('content-encoding', page.contentEncoding)
    return reply.header('vary', 'Accept, Accept-Encoding').type(page.contentType).send(page.body)
  })
}
