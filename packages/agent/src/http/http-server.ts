import type { Socket } from 'node:net'
import { boundConnections } from '@sonde/sdk/internal'
import fastify, { type ConnectionError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { HttpStats } from '../pipeline/http-stats.ts'
import { type HttpError, httpErrorOf, parserErrorOf } from './http-error.ts'
import { RoutePatterns } from './route-patterns.ts'
import { SECURITY_HEADERS } from './security-headers.ts'

const BODY_LIMIT_BYTES = 256 << 10
/** Address and headers of a request. */
const HEADER_LIMIT_BYTES = 16 << 10
const REQUEST_LIMIT_MS = 30_000
/** An answer that is not read for this time is aborted. Live streams write more often. */
const SILENCE_LIMIT_MS = 30_000
/** How often it looks for requests that took too long to arrive: each look wakes a process that may have rest. */
const REQUEST_LOOK_MS = 5000
const HANDSHAKE_LIMIT_MS = 10_000
const RETRY_AFTER_S = 5
/** Error codes of a stream whose peer has closed. */
const HANG_UP_CODES = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED', 'ECONNRESET', 'EPIPE'])
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/** Looks who sends a request. @throws SondeError if the sender may not. */
export type Authorize = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

/** Certificate and key (PEM) of a server, and the certificates that sign those of its clients. */
export interface ServerCertificates {
  readonly cert?: string
  readonly key?: string
  readonly ca?: string
}

/** Options of a server. */
export interface Served {
  readonly http: HttpStats
  readonly log: Record<'error' | 'debug', (details: object, message: string) => void>
  /** Connections at a time. Policy: further ones are closed. */
  readonly connectionCount: number
  /** Whether the answers to an address go on for as long as they are read. */
  isEndless(url: string): boolean
  /** Refuses a request before it takes a place anywhere: it throws. */
  admit(request: FastifyRequest): void
  /** Refuses a request of somebody who may not make it: it rejects. Default: everybody may. */
  readonly authorize?: Authorize | undefined
  /** Default: connections are not encrypted. */
  readonly tls?: ServerCertificates | undefined
  /** Additional words of the answer 404; empty for none. */
  moreOf(request: FastifyRequest): Promise<string>
}

/**
 * A server with the rules for every route, those of the page included: errors as JSON with a code; limits for bodies,
 * headers and times; a check of the host name; and headers that restrict browsers.
 */
export function createHttpServer(served: Served): FastifyInstance {
  const { http, log } = served
  const fail = (reply: FastifyReply, error: unknown) => {
    const answer = httpErrorOf(error)
    if (answer.status === 413) http.refuse('body_bytes')
    const url = reply.request.url.slice(0, 200)
    if (isHangUp(reply, error)) {
      log.debug({ url }, 'a client hung up before it had its answer')
    } else if (answer.status === 500) {
      http.errors++
      log.error({ error, url }, 'a request failed')
    }
    sendError(reply, answer)
  }
  const limits = {
    maxHeaderSize: HEADER_LIMIT_BYTES,
    // Left to itself, headers have a minute, and with them the whole request.
    headersTimeout: REQUEST_LIMIT_MS,
    connectionsCheckingInterval: REQUEST_LOOK_MS,
  }
  const app = fastify({
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_LIMIT_MS,
    // A name in a path may be as long as headers may be. Routes have their own limits, and say so.
    routerOptions: { maxParamLength: HEADER_LIMIT_BYTES },
    forceCloseConnections: true,
    ...transportOf(limits, served.tls),
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    frameworkErrors: (error, request, reply) =>
      isAskedByPerson(request) ? tellPerson(reply, error) : fail(reply, error),
    clientErrorHandler: (error, socket) => refuseConnection(http, error, socket),
  })
  // What does not speak TLS is no request either.
  app.server.on('tlsClientError', () => http.refuse('syntax'))
  boundConnections(app.server, {
    count: served.connectionCount,
    silenceMs: SILENCE_LIMIT_MS,
    isKept: ({ url }) => served.isEndless(url ?? ''),
    onClosed: () => http.refuse('connections'),
  })
  // A page elsewhere can send plain text to us without asking first; JSON it cannot.
  app.removeContentTypeParser('text/plain')
  acceptDeleteWithoutBody(app)
  app.setErrorHandler((error, _request, reply) => fail(reply, error))
  const routes = new RoutePatterns(app)
  app.setNotFoundHandler(async (request, reply) => {
    const error = unknownRoute(routes, request, reply)
    const more = error.status === 404 ? await served.moreOf(request) : ''
    sendError(reply, { ...error, message: error.message + more })
    return reply
  })
  app.addHook('onRequest', async (request, reply) => {
    // The client has gone.
    if (request.socket.destroyed) return reply.hijack()
    http.requests++
    reply.headers(SECURITY_HEADERS)
    served.admit(request)
    await served.authorize?.(request, reply)
  })
  return app
}

/**
 * The part of the options of Fastify that differs with TLS. A client need not have a certificate; whether it has one
 * that counts is decided with the login.
 */
function transportOf(limits: object, tls: ServerCertificates | undefined): { readonly http: object } {
  if (tls === undefined) return { http: limits }
  const clients = { requestCert: tls.ca !== undefined, rejectUnauthorized: false }
  // Fastify has another type for such a server, with the same routes and hooks.
  return { https: { ...limits, ...tls, ...clients, handshakeTimeout: HANDSHAKE_LIMIT_MS } } as never
}

/** Whether an answer ended because its client has gone, which is no fault. */
function isHangUp({ raw }: FastifyReply, error: unknown): boolean {
  const { code = '' } = error as { readonly code?: string }
  return raw.req.socket.destroyed && HANG_UP_CODES.has(code)
}

/** No route has a schema of Fastify's. Left to itself it loads a hundred modules for them: some 6 MB and 60 ms. */
function noSchemas(): never {
  throw new Error('a route has a schema: check input from outside in its handler')
}

/** Whether a browser shows the answer: programs ask the API, or do not want HTML. */
function isAskedByPerson({ headers, url }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') === true && !url.startsWith('/api/')
}

/** Answers a fault for which no route was reached, so that the page cannot say it. No hook ran either. */
function tellPerson(reply: FastifyReply, error: unknown): void {
  const { status, message } = httpErrorOf(error)
  const sentence = `${message.charAt(0).toUpperCase()}${message.slice(1)}.\n`
  reply.headers(SECURITY_HEADERS).code(status).type('text/plain; charset=utf-8').send(sentence)
}

/** Clients that name JSON on every request send DELETE without a body too. */
function acceptDeleteWithoutBody(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '' && request.method === 'DELETE') done(null)
    else parse(request, body, done)
  })
}

function unknownRoute(routes: RoutePatterns, request: FastifyRequest, reply: FastifyReply): HttpError {
  const url = request.url.split('?', 1)[0] ?? ''
  const found = routes.methodsOf(url)
  const allowed = METHODS.filter((method) => found.has(method))
  const place = JSON.stringify(url.slice(0, 200))
  if (allowed.length === 0) return { status: 404, code: 'HTTP_NOT_FOUND', message: `nothing is at ${place}` }
  reply.header('allow', allowed.join(', '))
  return {
    status: 405,
    code: 'HTTP_METHOD',
    message: `${place} takes no ${request.method}; allowed: ${allowed.join(', ')}`,
  }
}

function sendError(reply: FastifyReply, { status, code, message, retryAfterS = RETRY_AFTER_S }: HttpError): void {
  if (status === 503 || status === 429) reply.header('retry-after', retryAfterS)
  void reply.code(status).type('application/json; charset=utf-8').send({ error: { code, message } })
}

/**
 * Answers what is no request, where the connection still takes an answer. Called again for every chunk that still
 * arrives.
 */
function refuseConnection(http: HttpStats, { code: cause, rawPacket }: ConnectionError, socket: Socket): void {
  if (!socket.writable) return
  const { status, code, message, refusal } = parserErrorOf(cause)
  http.refuse(refusal)
  const body = JSON.stringify({ error: { code, message } })
  const head = `HTTP/1.1 ${status} Refused\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close`
  const isHead = Buffer.isBuffer(rawPacket) && rawPacket.toString('latin1', 0, 5) === 'HEAD '
  socket.end(`${head}\r\n\r\n${isHead ? '' : body}`, () => socket.destroy())
}
