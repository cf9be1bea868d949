import { hostname } from 'node:os'
import {
  admit,
  catalogueRoutes,
  compress,
  createHttpServer,
  endAnswersWithin,
  HttpStats,
  openApiRoute,
  polledStreamRoute,
  QueryPlaces,
  queryRoutes,
  UnreadAnswers,
} from '@sonde/agent'
import {
  Agents,
  AgentWatch,
  aloneRoutes,
  appRoutes,
  describeConsole,
  ExporterHistory,
  isNodeStream,
  nodeRoutes,
  PrometheusHistory,
  pageRoutes,
  podsAnswer,
  scraperRoutes,
  troubleshootingRoutes,
  type WebhookEvent,
  type Webhooks,
  webhookRoutes,
} from '@sonde/console'
import { countOf, printable, processTimers } from '@sonde/sdk/internal'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { ConfigError } from '../config/config-error.ts'
import type { Loaded } from '../config/load.ts'
import { openLog } from '../log.ts'
import { VERSION } from '../version.ts'
import { accessWords, authorizeBy } from './access.ts'
import { appLimits } from './gpu-readers.ts'
import { hostAndPort, listenFault } from './listener.ts'
import {
  isEnabled,
  isScraping,
  type Management,
  managementRoutes,
  notifyOfParams,
  openManagement,
} from './management.ts'
import { openWebhooks } from './open-webhooks.ts'
import type { Running } from './run.ts'

/** How long open answers may still run after the server begins to close. */
const CLOSE_LIMIT_MS = 1000

/**
 * `sonde console`: the page and the API over several agents, over a server with the HTTP API of Prometheus, or both.
 */
export async function runConsole(loaded: Loaded): Promise<Running> {
  const { host, port } = loaded.config.console
  const log = openLog(loaded.config.log.level)
  const management = await openManagement(loaded, host, log)
  const history = openHistory(loaded, management)
  const agents = openAgents(loaded, log)
  if (history === undefined && agents === undefined) {
    throw new ConfigError([
      'the console needs a Prometheus, or agents, or both. Give --prometheus http://HOST:9090, or list agents in console.agents of the configuration file. For this machine alone, run sonde up instead.',
    ])
  }
  const webhooks = openWebhooks(loaded, log)
  const app = serverOf(loaded, { history, agents, management, webhooks, log })
  webhookRoutes(app, webhooks)
  notifyOfParams(management, webhooks)
  await pageRoutes(app)
  endAnswersWithin(app, CLOSE_LIMIT_MS)
  await app.listen({ host, port, exclusive: true }).catch(async (cause: unknown) => {
    await app.close()
    throw listenFault(cause, { host, port, setBy: '--listen' })
  })
  const address = app.server.address()
  const scheme = management.tls === undefined ? 'http' : 'https'
  const addresses = `${scheme}://${hostAndPort(host, typeof address === 'object' && address !== null ? address.port : port)}`
  await agents?.start()
  const words = [await historyWords(history), agentWords(agents), await accessWords(management.access)]
  console.log(printable(`Sonde is ready on ${addresses} · ${words.filter((each) => each !== '').join(' · ')}`))
  const watch = watchAgents(webhooks, agents, history)
  return {
    addresses,
    async close() {
      watch?.stop()
      await Promise.all([app.close(), webhooks.close()])
    },
  }
}

/** The history of all nodes; undefined if none is given. */
function openHistory({ config }: Loaded, { params }: Management): PrometheusHistory | undefined {
  const { interval_ms: intervalMs, latency_ms: latencyMs } = config.console.prometheus
  const url = params.value('prometheus_url')
  if (url === '') return undefined
  const given = { ...(intervalMs > 0 && { intervalMs }), ...(latencyMs > 0 && { latencyMs }) }
  const allowsPrivate = !params.isSet('prometheus_url') || config.access.allow_private_urls
  return new PrometheusHistory({ url, allowsPrivate, ...given })
}

/** The agents that the console asks itself; undefined if none are given. */
function openAgents({ config }: Loaded, log: Logger): Agents | undefined {
  const { agents: given } = config.console
  if (!Agents.isGiven(given)) return undefined
  return new Agents({ config: given, onFault: (fault) => log.warn({ error: fault }, 'agents') })
}

async function historyWords(history: PrometheusHistory | undefined): Promise<string> {
  if (history === undefined) return ''
  const fault = await history.look()
  return fault === '' ? `history in ${history.transport.address}` : `history FAILING: ${fault}`
}

function agentWords(agents: Agents | undefined): string {
  return agents === undefined ? '' : countOf(agents.count, 'agent')
}

/** Sends an event when an agent leaves; undefined if nobody wants it. */
function watchAgents(
  webhooks: Webhooks,
  agents: Agents | undefined,
  history: PrometheusHistory | undefined,
): AgentWatch | undefined {
  if (!webhooks.hasReceivers) return undefined
  const given = { notify: (event: WebhookEvent) => webhooks.notify(event), timers: processTimers }
  const watch =
    agents === undefined
      ? new AgentWatch({ ...given, sign: 'samples', present: async () => history && scrapedAgents(history) })
      : new AgentWatch({ ...given, sign: 'answers', present: async () => agents.reachable })
  watch.start()
  return watch
}

/** The agents of which a Prometheus has samples, by their instance. */
async function scrapedAgents(history: PrometheusHistory): Promise<string[]> {
  const series = await history.series({ metric: 'sonde_process_uptime_seconds' })
  return series.flatMap(({ labels: { instance = '' } }) => (instance === '' ? [] : [instance]))
}

/** Parts of a server. */
interface ServerParts {
  readonly history: PrometheusHistory | undefined
  readonly agents: Agents | undefined
  readonly management: Management
  readonly webhooks: Webhooks
  readonly log: Logger
}

function serverOf(loaded: Loaded, { history, agents, management, webhooks, log }: ServerParts): FastifyInstance {
  const { console: options, agent } = loaded.config
  const http = new HttpStats()
  const door = {
    http,
    listenHost: options.host,
    node: hostname(),
    allowedHosts: options.allowed_hosts,
    key: 'console.allowed_hosts',
  }
  const app = createHttpServer({
    http,
    log,
    connectionCount: agent.limits.connections,
    isEndless: (address) => address.startsWith('/api/v1/stream') || isNodeStream(address),
    admit: (request) => admit(door, request),
    authorize: authorizeBy(management.access),
    tls: management.tls?.certificates,
    moreOf: () => Promise.resolve(''),
  })
  const told = {
    version: VERSION,
    startedMs: Date.now(),
    backend: history?.transport.address ?? '',
    history,
    nodeCount: () => agents?.count,
    certificate: () => management.tls?.status(),
  }
  aloneRoutes(app, told)
  managementRoutes(app, management)
  openApiRoute(app)
  if (agents !== undefined) nodeRoutes(app, agents, { compress })
  const { params, access } = management
  const asked = { params, webhooks, ...(agents !== undefined && { agents }) }
  if (history === undefined) {
    troubleshootingRoutes(app, asked)
    scraperRoutes(app, { params, audit: access.audit })
    return app
  }
  // Charts of apps query through the same history, so that all routes see the same rows.
  const rows = new ExporterHistory(history, () => isScraping(params))
  const unread = new UnreadAnswers(http)
  const places = new QueryPlaces(http, agent.limits.parallel_queries)
  const queried = { history: rows, http, places, unread }
  queryRoutes(app, queried)
  catalogueRoutes(app, rows)
  polledStreamRoute(app, { ...queried, state: () => describeConsole(told), latencyMs: () => history.latencyMs })
  const origin = {
    ...{ history: rows, place: 'prometheus' as const },
    isEnabled: () => isEnabled(params),
    readers: () => rows.readers(),
    details: () => rows.details(),
  }
  const scrapers = async () => [await rows.scraper()]
  appRoutes(app, { ...origin, limits: appLimits(loaded, params) })
  scraperRoutes(app, { params, audit: access.audit, scrapers, reset: async () => void (await scrapers()) })
  troubleshootingRoutes(app, {
    ...asked,
    gpus: {
      ...{ place: 'prometheus', scrapers, readers: origin.readers, backend: told.backend },
      pods: () => podsAnswer(origin),
      targets: () => rows.targets(),
    },
  })
  return app
}
