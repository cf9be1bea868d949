import { hostname } from 'node:os'
import {
  admit,
  catalogueRoutes,
  createHttpServer,
  endAnswersWithin,
  HttpStats,
  polledStreamRoute,
  QueryPlaces,
  queryRoutes,
  UnreadAnswers,
} from '@sonde/agent'
import {
  AgentWatch,
  aloneRoutes,
  appRoutes,
  describeConsole,
  ExporterHistory,
  PrometheusHistory,
  pageRoutes,
  scraperRoutes,
  type Webhooks,
  webhookRoutes,
} from '@sonde/console'
import { printable, processTimers } from '@sonde/sdk/internal'
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

/** `sonde console`: the page and the query API over a server with the HTTP API of Prometheus. */
export async function runConsole(loaded: Loaded): Promise<Running> {
  const { host, port, prometheus } = loaded.config.console
  const log = openLog(loaded.config.log.level)
  const management = await openManagement(loaded, host, log)
  const { interval_ms: intervalMs, latency_ms: latencyMs } = prometheus
  const url = management.params.value('prometheus_url')
  if (url === '') {
    throw new ConfigError([
      'console.prometheus.url is missing; give --prometheus http://HOST:9090, set it with sonde params set prometheus_url=…, or run sonde up for a history of its own',
    ])
  }
  const given = { ...(intervalMs > 0 && { intervalMs }), ...(latencyMs > 0 && { latencyMs }) }
  const allowsPrivate = !management.params.isSet('prometheus_url') || loaded.config.access.allow_private_urls
  const history = new PrometheusHistory({ url, allowsPrivate, ...given })
  const webhooks = openWebhooks(loaded, log)
  const app = serverOf(loaded, history, { management, log })
  webhookRoutes(app, webhooks)
  notifyOfParams(management, webhooks)
  await pageRoutes(app)
  endAnswersWithin(app, CLOSE_LIMIT_MS)
  await app.listen({ host, port, exclusive: true }).catch(async (cause: unknown) => {
    await app.close()
    throw listenFault(cause, { host, port, setBy: '--listen' })
  })
  const address = app.server.address()
  const addresses = `http://${hostAndPort(host, typeof address === 'object' && address !== null ? address.port : port)}`
  const fault = await history.look()
  const words = [
    fault === '' ? `history in ${history.transport.address}` : `history FAILING: ${fault}`,
    await accessWords(management.access),
  ]
  console.log(printable(`Sonde is ready on ${addresses} · ${words.filter((each) => each !== '').join(' · ')}`))
  const watch = watchAgents(webhooks, history)
  return {
    addresses,
    async close() {
      watch?.stop()
      await Promise.all([app.close(), webhooks.close()])
    },
  }
}

/** Sends an event when an agent leaves; undefined if nobody wants it. */
function watchAgents(webhooks: Webhooks, history: PrometheusHistory): AgentWatch | undefined {
  if (!webhooks.hasReceivers) return undefined
  const watch = new AgentWatch({
    series: (asked) => history.series(asked),
    notify: (event) => webhooks.notify(event),
    timers: processTimers,
  })
  watch.start()
  return watch
}

/** Parts of a server besides its history. */
interface ServerParts {
  readonly management: Management
  readonly log: Logger
}

function serverOf(loaded: Loaded, history: PrometheusHistory, { management, log }: ServerParts): FastifyInstance {
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
    isEndless: (address) => address.startsWith('/api/v1/stream'),
    admit: (request) => admit(door, request),
    authorize: authorizeBy(management.access),
    moreOf: () => Promise.resolve(''),
  })
  const told = {
    version: VERSION,
    startedMs: Date.now(),
    backend: history.transport.address,
    history,
  }
  aloneRoutes(app, told)
  managementRoutes(app, management)
  // Charts of apps query through the same history, so that all routes see the same rows.
  const { params, access } = management
  const rows = new ExporterHistory(history, () => isScraping(params))
  const unread = new UnreadAnswers(http)
  const places = new QueryPlaces(http, agent.limits.parallel_queries)
  const queried = { history: rows, http, places, unread }
  queryRoutes(app, queried)
  catalogueRoutes(app, rows)
  polledStreamRoute(app, { ...queried, state: () => describeConsole(told), latencyMs: () => history.latencyMs })
  appRoutes(app, {
    ...{ history: rows, place: 'prometheus', limits: appLimits(loaded, params) },
    isEnabled: () => isEnabled(params),
    readers: () => rows.readers(),
    details: () => rows.details(),
  })
  scraperRoutes(app, {
    params,
    audit: access.audit,
    scrapers: async () => [await rows.scraper()],
    reset: async () => void (await rows.scraper()),
  })
  return app
}
