import {
  type Batch,
  countDrop,
  type Labels,
  type RecordType,
  type Sink,
  type Source,
  type SourceInfo,
  sinkStats,
} from '@sonde/sdk'
import { createOwnSource, Quota, type QuotaHolder } from '@sonde/sdk/internal'
import { EdgeGate, type HostEdge } from '../../hosting/edge-gate.ts'
import { reportMark } from '../../hosting/edge-mark.ts'
import type { RunningSource } from '../../hosting/running-source.ts'
import { acceptBatch } from '../../pipeline/accept-batch.ts'
import { Combinations } from '../../rules/combinations.ts'
import type { RuleBook } from '../../rules/rule.ts'
import type { RuleEdge } from '../../rules/rule-edge.ts'
import { NO_WATCH } from '../../rules/watch.ts'
import type { EdgeOrigin } from '../traceback.ts'
import { type EventClock, nsToMs } from '../window/clock.ts'
import { TRACEBACK_SOURCE } from '../window/open-event.ts'
import { HoldingEdges } from './holding-edges.ts'
import { type LeftReporter, type ReportedEdge, ReportedSignals } from './reported-signals.ts'
import { watchOfBook } from './watch-of-book.ts'
import { type WatchedRing, type WatchedSeriesPlace, watchedRings } from './watched-place.ts'

/** Options of a {@link RuleWatch}. */
export interface RuleWatchOptions {
  readonly sources: () => readonly RunningSource[]
  /** Takes marks. */
  readonly emit: (batch: Batch) => void
  /** Called with each edge: of rings, of reported records, and of combinations. */
  readonly onEdge: (source: string, edge: HostEdge, from: EdgeOrigin) => void
  /** The device of a series: its id in the list of devices, or a name for people. */
  readonly deviceOf: (type: RecordType, labels: Labels, app: string) => string
  /** The name of a client. */
  readonly appOf: (client: bigint) => string
  /** Events of one device that may start in a minute. */
  readonly startsAMinute: number
  /** The clock of the records, from whose time on events are numbered. Default: the clocks of the machine. */
  readonly clock?: EventClock
}

/** Most open events of reported records and combinations; clients have shares of them. */
const OPEN_MAX = 256
/** Most listed devices of a rule. */
const LISTED_MAX = 256
/** How old the list of devices may be. Unit: milliseconds. */
const PLACED_MS = 250
/** How often rules of absence are evaluated. Unit: milliseconds. */
const WAIT_MS = 100
/** How often hosts are asked for their watched rings. Unit: milliseconds. */
const ASK_MS = 2000

/** An event that is open. */
interface StartedEvent {
  readonly source: string
  readonly edge: RuleEdge
  readonly holder: QuotaHolder
  /** Identifies the series that began it. */
  readonly key: string
}

/** Watches the rules of a file on all their signals: in the rings of hosts, and in reported records. */
export class RuleWatch implements Sink {
  readonly name = 'traceback'
  readonly stats = sinkStats()
  readonly #options: RuleWatchOptions
  readonly #reported: ReportedSignals
  readonly #source: Source
  readonly #edges: EdgeGate
  readonly #places = new Quota(OPEN_MAX)
  /** Open events, by rule and device of the gate. */
  readonly #going = new Map<string, StartedEvent>()
  #combinations = new Combinations([])
  /** Rules that hold in rings, for combinations. */
  readonly #inHosts = new HoldingEdges()
  /** Clients whose edges began active combinations, by rule. */
  readonly #holders = new Map<string, QuotaHolder>()
  #watched: readonly RunningSource[] = []
  /** Rules with edges that are passed on. Others belong to combinations, or to a source itself. */
  #rules: ReadonlySet<string> = new Set()
  #timer: NodeJS.Timeout | undefined
  /** Devices whose rings rules watch, by rule, as the hosts last reported. */
  #inRings: readonly (readonly [rule: string, device: string])[] = []
  #placed: ReadonlyMap<string, readonly string[]> = new Map()
  #placedMs = Number.NEGATIVE_INFINITY
  #askedMs = Number.NEGATIVE_INFINITY

  constructor(options: RuleWatchOptions) {
    this.#options = options
    const { clock } = options
    const fromMs = clock === undefined ? Date.now() : nsToMs(clock.monoNs() + clock.wallOffsetNs())
    this.#edges = new EdgeGate({ startsMax: options.startsAMinute, fromMs })
    this.#source = createOwnSource({
      ...{ id: TRACEBACK_SOURCE, intervalMs: 1000, labels: {}, emit: options.emit },
      onLoss: (reason, records) => countDrop(this.stats, reason, records),
    })
    const { deviceOf, appOf } = options
    this.#reported = new ReportedSignals({
      ...{ deviceOf, appOf, onEdge: (edge) => this.#fromReported(edge) },
      ...(clock === undefined ? {} : { clock }),
    })
  }

  /**
   * Replaces the watched rules.
   * @throws SondeError `AGT_TAP` if a ring does not reach back far enough for a rule; then no rule of its source is
   * watched.
   */
  async set(book: RuleBook): Promise<void> {
    const { rules, signals } = book
    const watch = watchOfBook(book)
    // Ends open events here, because the old rules may be gone and all rings start again.
    const monoNs = process.hrtime.bigint()
    for (const { source, edge, holder, key } of [...this.#going.values()])
      this.#tell(source, { ...edge, monoNs, isStart: false }, holder, key)
    this.#placedMs = Number.NEGATIVE_INFINITY
    this.#rules = new Set(rules.map(({ name }) => name))
    this.#combinations = new Combinations(rules)
    this.#holders.clear()
    this.#inHosts.clear()
    this.#reported.watch(watch)
    clearInterval(this.#timer)
    const waits = watch.rules.some(({ test }) => test.kind === 'absent')
    this.#timer = waits ? setInterval(() => this.#reported.wait(process.hrtime.bigint()), WAIT_MS).unref() : undefined
    const types = new Set(signals.map(({ type }) => type))
    const sources = this.#options
      .sources()
      .filter(({ definition }) => definition.types.some(({ name }) => types.has(name)))
    const former = this.#watched.filter((source) => !sources.includes(source))
    this.#watched = sources
    await Promise.all([
      ...sources.map((source) => source.watch(watch)),
      ...former.map((source) => source.watch(NO_WATCH)),
    ])
  }

  /** The first devices that each rule watches. A rule without any signal is left out. */
  devices(): ReadonlyMap<string, readonly string[]> {
    this.#askHosts()
    const nowMs = performance.now()
    if (nowMs - this.#placedMs < PLACED_MS) return this.#placed
    const placed = new Map<string, Set<string>>()
    const add = ([rule, device]: readonly [string, string]) => {
      const devices = placed.get(rule)
      if (devices === undefined) placed.set(rule, new Set([device]))
      else if (devices.size < LISTED_MAX) devices.add(device)
    }
    // Devices of the agent's rings come first, so that names of applications cannot displace them.
    for (const one of this.#inRings) add(one)
    for (const one of this.#reported.placed()) add(one)
    this.#placed = new Map([...placed].map(([rule, devices]) => [rule, [...devices].sort()]))
    this.#placedMs = nowMs
    return this.#placed
  }

  /** Takes an edge of a host. */
  take(source: string, edge: HostEdge): void {
    this.#options.onEdge(source, edge, { isRing: true })
    this.#inHosts.note(source, edge)
    this.#combine({ ...edge, holder: undefined, key: source })
  }

  /** The host of a source was lost. It is unknown whether its rules on rings still hold, so they end. */
  lose(source: string): void {
    const monoNs = process.hrtime.bigint()
    for (const edge of this.#inHosts.lose(source))
      this.#combine({ ...edge, monoNs, isStart: false, isLost: true, holder: undefined, key: source })
  }

  accept(batch: Batch): void {
    acceptBatch(this.stats, batch, (taken) => {
      const { refused } = this.#reported
      this.#reported.take(taken)
      const dropped = this.#reported.refused - refused
      if (dropped > 0) countDrop(this.stats, 'series_limit', dropped)
      return dropped
    })
  }

  async flush(): Promise<void> {
    // Accepted records have already been evaluated.
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
  }

  retire(source: SourceInfo): void {
    this.#reported.retire(source)
  }

  /** Rings change with their devices, so hosts are asked again while devices are read. */
  #askHosts(): void {
    const nowMs = performance.now()
    if (nowMs - this.#askedMs < ASK_MS) return
    void this.renew()
  }

  /** Rings that a rule watches, from the present answer of their hosts. */
  ringsOf(rule: string): Promise<WatchedRing[]> {
    return watchedRings(rule, this.#watched)
  }

  /** Reported series that a rule watches. */
  reportedOf(rule: string): WatchedSeriesPlace[] {
    return [...this.#reported.placesOf(rule)]
  }

  /** Asks the hosts for their watched rings, so that {@link devices} is up to date. */
  async renew(): Promise<void> {
    this.#askedMs = performance.now()
    this.#placedMs = Number.NEGATIVE_INFINITY
    const taps = await Promise.all(this.#watched.map((source) => source.taps().catch(() => [])))
    this.#inRings = taps.flat().flatMap(({ rules, device }) => rules.map((rule) => [rule, device] as const))
  }

  /** The reporter of a rule's series that left last; undefined if none left since the rules were read. */
  leftOf(rule: string): LeftReporter | undefined {
    return this.#reported.leftOf(rule)
  }

  #fromReported({ source, holder, key, ...edge }: ReportedEdge): void {
    const told = { ...edge, errorNs: 0n }
    this.#tell(source, told, holder, key)
    this.#combine({ ...told, holder, key: holder === undefined ? source : `${holder} ${key}` })
  }

  /**
   * An event that a client's edge begins counts towards that client. `key` names the owner of the series: no other
   * owner ends the event.
   */
  #combine(edge: RuleEdge & { readonly holder: QuotaHolder; readonly key: string }): void {
    if (!this.#rules.has(edge.rule)) return
    const { refused } = this.#combinations
    const key = JSON.stringify([edge.key, edge.device])
    for (const made of this.#combinations.take([{ ...edge, key }])) {
      const holder = made.isStart ? edge.holder : this.#holders.get(made.rule)
      if (made.isStart) this.#holders.set(made.rule, holder)
      else this.#holders.delete(made.rule)
      this.#tell(TRACEBACK_SOURCE, made, holder, '')
    }
    const left = this.#combinations.refused - refused
    if (left > 0) countDrop(this.stats, 'edge_limit', left)
  }

  /**
   * A client has the share of one device, even if it names several, and uses no share of real devices. Its series may
   * have the same name; `key` distinguishes them.
   */
  #tell(source: string, edge: RuleEdge, holder: QuotaHolder, key: string): void {
    const share = holder === undefined ? edge.device : `client ${holder}`
    const gated = holder === undefined ? edge : { ...edge, device: JSON.stringify([share, key]) }
    if (!this.#edges.isChange(gated)) return
    const hasPlace = !edge.isStart || this.#places.roomFor(holder) >= 1
    const event = hasPlace ? this.#edges.take(gated, share) : undefined
    if (event === undefined) {
      countDrop(this.stats, 'edge_limit', 1)
      return
    }
    const ruleAndDevice = JSON.stringify([edge.rule, gated.device])
    this.#places.add(holder, edge.isStart ? 1 : -1)
    if (edge.isStart) this.#going.set(ruleAndDevice, { source, edge, holder, key })
    else this.#going.delete(ruleAndDevice)
    reportMark(this.#source, { ...edge, event }, this.#options.clock?.wallOffsetNs())
    this.#source.flush()
    this.#options.onEdge(source, { ...edge, event }, { holder })
  }
}
