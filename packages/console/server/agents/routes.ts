import { annotationsWanted } from '@sonde/sdk/internal'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Agents } from './agents.ts'
import { annotationsOfAgents } from './annotations.ts'
import { type ForwardedRequest, forward } from './forward.ts'

/** The path behind the name of an agent. */
const BEHIND = /^\/api\/v1\/nodes\/[^/]+\/([^?]*)(\?.*)?$/

interface OfNode {
  Params: { readonly node: string }
}
type NodeRequest = FastifyRequest<OfNode>

/** Options of {@link nodeRoutes}. */
export interface NodeRoutesOptions {
  /** Compresses answers that are not streams. */
  readonly compress: (request: FastifyRequest, reply: FastifyReply, payload: unknown) => Promise<unknown>
}

/** Whether an address is that of a stream of an agent. */
export function isNodeStream(url: string): boolean {
  return /^\/api\/v1\/nodes\/[^/]+\/(incidents\/)?stream(\?|$)/.test(url)
}

/** `/api/v1/nodes`: the agents of a console; below the name of one, what that agent answers. */
export function nodeRoutes(app: FastifyInstance, agents: Agents, { compress }: NodeRoutesOptions): void {
  app.addHook('preClose', async () => agents.stop())
  app.get('/api/v1/nodes', { onSend: compress }, (_request, reply) =>
    reply.header('cache-control', 'no-store').send(agents.answer()),
  )
  app.get('/api/v1/annotations', { onSend: compress }, async ({ query }, reply) => {
    const wanted = annotationsWanted(query as Record<string, unknown>, Date.now())
    const gone = new AbortController()
    reply.raw.once('close', () => gone.abort())
    return reply.header('cache-control', 'no-store').send(await annotationsOfAgents(agents.links, wanted, gone.signal))
  })
  const pass = async (request: NodeRequest, reply: FastifyReply) => {
    const answer = await forward(agents.link(request.params.node), forwarded(request, reply))
    if (answer.fileName !== undefined) reply.header('content-disposition', `attachment; filename="${answer.fileName}"`)
    return reply.code(answer.status).header('cache-control', 'no-store').type(answer.type).send(answer.body)
  }
  app.get<OfNode>('/api/v1/nodes/:node/stream', { exposeHeadRoute: false }, pass)
  app.get<OfNode>('/api/v1/nodes/:node/incidents/stream', { exposeHeadRoute: false }, pass)
  app.get<OfNode>('/api/v1/nodes/:node/*', { exposeHeadRoute: false, onSend: compress }, pass)
  app.post<OfNode>('/api/v1/nodes/:node/query', { onSend: compress }, pass)
}

function forwarded({ method, url, headers, body }: NodeRequest, { raw }: FastifyReply): ForwardedRequest {
  const gone = new AbortController()
  raw.once('close', () => gone.abort())
  const [, path = '', query = ''] = BEHIND.exec(url) ?? []
  return {
    ...{ method: method === 'POST' ? 'POST' : 'GET', path, query, accept: headers.accept, signal: gone.signal },
    ...(method === 'POST' ? { body: JSON.stringify(body ?? {}) } : {}),
  }
}
