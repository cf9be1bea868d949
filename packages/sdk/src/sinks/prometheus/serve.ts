import { once } from 'node:events'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { hostname } from 'node:os'
import { messageOf, SondeError } from '../../errors.ts'
import type { FieldSets } from '../../fieldset/field-sets.ts'
import type { FieldSet } from '../../fieldset/fieldset.ts'
import { reportFieldSets } from '../../fieldset/health.ts'
import { boundConnections } from '../../internal/bound-connections.ts'
import { hasManyHosts, isAskedByForeignPage, isOpenedInTab } from '../../internal/foreign-page.ts'
import { allowsHost, type HostRule, hostRule } from '../../internal/host-rule.ts'
import { createSource, type Source } from '../../source/source.ts'
import { addressOf, type Endpoint } from './endpoint.ts'
import { answerScrape } from './handler.ts'
import { reportLabelFile } from './health.ts'
import type { Prometheus } from './prometheus.ts'

const CONNECTION_LIMIT = 64
const HEADER_LIMIT_BYTES = 16 << 10
const REQUEST_LIMIT_MS = 10_000
/** An answer that is not read for this time is aborted. */
const SILENCE_LIMIT_MS = 30_000
/** Time for current scrapes when the server closes. */
const CLOSE_LIMIT_MS = 1000

/** Status of errors that are the fault of the request. */
const STATUS_OF: Readonly<Record<string, number>> = { SET_UNKNOWN: 404, SET_CLASS: 400 }

/** A server that listens. */
export interface Serving {
  /** Such as `http://127.0.0.1:9101`, with the port that it got. */
  readonly address: string
  /** Frees the port at once; what is being answered has a second. */
  close(): Promise<void>
}

/**
 * Serves `/metrics`, `/cset/NAME`, `/fset/NAME` and `/NAME`. It does not keep the process alive. `beforeScrape` is
 * called before each answer.
 *
 * @throws what `node:net` says where it cannot listen.
 */
export async function serve(
  view: Prometheus,
  fieldSets: FieldSets,
  { host, port }: Endpoint,
  beforeScrape: () => void = () => undefined,
): Promise<Serving> {
  const source = createSource({ id: 'self', emit: (batch) => view.accept(batch) })
  const rule = hostRule(host, hostname(), [])
  const options = {
    maxHeaderSize: HEADER_LIMIT_BYTES,
    requestTimeout: REQUEST_LIMIT_MS,
    headersTimeout: REQUEST_LIMIT_MS,
  }
  // Only here: it takes 6 MB, also of processes that serve nothing.
  const { createServer } = await import('node:http')
  const server = createServer(options, routes(view, fieldSets, source, rule, beforeScrape))
  boundConnections(server, { count: CONNECTION_LIMIT, silenceMs: SILENCE_LIMIT_MS })
  server.on('connection', (socket) => socket.unref())
  // Workers of node:cluster would share one port, and each scrape would reach another of them.
  server.listen({ host, port, exclusive: true })
  await once(server, 'listening')
  server.unref()
  const bound = server.address()
  const free = typeof bound === 'object' && bound !== null ? bound.port : port
  return { address: addressOf({ host, port: free }), close: () => closeServer(server) }
}

function routes(
  view: Prometheus,
  fieldSets: FieldSets,
  source: Source,
  rule: HostRule,
  beforeScrape: () => void,
): RequestListener {
  return async (request, response) => {
    if (hasManyHosts(request)) return tell(response, 400, 'the request has more than one Host')
    if (!allowsHost(rule, request.headers.host)) return tell(response, 421, 'Host is no name of this server')
    if (isAskedByForeignPage(request) && !isOpenedInTab(request))
      return tell(response, 403, 'a page of another site asks, and gets nothing')
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD')
      return tell(response, 405, 'metrics are read with GET')
    }
    try {
      const filter = await filterOf(fieldSets, request)
      beforeScrape()
      await reportFiles(source, view, fieldSets)
      await answerScrape(view, request, response, filter)
    } catch (error) {
      const { code = '' } = error as { code?: string }
      const status = STATUS_OF[code] ?? 503
      if (status === 503) view.stats.errors++
      tell(response, status, messageOf(error))
    }
  }
}

/** Shows in the scrape how the files fare that it is made with. */
async function reportFiles(source: Source, view: Prometheus, fieldSets: FieldSets): Promise<void> {
  await view.followLabelFile()
  if (fieldSets.isOn) reportFieldSets(source, fieldSets)
  if (view.labelFile !== undefined) reportLabelFile(source, view.labelFile)
  source.collect()
  source.emit()
}

/** @throws SondeError `SET_UNKNOWN` if nothing is at the address. */
async function filterOf(fieldSets: FieldSets, { url = '' }: IncomingMessage): Promise<FieldSet | undefined> {
  const path = url.split('?', 1)[0] ?? ''
  if (path === '/metrics') return undefined
  const [, kind, name = ''] = /^\/(?:(cset|fset)\/)?([^/]*)$/.exec(path) ?? []
  if (kind === 'cset' || kind === 'fset') return fieldSets.get(name, kind)
  const filter = await fieldSets.find(name)
  if (filter !== undefined) return filter
  const place = JSON.stringify(path.slice(0, 100))
  throw new SondeError(
    'SET_UNKNOWN',
    `nothing is at ${place}; metrics are at /metrics; of field sets ${await fieldSets.listed()}`,
  )
}

function tell(response: ServerResponse, status: number, sentence: string): void {
  if (response.headersSent) response.destroy()
  else response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${sentence}\n`)
}

async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return
  const closed = once(server, 'close')
  server.close()
  const limit = setTimeout(() => server.closeAllConnections(), CLOSE_LIMIT_MS)
  await closed
  clearTimeout(limit)
}
