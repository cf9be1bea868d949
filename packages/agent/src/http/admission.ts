import { SondeError } from '@sonde/sdk'
import { allowsHost, hasManyHosts, hostRule, isAskedByForeignPage, isOpenedInTab } from '@sonde/sdk/internal'
import type { FastifyRequest } from 'fastify'
import type { Agent } from '../agent.ts'
import { isScrape } from './metrics.ts'

/**
 * Refuses a request before it takes a place anywhere: one that was sent to another server, or that a page elsewhere
 * makes a browser send. Health checks come from load balancers and kubelets under any name, and learn nothing.
 *
 * @throws SondeError `HTTP_REQUEST`, `HTTP_HOST`, `HTTP_CROSS_SITE` or `HTTP_NOT_FOUND`.
 */
export function refuseStranger(agent: Agent, request: FastifyRequest): void {
  if (hasManyHosts(request.raw)) {
    agent.http.refuse('host')
    throw new SondeError('HTTP_REQUEST', 'the request has more than one Host; allowed: one')
  }
  if (agent.scrapers.has(request.raw.socket)) {
    refuseBeyondScrapes(agent, request)
    return
  }
  const route = request.url.split('?', 1)[0]
  if (route === '/healthz' || route === '/readyz') return
  refuseForeignHost(agent, request)
  refuseForeignPage(agent, request)
}

/**
 * At `scrape_port` there is nothing but the metrics and the health checks, by the route that was found: however an
 * address is spelt, another route is not there. Everybody may ask, under any name.
 */
function refuseBeyondScrapes(agent: Agent, request: FastifyRequest): void {
  const { url = '' } = request.routeOptions
  if (url === '/healthz' || url === '/readyz') return
  if (url !== agent.options.config.export.prometheus.path) {
    agent.http.refuse('scrape_port')
    throw new SondeError('HTTP_NOT_FOUND', 'nothing is here but the metrics and the health checks')
  }
  refuseForeignPage(agent, request)
}

/**
 * Beyond loopback metrics are scraped under whatever name a Prometheus knows the machine by, so that name is not ours
 * to judge.
 */
function refuseForeignHost(agent: Agent, request: FastifyRequest): void {
  const { node, options, http } = agent
  const { host } = request.headers
  const { host: listenHost, allowed_hosts } = options.config.export.prometheus
  const rule = hostRule(listenHost, node, allowed_hosts)
  if (allowsHost(rule, host) || (!rule.isLoopback && isScrape(agent, request))) return
  http.refuse('host')
  const name = JSON.stringify(host?.slice(0, 100))
  throw new SondeError(
    'HTTP_HOST',
    `Host is ${name}, no name of this server; if it is, add it to export.prometheus.allowed_hosts`,
  )
}

/**
 * A link from elsewhere may open the page and the metrics in a tab; the API is for the page itself and for programs.
 */
function refuseForeignPage({ http }: Agent, { raw, url }: FastifyRequest): void {
  if (!isAskedByForeignPage(raw) || (isOpenedInTab(raw) && !url.startsWith('/api/'))) return
  http.refuse('cross_site')
  throw new SondeError(
    'HTTP_CROSS_SITE',
    'a page of another site asks, and gets nothing; open the address in a tab of its own, or ask from a program',
  )
}
