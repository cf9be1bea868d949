import { SondeError } from '@sonde/sdk'
import { allowsHost, hasManyHosts, hostRule, isAskedByForeignPage, isOpenedInTab } from '@sonde/sdk/internal'
import type { FastifyRequest } from 'fastify'
import type { Agent } from '../agent.ts'
import type { HttpStats } from '../pipeline/http-stats.ts'
import { isScrape } from './metrics.ts'

/** The host names of a server, and the allowed senders. */
export interface Door {
  readonly http: HttpStats
  /** Address that is listened on. */
  readonly listenHost: string
  /** Name of the machine. */
  readonly node: string
  readonly allowedHosts: readonly string[]
  /** Key of the configuration that allows more names. */
  readonly key: string
}

/**
 * Refuses a request for another server, or from a foreign page in a browser, before it uses any resource. Health checks
 * of load balancers and kubelets may use any host name, because the answer has no data.
 *
 * @param isScrape Whether the request scrapes metrics. Default: the server has none.
 * @throws SondeError `HTTP_REQUEST`, `HTTP_HOST` or `HTTP_CROSS_SITE`.
 */
export function admit(door: Door, request: FastifyRequest, isScrape: () => boolean = () => false): void {
  refuseManyHosts(door.http, request)
  const route = request.url.split('?', 1)[0]
  if (route === '/healthz' || route === '/readyz') return
  refuseForeignHost(door, request, isScrape)
  refuseForeignPage(door.http, request)
}

/**
 * {@link admit} of an agent, which may have a port for scrapes alone.
 *
 * @throws SondeError `HTTP_REQUEST`, `HTTP_HOST`, `HTTP_CROSS_SITE` or `HTTP_NOT_FOUND`.
 */
export function refuseStranger(agent: Agent, request: FastifyRequest): void {
  const { node, http, options, scrapers } = agent
  if (scrapers.has(request.raw.socket)) {
    refuseManyHosts(http, request)
    refuseBeyondScrapes(agent, request)
    return
  }
  const { host: listenHost, allowed_hosts: allowedHosts } = options.config.export.prometheus
  const door = { http, listenHost, node, allowedHosts, key: 'export.prometheus.allowed_hosts' }
  admit(door, request, () => isScrape(agent, request))
}

function refuseManyHosts(http: HttpStats, { raw }: FastifyRequest): void {
  if (!hasManyHosts(raw)) return
  http.refuse('host')
  throw new SondeError('HTTP_REQUEST', 'the request has more than one Host; allowed: one')
}

/**
 * `scrape_port` serves only metrics and health checks. The check uses the matched route, so that no spelling of an
 * address reaches another route. Any client may use it, with any host name.
 */
function refuseBeyondScrapes(agent: Agent, request: FastifyRequest): void {
  const { url = '' } = request.routeOptions
  if (url === '/healthz' || url === '/readyz') return
  if (url !== agent.options.config.export.prometheus.path) {
    agent.http.refuse('scrape_port')
    throw new SondeError('HTTP_NOT_FOUND', 'nothing is here but the metrics and the health checks')
  }
  refuseForeignPage(agent.http, request)
}

/**
 * Beyond loopback metrics are scraped under whatever name a Prometheus knows the machine by, so that name is not ours
 * to judge.
 */
function refuseForeignHost(door: Door, { headers: { host } }: FastifyRequest, isScrape: () => boolean): void {
  const rule = hostRule(door.listenHost, door.node, door.allowedHosts)
  if (allowsHost(rule, host) || (!rule.isLoopback && isScrape())) return
  door.http.refuse('host')
  const name = JSON.stringify(host?.slice(0, 100))
  throw new SondeError('HTTP_HOST', `Host is ${name}, no name of this server; if it is, add it to ${door.key}`)
}

/**
 * A link from elsewhere may open the page and the metrics in a tab; the API is for the page itself and for programs.
 */
function refuseForeignPage(http: HttpStats, { raw, url }: FastifyRequest): void {
  if (!isAskedByForeignPage(raw) || (isOpenedInTab(raw) && !url.startsWith('/api/'))) return
  http.refuse('cross_site')
  throw new SondeError(
    'HTTP_CROSS_SITE',
    'a page of another site asks, and gets nothing; open the address in a tab of its own, or ask from a program',
  )
}
