import type { Socket } from 'node:net'
import { hostname } from 'node:os'
import { type Batch, createPrometheus, type Prometheus, type SondeError } from '@sonde/sdk'
import { FieldSets, FollowedSets, type History } from '@sonde/sdk/internal'
import type { Logger } from 'pino'
import { AddedSimulator } from './added-simulator.ts'
import type { AgentOptions } from './agent-options.ts'
import { destinationRoutes, metricsRoutes, viewRoutes } from './agent-routes.ts'
import { Devices } from './devices/devices.ts'
import { gpuNames } from './devices/gpu-names.ts'
import { podUids } from './devices/pod-uids.ts'
import { Precedence } from './devices/precedence.ts'
import { Hints } from './hints/hints.ts'
import { HintHistory } from './hints/history/hint-history.ts'
import { Hosts } from './hosting/hosts.ts'
import type { RunningSource } from './hosting/running-source.ts'
import { ScraperSwitch, SWITCHED_OFF } from './hosting/scraper-switch.ts'
import { Simulators } from './hosting/simulators.ts'
import { IncidentNotes } from './incidents/incident-notes.ts'
import { IncidentPins } from './incidents/incident-pins.ts'
import { Incidents } from './incidents/incidents.ts'
import { InfoRows } from './infos/info-rows.ts'
import { OriginChanges } from './infos/origin-changes.ts'
import { Life } from './interruptions/life.ts'
import { LookRound } from './look-round.ts'
import { makeService } from './make-service.ts'
import { Faults } from './pipeline/faults.ts'
import { BackedHistory } from './pipeline/history.ts'
import { HttpStats } from './pipeline/http-stats.ts'
import { RecentRing } from './pipeline/recent.ts'
import { Router } from './pipeline/router.ts'
import { devicePlaces } from './pods/device-places.ts'
import { LabelCopies } from './pods/label-copies.ts'
import { PodGpus, type PodGpusOptions } from './pods/pod-gpus.ts'
import { prometheusOptions } from './prometheus-options.ts'
import type { RuleBook } from './rules/rule.ts'
import { Self } from './self.ts'
import type { Service } from './service/service.ts'
import type { DataSourceConfig } from './sources/data-sources.ts'
import { bookSignals, ruleCondition, ruleSignals } from './traceback/book/condition.ts'
import { readInWorker } from './traceback/book/read-in-worker.ts'
import { RulesFile } from './traceback/book/rules-file.ts'
import { tracebackDefaults } from './traceback/config.ts'
import { Traceback } from './traceback/traceback.ts'
import { RuleWatch } from './traceback/watching/rule-watch.ts'
import { seriesName } from './traceback/watching/series-name.ts'

const TRACEBACK_STOP_LIMIT_MS = 1500
const STOP_LIMIT_MS = 2000
/**
 * From the stop until no destination sends any more. A command ends after 4.5 s: the rest is for queues on disk. Unit:
 * milliseconds.
 */
const SENDING_LIMIT_MS = 3500

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
  /** Hints and events of traceback, grouped by cause. */
  readonly incidents: Incidents
  /** What people wrote on incidents. */
  readonly incidentNotes: IncidentNotes
  /** How the life before this start ended. */
  readonly life: Life
  /** The incidents that people keep. */
  readonly incidentPins: IncidentPins
  /** The info metrics. */
  readonly infos: InfoRows
  /** Changes of the origins of metrics. */
  readonly origins: OriginChanges
  /** The pods with GPUs. */
  readonly pods: PodGpus
  /** Connections on the public listener, which serves only metrics and health. */
  readonly scrapers = new WeakSet<Socket>()
  /** Counts of the listener. */
  readonly http = new HttpStats()
  readonly hosts: Hosts
  /** The sources that show a simulated node. */
  readonly simulators: Simulators
  /** Switches scrapers of GPUs off and on. */
  readonly scraperSwitch: ScraperSwitch
  /** The simulated node that may be started while the agent runs. */
  readonly addedSimulator: AddedSimulator
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
  readonly #lookRound: LookRound
  #isClosed = false

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
    this.origins = new OriginChanges((batch) => this.#acceptMade(batch), log)
    this.pods = new PodGpus({
      host: this.node,
      emit: (batch) => this.#acceptMade(batch),
      places: devicePlaces(this.devices, this.node),
      ...this.#labelCopies(config),
      failed: (error) => this.faults.caught('pods', error),
    })
    const own = [this.recent, this.devices, this.hints, this.pods, this.ruleWatch, this.origins]
    const views = [...own, ...(options.sinks ?? [])]
    this.router = new Router(
      [
        ...metricsRoutes(config, [this.prometheus, this.infos]),
        ...viewRoutes(config, views),
        ...destinationRoutes(config, options.version, this.#destinationSets),
      ],
      log,
    )
    this.history = this.#historyOf(options)
    const { history, kept } = options
    const isKept = history !== undefined && kept !== undefined
    this.life = this.#makeLife(options)
    this.hintHistory = new HintHistory(
      this.hints,
      isKept ? { history, records: (request) => kept.records(request) } : undefined,
      () => this.life.interruption,
    )
    const accept = this.router.accept.bind(this.router)
    this.rules = this.#rulesOf(options)
    this.traceback = this.#makeTraceback(options)
    this.incidentNotes = new IncidentNotes({
      emit: (batch) => this.#acceptMade(batch),
      records: isKept ? (request) => kept.records(request) : undefined,
    })
    this.incidentPins = new IncidentPins({ dir: options.pinsDir, kept })
    this.incidents = new Incidents({
      node: this.node,
      hintHistory: this.hintHistory,
      traceback: this.traceback,
      acknowledgedBy: (id) => this.incidentNotes.acknowledgedBy(id),
    })
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
      pausedOf: ({ isSwitched }) => (isSwitched && options.isScraping?.() === false ? SWITCHED_OFF : ''),
    })
    this.scraperSwitch = new ScraperSwitch(() => this.hosts.sources, options.isScraping)
    this.simulators = new Simulators(config.dataSources, this.hosts.sources)
    const { devices, hosts: running, simulators } = this
    this.addedSimulator = new AddedSimulator({ config, devices, hosts: running, simulators })
    this.#lookRound = this.#makeLookRound(log)
    this.service = makeService({ config, log, router: this.router, prometheus: this.prometheus, faults: this.faults })
    const { startedMs, hosts, router, http, hints, fieldSets, prometheus, service, faults } = this
    const { version, revision = '', storeStatus } = options
    const parts = { startedMs, hosts, router, http, hints, fieldSets, prometheus, service, faults }
    this.self = new Self({ ...parts, version, revision, log, storeStatus })
  }

  /** Every source that was configured or added, with its settings. */
  get dataSources(): readonly DataSourceConfig[] {
    return this.addedSimulator.dataSources
  }

  /** Configured sources and how they fare, in the order of the configuration. */
  get sources(): readonly RunningSource[] {
    return this.hosts.sources
  }

  /** Name of a client: its program, or its id if it is not connected. */
  appOf(client: bigint): string {
    return this.service?.programOf(client) ?? `client ${client}`
  }

  /** Has the series of GPUs in `/metrics` follow their pods, if that is configured. */
  #labelCopies({ export: { prometheus } }: AgentOptions['config']): Pick<PodGpusOptions, 'onPods'> {
    if (!prometheus.copy_pod_labels) return {}
    const copies = new LabelCopies({ host: this.node, set: (labels) => this.prometheus.addLabels(labels) })
    return { onPods: (pods) => copies.follow(pods) }
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

  #makeLookRound(log: Logger): LookRound {
    const { hints, hintHistory, infos, origins, pods, devices, hosts, node: here } = this
    const precedence = new Precedence({ devices, sources: hosts.sources, here })
    const of = { devices, sources: hosts.sources, here }
    const names = [gpuNames(of), podUids(of)]
    const onFault = (error: unknown) => this.faults.caught('hints', error)
    const { scraperSwitch: scrapers } = this
    const onHints = () => this.self.reportHintEdges()
    return new LookRound({
      hints,
      hintHistory,
      infos,
      origins,
      pods,
      precedence,
      names,
      scrapers,
      log,
      onFault,
      onHints,
    })
  }

  #makeTraceback({ config, log, version }: AgentOptions): Traceback {
    const { recent, devices, node: host, faults } = this
    return new Traceback({
      ...{ config: config.traceback ?? tracebackDefaults, version, host, recent, devices, log },
      sources: () => this.hosts.sources,
      heldBack: () => edgesHeldBack([...this.hosts.sources, this.ruleWatch]),
      rules: {
        conditionOf: (rule) => ruleCondition(this.rules?.book, rule, recent.types()),
        signalsOf: (rule) => ruleSignals(this.rules?.book, rule),
        listed: () => bookSignals(this.rules?.book),
      },
      appOf: (client) => this.appOf(client),
      accept: (batch) => this.#acceptMade(batch),
      caught: (error) => faults.caught('traceback', error),
    })
  }

  #makeLife({ log, lifeFile: path, storeStatus }: AgentOptions): Life {
    return new Life({
      ...{ path, log },
      storedMs: () => storeStatus?.().ackedMs || undefined,
      emit: (batch) => this.#acceptMade(batch),
      onFault: (error) => this.faults.caught('life', error),
    })
  }

  #acceptMade(batch: Batch): void {
    this.madeRecords += batch.count
    this.router.accept(batch)
  }

  /** Starts every source. Returns at once; `/readyz` says when all were sampled. */
  start(): void {
    for (const { name, definition, options } of this.dataSources) {
      const warning = definition.warning?.(options) ?? ''
      if (warning !== '') this.options.log.warn({ source: name }, warning)
    }
    this.life.start()
    this.self.start()
    void this.fieldSets.tellMissing()
    this.#lookRound.start()
    // No record comes before the field sets of destinations have been read.
    if (this.#destinationSets.isEmpty) this.#startReading()
    else void this.#destinationSets.open().then(() => this.#startReading())
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
    const deadlineMs = performance.now() + SENDING_LIMIT_MS
    await this.life.stop()
    this.self.stop()
    this.#destinationSets.close()
    this.#lookRound.stop()
    this.rules?.stop()
    // Windows come from the hosts: events end before these do.
    await this.traceback.close(TRACEBACK_STOP_LIMIT_MS)
    await Promise.allSettled([this.service?.close(), this.hosts.stop(STOP_LIMIT_MS)])
    await this.router.close(Math.max(0, deadlineMs - performance.now()))
    await this.life.end()
  }
}

/** Events that may not begin, because too many did of their device. */
function edgesHeldBack(
  parts: readonly { readonly stats: { readonly dropped: ReadonlyMap<string, number> } }[],
): number {
  return parts.reduce((sum, { stats }) => sum + (stats.dropped.get('edge_limit') ?? 0), 0)
}
