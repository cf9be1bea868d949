import { monitorEventLoopDelay } from 'node:perf_hooks'
import {
  Absences,
  type Batch,
  counter,
  createSource,
  gauge,
  label,
  lossType,
  type Prometheus,
  type RecordType,
  type Source,
  timestamp,
  wallNs,
} from '@sonde/sdk'
import {
  defineOwnType,
  droppedTotal,
  type FieldSets,
  type HistoryStatus,
  reportFieldSets,
  reportLabelFile,
  sourceHealthType,
  storeHealthType,
} from '@sonde/sdk/internal'
import type { Logger } from 'pino'
import type { Hints } from './hints/hints.ts'
import type { Hosts } from './hosting/hosts.ts'
import type { RunningSource } from './hosting/running-source.ts'
import { startTicker, type Ticker } from './hosting/scheduler.ts'
import { usageOf } from './hosting/usage.ts'
import type { Faults } from './pipeline/faults.ts'
import type { HttpStats } from './pipeline/http-stats.ts'
import type { Router } from './pipeline/router.ts'
import { SinkHealth } from './pipeline/sink-health.ts'
import type { Service } from './service/service.ts'

const SELF_INTERVAL_MS = 1000
/** Place in the second: that of a look of the hints, since each wake of a process that rests costs as much as both. */
const PHASE = 0.5
/**
 * Node before 24 knows only a timer, which wakes a process that has nothing to do: one that never fires leaves the
 * value absent.
 */
const NEVER_MS = 2 ** 30

/** The agent's own process. */
const processType = defineOwnType('sonde_process', 'The process of Sonde itself', {
  time: timestamp(),
  resident_memory_bytes: gauge('u64', { unit: 'bytes', help: 'Resident memory' }),
  cpu_seconds_total: counter('f64', { unit: 'seconds', help: 'Processor time, user and system' }),
  loop_turn_max_seconds: gauge('f64', {
    unit: 'seconds',
    help: 'Longest turn of the main loop since the sample before, without the waiting; from Node 24 on',
  }),
  uptime_seconds: gauge('f64', { unit: 'seconds', help: 'Time since the start' }),
})

/** What runs, as every exporter says it: always 1. */
const buildType = defineOwnType('sonde_build', 'The program that runs', {
  time: timestamp(),
  version: label('Version of Sonde'),
  revision: label('Commit that the program was built from; empty if it is not known'),
  info: gauge('u8', { help: 'Always 1; the labels name the program' }),
})

/** Stuck devices: their drivers do not answer. */
const stuckType = defineOwnType('sonde_stuck', 'Devices of which a call does not come back', {
  time: timestamp(),
  source: label('Name of the source'),
  device: label('Device, empty where it is the source as a whole'),
  stuck: gauge('u64', { help: '1 while a call of the device is over its limit' }),
})

/** Child processes: one a library of foreign code. */
const childType = defineOwnType('sonde_child', 'The child process in which the sources of a library run', {
  time: timestamp(),
  host: label('Name of the library'),
  resident_memory_bytes: gauge('u64', { unit: 'bytes', help: 'Resident memory, with what it shares with the agent' }),
  cpu_seconds_total: counter('f64', { unit: 'seconds', help: 'Processor time, user and system' }),
})

/** The listener. */
const httpType = defineOwnType('sonde_http', 'The HTTP listener of Sonde', {
  time: timestamp(),
  requests_total: counter('u64', { help: 'Requests answered' }),
  errors_total: counter('u64', { help: 'Requests that failed by a fault of ours' }),
  streams: gauge('u64', { help: 'Live streams that are open' }),
})

/** Refused requests of the listener. */
const httpRefusalType = defineOwnType(
  'sonde_http_refused',
  'Requests turned away and streams cut short, by reason',
  {
    time: timestamp(),
    reason: label(
      'Why: connections, stream_clients, stream_queries, stream_stalled, parallel_queries, query_cost or host',
    ),
    requests_total: counter('u64', { help: 'Requests turned away, or streams cut short' }),
  },
  { core: [] },
)

/** The types of this file. */
export const SELF_TYPES: readonly RecordType[] = [
  processType,
  buildType,
  stuckType,
  childType,
  httpType,
  httpRefusalType,
]

/** What is reported on. */
export interface SelfOptions {
  readonly version: string
  readonly revision: string
  /** Unit: milliseconds since the Unix epoch. */
  readonly startedMs: number
  readonly hosts: Hosts
  readonly router: Router
  readonly http: HttpStats
  readonly hints: Hints
  readonly fieldSets: FieldSets
  readonly prometheus: Prometheus
  /** Undefined if it is switched off. */
  readonly service: Service | undefined
  readonly faults: Faults
  readonly log: Logger
  /** Undefined if there is no store. */
  readonly storeStatus: (() => HistoryStatus) | undefined
}

/** Reports once a second how sources, sinks, store and process fare, as records like all others. */
export class Self {
  /** Records reported so far. */
  records = 0
  readonly #options: SelfOptions
  readonly #source: Source
  readonly #loopTurns = monitorEventLoopDelay({ samplePerIteration: true, resolution: NEVER_MS })
  #ticker: Ticker | undefined
  readonly #sinks: SinkHealth
  readonly #absences: Absences
  /** Devices that were reported as stuck, by source. */
  readonly #stuck = new Map<string, ReadonlySet<string>>()
  /** Libraries whose child process was reported. */
  readonly #children = new Set<string>()
  #storeState = ''

  constructor(options: SelfOptions) {
    this.#options = options
    this.#sinks = new SinkHealth(options.log)
    const emit = (batch: Batch) => {
      this.records += batch.count
      options.router.accept(batch)
    }
    this.#source = createSource({ id: 'self', intervalMs: SELF_INTERVAL_MS, emit })
    this.#absences = new Absences(this.#source)
  }

  start(): void {
    this.#loopTurns.enable()
    this.#ticker = startTicker(
      SELF_INTERVAL_MS,
      () => this.#report(),
      (error) => this.#options.faults.caught('self', error),
      PHASE,
    )
  }

  stop(): void {
    this.#loopTurns.disable()
    void this.#ticker?.stop(0)
    // Reports open hints a last time: a hint without an end was still open when Sonde stopped.
    this.#options.hints.report(this.#source, { isLast: true })
  }

  /**
   * Reports hints that began or ended at once: a note on an incident must not be stored before the incident, which a
   * kill would then lose.
   */
  reportHintEdges(): void {
    this.#options.hints.reportEdges(this.#source)
  }

  #report(): void {
    const { hosts, router, http, hints, fieldSets, prometheus, service, faults, storeStatus } = this.#options
    for (const running of hosts.sources) this.#reportSource(running)
    this.#reportChildren(hosts.children())
    for (const route of router.routes) {
      this.#sinks.report(this.#source, route)
      reportLoss(this.#source, route.sink.name, route.sink.stats.dropped)
    }
    if (storeStatus !== undefined) this.#reportStore(storeStatus())
    reportHttp(this.#source, http)
    hints.report(this.#source)
    if (fieldSets.isOn) reportFieldSets(this.#source, fieldSets)
    if (prometheus.labelFile !== undefined) reportLabelFile(this.#source, prometheus.labelFile)
    if (service !== undefined) {
      service.report(this.#source)
      reportLoss(this.#source, 'service', service.stats.dropped)
    }
    faults.report(this.#source)
    this.#reportProcess()
    this.#source.collect()
    this.#source.flush()
  }

  #reportSource({ name, state, stuck, stats }: RunningSource): void {
    const row = this.#source.bind(sourceHealthType, { source: name })
    row.gauge('up').set(state === 'reading' ? 1 : 0)
    row.counter('records_total').set(stats.records)
    row.counter('samples_total').set(stats.samples)
    row.counter('errors_total').set(stats.errors)
    row.counter('overruns_total').set(stats.overruns)
    row.counter('restarts_total').set(stats.restarts)
    row.counter('records_dropped_total').set(droppedTotal(stats))
    row.counter('sample_seconds_total').set(stats.sampleSeconds)
    reportLoss(this.#source, name, stats.dropped)
    this.#reportStuck(name, new Set(stuck.map(({ device }) => device)))
  }

  /** One that answers again leaves at once. */
  #reportStuck(source: string, stuck: ReadonlySet<string>): void {
    const before = this.#stuck.get(source)
    for (const device of before ?? []) {
      if (!stuck.has(device)) this.#absences.gone(stuckType, { source, device }, 'its calls come back')
    }
    for (const device of stuck) this.#source.report(stuckType, { time: wallNs(), source, device, stuck: 1 })
    if (stuck.size > 0) this.#stuck.set(source, stuck)
    else if (before !== undefined) this.#stuck.delete(source)
  }

  /** Not bound rows: those would go on telling of a child that ended. */
  #reportChildren(children: ReturnType<Hosts['children']>): void {
    const before = new Set(this.#children)
    this.#children.clear()
    for (const { host, pid } of children) {
      const usage = usageOf(pid)
      if (usage === undefined) continue
      const { residentBytes, cpuSeconds } = usage
      const record = { time: wallNs(), host, resident_memory_bytes: residentBytes, cpu_seconds_total: cpuSeconds }
      this.#source.report(childType, record)
      this.#children.add(host)
    }
    for (const host of before) if (!this.#children.has(host)) this.#absences.gone(childType, { host }, 'it ended')
  }

  #reportProcess(): void {
    const { version, revision, startedMs } = this.#options
    this.#source.bind(buildType, { version, revision }).gauge('info').set(1)
    const row = this.#source.bind(processType, {})
    const { user, system } = process.cpuUsage()
    const residentBytes = residentBytesNow()
    if (residentBytes !== undefined) row.gauge('resident_memory_bytes').set(residentBytes)
    row.counter('cpu_seconds_total').set((user + system) / 1e6)
    if (this.#loopTurns.count > 0) row.gauge('loop_turn_max_seconds').set(this.#loopTurns.max / 1e9)
    row.gauge('uptime_seconds').set((Date.now() - startedMs) / 1000)
    this.#loopTurns.reset()
  }

  /** The page and the metrics show the state; the log says when it changed. */
  #reportStore(status: HistoryStatus): void {
    reportStore(this.#source, status)
    const { state, reason } = status
    if (`${state} ${reason}` === this.#storeState) return
    const isNews = this.#storeState !== '' || reason !== ''
    this.#storeState = `${state} ${reason}`
    if (isNews) this.#options.log[state === 'writing' && reason === '' ? 'info' : 'warn']({ state, reason }, 'store')
  }
}

function reportStore(source: Source, status: HistoryStatus): void {
  const row = source.bind(storeHealthType, {})
  row.gauge('up').set(status.state === 'writing' ? 1 : 0)
  row.gauge('size_bytes').set(status.bytes)
  row.gauge('queued_bytes').set(status.queuedBytes)
  row.gauge('backlog_bytes').set(status.backlogBytes)
  if (status.ackedMs > 0) row.gauge('acked_lag_seconds').set(Math.max(0, Date.now() - status.ackedMs) / 1000)
  row.counter('errors_total').set(status.errors)
  row.counter('corrupt_chunks_total').set(status.corruptChunks)
}

function reportHttp(source: Source, { requests, errors, streams, refused }: HttpStats): void {
  const row = source.bind(httpType, {})
  row.counter('requests_total').set(requests)
  row.counter('errors_total').set(errors)
  row.gauge('streams').set(streams)
  for (const [reason, count] of refused) {
    source.bind(httpRefusalType, { reason }).counter('requests_total').set(count)
  }
}

function reportLoss(source: Source, component: string, dropped: ReadonlyMap<string, number>): void {
  for (const [reason, records] of dropped) {
    source.bind(lossType, { component, reason }).counter('records_total').set(records)
  }
}

/** Resident memory; undefined if no descriptor is left to read it with, which must not end the agent. */
function residentBytesNow(): number | undefined {
  try {
    return process.memoryUsage.rss()
  } catch {
    return undefined
  }
}
