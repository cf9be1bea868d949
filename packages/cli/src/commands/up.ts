import { dirname, join } from 'node:path'
import { type Agent, createAgent, SimulatedPast, sourceWithPast } from '@sonde/agent'
import { createStore, type EndedNames, isOfPage, pageRoutes, type Store, type Unwritten } from '@sonde/console'
import type { StoreConfig } from '@sonde/console/config'
import { countOf, messageOf } from '@sonde/sdk/internal'
import type { Logger } from 'pino'
import { ConfigError } from '../config/config-error.ts'
import type { Loaded } from '../config/load.ts'
import { lifePath, storePath } from '../config/store-path.ts'
import { openLog } from '../log.ts'
import { readCommand } from '../read-command.ts'
import { REVISION, VERSION } from '../version.ts'
import { accessWords } from './access.ts'
import { consoleRoutes } from './console-routes.ts'
import { tryListeners } from './listeners.ts'
import { isScraping, openManagement } from './management.ts'
import { incidentSinks, openWebhooks } from './open-webhooks.ts'
import { type Running, readyLine, serveAgent, usualSources } from './run.ts'
import { tightenFolders } from './tighten-folders.ts'

/** `sonde up`: agent, embedded store and page on one listener. */
export async function runUp(loaded: Loaded): Promise<Running> {
  const { agent: config, store: storeConfig, log: logConfig } = loaded.config
  const log = openLog(logConfig.level)
  const { path: metricsPath } = config.export.prometheus
  if (isOfPage(metricsPath)) throw new ConfigError([pathFault(loaded, metricsPath)])
  // Listens before the store creates its folder and file, so that a failed start leaves nothing on disk. No request is
  // answered before the store is open.
  await tryListeners(config.export.prometheus)
  await tightenFolders(loaded, log)
  const path = storePath(storeConfig)
  const store = storeConfig.enabled ? await openStore(path, storeConfig) : undefined
  const webhooks = openWebhooks(loaded, log)
  const management = await openManagement(loaded, config.export.prometheus.host, log)
  const sinks = [...(store === undefined ? [] : [store]), ...incidentSinks(webhooks)]
  const agent = createAgent({
    ...{ config, log, version: VERSION, revision: REVISION, originOf: loaded.originOf, sinks },
    lifeFile: lifePath(storeConfig),
    ...(store === undefined ? {} : historyIn(store, path)),
    isScraping: () => isScraping(management.params),
    certificate: () => management.tls?.status(),
  })
  if (store !== undefined) {
    store.onFault = (error) => agent.faults.caught('store', error)
    store.onEnded = (ended) => log.warn(endedLine(ended))
  }
  const oldestMs = store?.status().oldestMs ?? null
  const running = await serveAgent(agent, loaded, management, async (app) => {
    consoleRoutes(app, { agent, loaded, management, webhooks })
    await pageRoutes(app)
  })
  const past = store === undefined ? undefined : startPast({ agent, store, oldestMs, log })
  const words = [store === undefined ? 'no history' : historyWords(store, path), await accessWords(management.access)]
  const extra = words.filter((each) => each !== '').join(' · ')
  console.log(await readyLine(agent, running.addresses, { usual: usualSources(loaded), extra }))
  return {
    ...running,
    async close() {
      await past?.close()
      await running.close()
      if (store?.unwritten !== undefined) console.error(unwrittenLine(store.unwritten, path))
    },
  }
}

interface PastParts {
  readonly agent: Agent
  readonly store: Store
  readonly oldestMs: number | null
  readonly log: Logger
}

/** Fills the history before the start, if the simulated node has a past. */
function startPast({ agent, store, oldestMs, log }: PastParts): SimulatedPast | undefined {
  const source = sourceWithPast(agent.dataSources)
  if (source === undefined) return undefined
  const past = new SimulatedPast({
    ...{ source, startedMs: agent.hosts.startedMs, oldestMs, store },
    ...pastTraceback(agent),
    onProgress: ({ reachedMs, filledShare, tookMs }) => {
      const facts = { filledPercent: Math.floor(100 * filledShare), reachedMs, tookMs: Math.round(tookMs) }
      log.info(facts, 'the past of the simulated node is being filled')
    },
  })
  past.filled
    .then(async (filled) => {
      if (filled === undefined) return await tellGaps({ agent, oldestMs, log })
      log.info(filled, 'the history before the start is filled with the past of the simulated node')
      await agent.hintHistory.recallInto(agent.hints)
    })
    .catch((error: unknown) => log.error({ reason: messageOf(error) }, 'the simulated past is not complete'))
  return past
}

/** A history that reaches back as far keeps its gaps, such as the rest of a past whose filling was stopped. */
async function tellGaps({ agent, oldestMs, log }: Omit<PastParts, 'store'>): Promise<void> {
  const toMs = agent.hosts.startedMs
  if (oldestMs === null || oldestMs >= toMs) return
  const gaps = await agent.hintHistory.unknownIn({ fromMs: oldestMs, toMs })
  const [first] = gaps
  if (first === undefined) return
  const facts = { gaps: gaps.length, firstFromMs: first.fromMs, firstToMs: first.toMs }
  log.info(facts, 'the history has gaps, which the simulated past does not fill')
}

/** The parts with which the past gets events, if there are rules. */
function pastTraceback({ options, rules, traceback, dataSources: sources }: Agent) {
  const { config, version, log } = options
  if (rules === undefined || config.traceback === undefined) return {}
  return { events: { sources, traceback, rules, config: config.traceback, version, log } }
}

/** The parts that an agent gets from a store. */
function historyIn(store: Store, path: string) {
  const kept = { command: readCommand(path), types: store.types.bind(store), records: store.records.bind(store) }
  return { history: store, storeStatus: () => store.status(), kept, pinsDir: join(dirname(path), 'pins') }
}

function unwrittenLine({ records, bytes, reason }: Unwritten, path: string): string {
  return `sonde: ${countOf(records, 'record')} (${Math.ceil(bytes / 1000)} kB) not stored in ${path}: ${reason}`
}

function endedLine({ count, examples }: EndedNames): string {
  const others = count > examples.length ? ` and ${countOf(count - examples.length, 'other')}` : ''
  return `history has ${countOf(count, 'metric name')} of earlier versions: ${examples.join(', ')}${others}; it stays readable under them, but is not continued; CHANGELOG.md lists the new names`
}

function pathFault({ originOf }: Loaded, path: string): string {
  const key = 'export.prometheus.path'
  return `${originOf(key)}: ${key} is ${JSON.stringify(path)}, where the page is; allowed: a path such as /metrics, not that of another route`
}

function openStore(path: string, config: StoreConfig): Promise<Store> {
  return createStore({
    path,
    durability: config.durability,
    retentionDays: config.retention_days,
    rollupRetentionDays: config.rollup_retention_days,
    maxBytes: config.max_bytes,
    queueLimitBytes: config.queue_bytes,
  })
}

function historyWords(store: Store, path: string): string {
  const { state, reason } = store.status()
  if (state === 'failing') return `history FAILING: ${reason}`
  return `history in ${path}${reason === '' ? '' : ` (${reason})`}`
}
