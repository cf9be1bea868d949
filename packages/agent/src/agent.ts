import type { Socket } from 'node:net'
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { type Batch, createPrometheus, type Prometheus, type Sink, SondeError } from '@sonde/sdk'
import type { StoreAnswer } from '@sonde/sdk/api'
import { FieldSets, FollowedSets, type History, messageOf, openDestination, Route } from '@sonde/sdk/internal'
import type { Logger } from 'pino'
import { type AgentConfig, destinationsOf } from './config.ts'
import { Devices } from './devices/devices.ts'
import { hardwareTypes, ownKinds } from './devices/own-kinds.ts'
import { Precedence } from './devices/precedence.ts'
import { ASK_EVERY_MS, Hints } from './hints/hints.ts'
import { HintHistory } from './hints/history/hint-history.ts'
import { Hosts } from './hosting/hosts.ts'
import type { RunningSource } from './hosting/running-source.ts'
import { startTicker, type Ticker } from './hosting/scheduler.ts'
import { Simulators } from './hosting/simulators.ts'
import { InfoRows } from './infos/info-rows.ts'
import { INFO_METRICS } from './infos/type.ts'
import { Faults } from './pipeline/faults.ts'
import { BackedHistory } from './pipeline/history.ts'
import { HttpStats } from './pipeline/http-stats.ts'
import type { KeptRecords } from './pipeline/kept-records.ts'
import { RecentRing } from './pipeline/recent.ts'
import { Router } from './pipeline/router.ts'
import { PodGpus } from './pods/pod-gpus.ts'
import { appGpuType, podGpuType, sharedGpuType } from './pods/type.ts'
import { prometheusOptions } from './prometheus-options.ts'
import type { RuleBook } from './rules/rule.ts'
import { Self } from './self.ts'
import { Service } from './service/service.ts'
import { checkDataSources, type DataSourceConfig } from './sources/data-sources.ts'
import { bookSignals, ruleCondition, ruleSignals } from './traceback/book/condition.ts'
import { readInWorker } from './traceback/book/read-in-worker.ts'
import { RulesFile } from './traceback/book/rules-file.ts'
import { tracebackDefaults } from './traceback/config.ts'
import { Traceback } from './traceback/traceback.ts'
import { RuleWatch } from './traceback/watching/rule-watch.ts'
import { seriesName } from './traceback/watching/series-name.ts'

/** Options of {@link createAgent}. */
export interface AgentOptions {
  readonly config: AgentConfig
  readonly log: Logger
  /** Version that `/api/v1/node` tells. */
  readonly version: string
  /** Commit of the program, for `sonde_build_info`. Default: not known. */
  readonly revision?: string
  /** Origin of the value at a key path of the configuration: a flag, a variable, `file:line`, or `default`. */
  readonly originOf?: (path: string) => string
  /** Sinks beside the agent's own views. */
  readonly sinks?: readonly Sink[]
  /** The history for queries. Default: the ring of the last minutes. */
  readonly history?: History
  readonly storeStatus?: () => StoreAnswer
  /** What lists and prints the records of the store. Default: there is none. */
  readonly kept?: KeptRecords
  /** URL of the module whose `SOURCES` child processes look their source up in. Default: the registry. */
  readonly sourcesModule?: string
}

const TRACEBACK_STOP_LIMIT_MS = 1500
const STOP_LIMIT_MS = 2000
const RECALL_AGAIN_MS = 10_000

/** Makes an agent; nothing runs before `start`. */
export function createAgent(options: AgentOptions): Agent {
  return new Agent(options)
}

/** Sources, router and views of one node. See {@link createAgent}. */
export class Agent {
  readonly node = hostname()
  readonly startedMs = Date.now()
  readonly options: AgentOptions
  readonly router: Router
  readonly recent: RecentRing
  readonly prometheus: Prometheus
  /** The parts of `/metrics` with their own paths. */
  readonly fieldSets: FieldSets
  readonly history: History
  /** What the node has. */
  readonly devices: Devices
  /** The hints of the node. */
  readonly hints: Hints
  /** What rules saw, in any window of the past. */
  readonly hintHistory: HintHistory
  /** The info metrics. */
  readonly infos: InfoRows
  /** The pods with GPUs. */
  readonly pods: PodGpus
  /** Connections on the public listener, which serves only metrics and health. */
  readonly scrapers = new WeakSet<Socket>()
  /** Counts of the listener. */
  readonly http = new HttpStats()
  readonly hosts: Hosts
  /** The sources that show a simulated node. */
  readonly simulators: Simulators
  /** What was caught where it could have ended the process. */
  readonly faults: Faults
  /** The telemetry service; undefined if it is switched off. */
  readonly service: Service | undefined
  readonly self: Self
  /** Traceback: rules and events. */
  readonly traceback: Traceback
  /** Has the rules watched wherever their signals are. */
  readonly ruleWatch: RuleWatch
  /** The rules; undefined if none are configured. */
  readonly rules: RulesFile | undefined
  /** Records that the agent made of others: rows of pods, marks of events. */
  madeRecords = 0
  readonly #destinationSets: FollowedSets
  readonly #precedence: Precedence
  #hintTicker: Ticker | undefined
  #isClosed = false
  /** Sources that were added since the start. */
  readonly #added: DataSourceConfig[] = []

  constructor(options: AgentOptions) {
    const { config, log } = options
    this.options = options
    this.faults = new Faults(log)
    const { series_expiry_s, cset_dir: csetDir, fset_dir: fsetDir } = config.export.prometheus
    const onFault = ({ code, message }: SondeError) => log.error({ code }, message)
    this.prometheus = createPrometheus({ ...prometheusOptions(config), onFault })
    this.fieldSets = new FieldSets({ csetDir, fsetDir, onFault })
    this.#destinationSets = new FollowedSets(this.fieldSets)
    this.recent = new RecentRing({ windowS: config.limits.recent_window_s, limitBytes: config.limits.recent_bytes })
    this.devices = new Devices({ expiryS: series_expiry_s, host: this.node })
    this.hints = new Hints({
      devices: this.devices,
      ruleFailed: (rule, error) => log.error({ rule, error }, 'a rule of hints fails; the others go on'),
    })
    this.ruleWatch = this.#makeRuleWatch(options)
    this.infos = new InfoRows((batch) => this.#acceptMade(batch))
    this.pods = new PodGpus({
      host: this.node,
      emit: (batch) => this.#acceptMade(batch),
      failed: (error) => this.faults.caught('pods', error),
    })
    const own = [this.recent, this.devices, this.hints, this.pods, this.ruleWatch]
    const views = [...own, ...(options.sinks ?? [])]
    this.router = new Router(
      [
        ...this.#metricsRoutes(config, [this.prometheus, this.infos]),
        ...this.#viewRoutes(config, views),
        ...this.#openDestinations(options),
      ],
      log,
    )
    this.history = this.#historyOf(options)
    const { history, kept } = options
    const isKept = history !== undefined && kept !== undefined
    this.hintHistory = new HintHistory(
      this.hints,
      isKept ? { history, records: (request) => kept.records(request) } : undefined,
    )
    const accept = this.router.accept.bind(this.router)
    this.rules = this.#rulesOf(options)
    this.traceback = this.#makeTraceback(options)
    const onReading = (source: string) => {
      this.simulators.reads(source).catch((error: unknown) => this.faults.caught('simulators', error))
    }
    this.hosts = new Hosts(config.dataSources, {
      ...{ config, log, onReading, sourcesModule: options.sourcesModule },
      accept: (batch) => {
        this.traceback.note(batch)
        accept(batch)
      },
      onEdge: (source, edge) => this.ruleWatch.take(source, edge),
      onLost: (source) => {
        this.ruleWatch.lose(source)
        this.traceback.onLost(source)
      },
      startsAMinute: (config.traceback ?? tracebackDefaults).events_per_minute,
    })
    this.simulators = new Simulators(config.dataSources, this.hosts.sources)
    this.#precedence = new Precedence({ devices: this.devices, sources: this.hosts.sources, here: this.node })
    this.service = config.service.enabled ? this.#makeService(options) : undefined
    const { startedMs, hosts, router, http, hints, fieldSets, prometheus, service, faults } = this
    const { version, revision = '', storeStatus } = options
    const told = { startedMs, hosts, router, http, hints, fieldSets, prometheus, service, faults }
    this.self = new Self({ ...told, version, revision, log, storeStatus })
  }

  /** `/metrics` leaves out records that other exporters export, and so do the facts about their devices. */
  #metricsRoutes({ dataSources }: AgentConfig, sinks: readonly Sink[]): Route[] {
    const sources = new Map(dataSources.filter(({ definition }) => definition.isExported).map((one) => [one.name, one]))
    const leavesOut = ({ origin, source, type }: Batch) => {
      const { definition, options = {} } = (origin === 'own' ? sources.get(source.id) : undefined) ?? {}
      return definition?.isExported?.(options, type.name) === false
    }
    return sinks.map((sink) => new Route(sink, sources.size === 0 ? {} : { leavesOut }))
  }

  /** The ways to what the agent itself makes of records, and to history: types for export are not theirs. */
  #viewRoutes({ dataSources }: AgentConfig, views: readonly Sink[]): Route[] {
    const types = new Set(dataSources.flatMap(({ definition }) => definition.exportTypes ?? []).map(({ name }) => name))
    const options =
      types.size === 0 ? {} : { leavesOut: ({ origin, type }: Batch) => origin === 'own' && types.has(type.name) }
    return views.map((sink) => new Route(sink, options))
  }

  /** Drops of destinations are reported with those of all sinks. */
  #openDestinations({ config, version }: AgentOptions): Route[] {
    const context = { schema: 'sonde', version, types: [] }
    return destinationsOf(config).map((destination) =>
      openDestination(destination, context, (set) => this.#destinationSets.follow(set)),
    )
  }

  /** Every source that was configured or added, with its settings. */
  get dataSources(): readonly DataSourceConfig[] {
    return [...this.options.config.dataSources, ...this.#added]
  }

  /**
   * Why the simulated node cannot be started while the agent runs, as a sentence; empty if it can: on a machine
   * without hardware of its own to show, from which nothing simulated would leave.
   */
  get simulationRefusal(): string {
    const { config } = this.options
    const hasHardware = ({ kind, isSimulated }: { readonly kind: string; readonly isSimulated: boolean }) =>
      !isSimulated && (kind === 'gpu' || kind === 'nic')
    if (this.simulators.leader !== undefined) return 'a simulated node runs here already'
    if (this.dataSources.some(({ name }) => name === SIMULATOR))
      return `a source is called ${SIMULATOR}; start sonde with --simulate`
    if (this.devices.list().some(hasHardware))
      return 'this machine has GPUs or NICs of its own; start sonde with --simulate'
    if (destinationsOf(config).length > 0)
      return 'records are exported, and simulated ones would be among them; start sonde with --simulate'
    return ''
  }

  /**
   * Starts the simulated node, until the agent ends: as `--simulate` does.
   *
   * @throws SondeError `SIM_OFF` where {@link simulationRefusal} says why not.
   */
  simulate(): void {
    const reason = this.simulationRefusal
    if (reason !== '') throw new SondeError('SIM_OFF', `the simulated node is not started: ${reason}`)
    const checked = checkDataSources([{ type: SIMULATOR }])
    if (!checked.ok) throw new Error(`the simulator has no defaults: ${JSON.stringify(checked.issues)}`)
    this.#added.push(...checked.value)
    for (const source of checked.value) this.hosts.add(source)
    this.simulators.look(this.dataSources, this.hosts.sources)
  }

  /** Configured sources and how they fare, in the order of the configuration. */
  get sources(): readonly RunningSource[] {
    return this.hosts.sources
  }

  /** Name of a client: its program, or its id if it is not connected. */
  appOf(client: bigint): string {
    return this.service?.programOf(client) ?? `client ${client}`
  }

  #historyOf({ history, storeStatus }: AgentOptions): History {
    if (history === undefined) return this.recent
    return storeStatus === undefined ? history : new BackedHistory(history, this.recent, storeStatus)
  }

  #rulesOf({ config, log }: AgentOptions): RulesFile | undefined {
    const path = config.traceback?.rules
    const onBook = (book: RuleBook) => this.ruleWatch.set(book)
    return path === undefined ? undefined : new RulesFile({ path, read: readInWorker, log, onBook })
  }

  #makeRuleWatch({ config }: AgentOptions): RuleWatch {
    return new RuleWatch({
      sources: () => this.hosts.sources,
      emit: (batch) => this.#acceptMade(batch),
      onEdge: (source, edge, from) => this.traceback.onEdge(source, edge, from),
      deviceOf: (type, labels, app) => this.devices.deviceOf(type, labels)?.id ?? seriesName(app, type, labels),
      appOf: (client) => this.appOf(client),
      startsAMinute: (config.traceback ?? tracebackDefaults).events_per_minute,
    })
  }

  #makeTraceback({ config, log, version }: AgentOptions): Traceback {
    const { recent, devices, node: host, faults } = this
    return new Traceback({
      ...{ config: config.traceback ?? tracebackDefaults, version, host, recent, devices, log },
      sources: () => this.hosts.sources,
      heldBack: () => edgesHeldBack([...this.hosts.sources, this.ruleWatch]),
      rules: {
        conditionOf: (rule) => ruleCondition(this.rules?.book, rule),
        signalsOf: (rule) => ruleSignals(this.rules?.book, rule),
        listed: () => bookSignals(this.rules?.book),
      },
      appOf: (client) => this.appOf(client),
      accept: (batch) => this.#acceptMade(batch),
      caught: (error) => faults.caught('traceback', error),
    })
  }

  #acceptMade(batch: Batch): void {
    this.madeRecords += batch.count
    this.router.accept(batch)
  }

  #makeService({ config: { service, dataSources }, log }: AgentOptions): Service {
    const { router, prometheus, faults } = this
    const types = dataSources.flatMap(({ definition }) => definition.types)
    const waitedFor = router.routes.filter(({ acknowledges }) => acknowledges)
    return new Service({
      config: service,
      log,
      faults,
      sinks: router.sinks,
      ownKinds: ownKinds(types),
      madeMetrics: new Set(
        [
          podGpuType,
          sharedGpuType,
          appGpuType,
          ...INFO_METRICS.map(({ type }) => type),
          ...hardwareTypes(types),
        ].flatMap(({ metrics }) => [...metrics.values()]),
      ),
      waitedFor: waitedFor.map(({ sink }) => sink),
      accept: (batch) => router.accept(batch),
      room: (source) => router.room(source),
      gone(source) {
        prometheus.removeSource(source)
        for (const route of router.routes) route.retire(source)
      },
    })
  }

  /** Starts every source. Returns at once; `/readyz` says when all were sampled. */
  start(): void {
    this.self.start()
    void this.#recallHints()
    void this.fieldSets.tellMissing()
    const failed = (error: unknown) => this.faults.caught('hints', error)
    this.#hintTicker = startTicker(ASK_EVERY_MS, () => this.#look(), failed, 0)
    // No record comes before the field sets of destinations have been read.
    if (this.#destinationSets.isEmpty) this.#startReading()
    else void this.#destinationSets.open().then(() => this.#startReading())
  }

  /** Looks at what came. Where a rule holds or pods have GPUs there may be more to tell before the next look. */
  async #look(): Promise<void> {
    this.#evaluate()
    if (!(this.pods.knowsPods || this.hints.isHolding)) return
    await delay(ASK_EVERY_MS / 2, undefined, { ref: false })
    this.#evaluate()
  }

  #evaluate(): void {
    this.#precedence.tell()
    this.infos.evaluate(performance.now())
    this.pods.evaluate(performance.now())
    this.hints.evaluate(Date.now(), performance.now())
  }

  /** Asks a store that opens slowly again; until then, hints say that the time before the start is unknown. */
  async #recallHints(toldReason = ''): Promise<void> {
    if (this.#isClosed) return
    try {
      await this.hintHistory.recallInto(this.hints)
    } catch (error) {
      const reason = messageOf(error)
      const again = `hints of before are not read yet; it is tried again every ${RECALL_AGAIN_MS} ms`
      if (reason !== toldReason) this.options.log.warn({ reason }, again)
      setTimeout(() => void this.#recallHints(reason), RECALL_AGAIN_MS).unref()
    }
  }

  #startReading(): void {
    if (this.#isClosed) return
    this.rules?.start()
    this.traceback.start()
    this.hosts.start()
    this.service?.start()
  }

  /** Stops sources, then flushes and closes sinks; within the limits also while a source hangs. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.self.stop()
    this.#destinationSets.close()
    void this.#hintTicker?.stop(0)
    this.rules?.stop()
    // Windows come from the hosts: events end before these do.
    await this.traceback.close(TRACEBACK_STOP_LIMIT_MS)
    await Promise.allSettled([this.service?.close(), this.hosts.stop(STOP_LIMIT_MS)])
    await this.router.close()
  }
}

/** Kind and name of the source that is added when the simulated node is asked for. */
const SIMULATOR = 'simulator'

/** Events that may not begin, because too many did of their device. */
function edgesHeldBack(
  parts: readonly { readonly stats: { readonly dropped: ReadonlyMap<string, number> } }[],
): number {
  return parts.reduce((sum, { stats }) => sum + (stats.dropped.get('edge_limit') ?? 0), 0)
}
