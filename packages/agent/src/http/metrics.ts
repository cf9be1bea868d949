import { Readable } from 'node:stream'
import { askedSet, type FieldSet } from '@sonde/sdk/internal'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Agent } from '../agent.ts'

type Named = { Params: { name: string } }

/**
 * The Prometheus endpoint at the configured path, and parts of it: `/cset/NAME`, `/fset/NAME`, and `/NAME` where
 * nothing else is. With `?set=core`, each has only its fields of class `core`.
 */
export function metricsRoute(app: FastifyInstance, agent: Agent): void {
  const { fieldSets } = agent
  app.get(agent.options.config.export.prometheus.path, (request, reply) => sendScrape(agent, request, reply))
  for (const kind of ['cset', 'fset'] as const) {
    app.get<Named>(`/${kind}/:name`, async (request, reply) =>
      sendScrape(agent, request, reply, await fieldSets.get(request.params.name, kind)),
    )
  }
  // No route: it would take the addresses of the page, which come later.
  app.addHook('onRequest', async (request, reply) => {
    const name = bareNameOf(agent, request)
    const filter = name === undefined ? undefined : await fieldSets.find(name)
    if (filter !== undefined) return sendScrape(agent, request, reply, filter)
  })
}

/**
 * The name of an address `/NAME` that no route has; undefined if there are no field sets, or it is another address.
 */
export function bareNameOf(
  { fieldSets }: Agent,
  { method, url, is404, routeOptions }: FastifyRequest,
): string | undefined {
  if (!fieldSets.isOn || (method !== 'GET' && method !== 'HEAD') || !(is404 || routeOptions.url === '/*'))
    return undefined
  return /^\/([^/?]+)(?:\?|$)/.exec(url)?.[1]
}

/** Whether a request is for metrics, all or a part. */
export function isScrape(agent: Agent, request: FastifyRequest): boolean {
  const { url } = request.routeOptions
  if (url === agent.options.config.export.prometheus.path || url === '/cset/:name' || url === '/fset/:name') return true
  return bareNameOf(agent, request) !== undefined
}

async function sendScrape(agent: Agent, { headers, url }: FastifyRequest, reply: FastifyReply, filter?: FieldSet) {
  const scrape = await agent.prometheus.render(
    { accept: headers.accept, acceptEncoding: headers['accept-encoding'] },
    askedSet(url, filter),
  )
  if (reply.raw.closed) scrape.release()
  else reply.raw.once('close', scrape.release)
  if (scrape.contentEncoding !== undefined) reply.header('content-encoding', scrape.contentEncoding)
  reply.header('vary', 'Accept, Accept-Encoding').header('content-length', scrape.bytes).type(scrape.contentType)
  return reply.send(Readable.from(scrape.chunks, { objectMode: false }))
}
