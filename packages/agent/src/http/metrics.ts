import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { Agent } from '../agent.ts'

/** The Prometheus endpoint, at the configured path. */
export function metricsRoute(app: FastifyInstance, agent: Agent): void {
  app.get(agent.options.config.export.prometheus.path, async (request, reply) => {
    const { accept, 'accept-encoding': acceptEncoding } = request.headers
    const scrape = await agent.prometheus.render({ accept, acceptEncoding })
    if (reply.raw.closed) scrape.release()
    else reply.raw.once('close', scrape.release)
    if (scrape.contentEncoding !== undefined) reply.header('content-encoding', scrape.contentEncoding)
    reply.header('vary', 'Accept, Accept-Encoding').header('content-length', scrape.bytes).type(scrape.contentType)
    return reply.send(Readable.from(scrape.chunks, { objectMode: false }))
  })
}
