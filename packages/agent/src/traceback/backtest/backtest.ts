import { type Batch, type Labels, type RecordType, type SourceInfo, type Views, wallNs } from '@sonde/sdk'
import { entityOf, labelsOf, SeriesIndex, seriesKey } from '@sonde/sdk/internal'
import { recordGroups } from '../../rules/record-groups.ts'
import { ringsBytes, type SeriesEdge } from '../../rules/record-series.ts'
import type { Rule, RuleBook, Signal } from '../../rules/rule.ts'
import type { Watch } from '../../rules/watch.ts'
import { describeRule } from '../describe-rule.ts'
import { seriesName } from '../watching/series-name.ts'
import { watchOfBook } from '../watching/watch-of-book.ts'
import type { BacktestReport, BacktestRule } from './backtest-report.ts'
import { Coverage } from './coverage.ts'
import { compareNs, TestedCombinations } from './tested-combinations.ts'
import { type TestedPlace, TestedRule } from './tested-rule.ts'
import { TestedSeries } from './tested-series.ts'
import { type SeenType, untestedReason, windowFault } from './untested.ts'

/** Limits of series with rules; records of further series are counted. A rule that looks far back needs large rings. */
const SERIES_MAX = 65_536
const RINGS_BYTES_MAX = 1 << 30
const NS_PER_US = 1000n
/** Records that are further in the future have a wrong time, and would make absences of other series longer. */
const AHEAD_NS = 3_600_000_000_000n

/** Stored records of one batch. */
export interface StoredRecords {
  readonly batch: Pick<Batch, 'type' | 'source' | 'clock'>
  readonly views: Views
  /** The offset of each record. Unit: bytes. */
  readonly offsets: readonly number[]
}

interface Tested {
  /** Identifies the series among those of all sources. */
  readonly key: string
  readonly series: TestedSeries
  readonly place: TestedPlace
  readonly longName: string
}

/** Records of one type and source. */
interface Stream {
  readonly index: SeriesIndex
  /** By number of the index. `none`: no rule is about it. */
  readonly tested: (Tested | 'none' | 'refused')[]
}

/**
 * Evaluates the rules of a file on stored records. The records of a series come in the order of their time; series may
 * come in any order, because stores and files keep each type and source apart.
 */
export class Backtest {
  /** Names of the types that the rules are about; records of others are ignored. */
  readonly types: ReadonlySet<string>
  readonly #book: RuleBook
  readonly #watch: Watch
  readonly #rules: ReadonlyMap<string, TestedRule>
  /** By name, the silence after which rules of absence hold. Unit: nanoseconds. */
  readonly #absences: ReadonlyMap<string, bigint>
  readonly #coverage = new Coverage()
  readonly #seen = new Map<string, SeenType>()
  /** By fingerprint of the type. Each object of a source has symbols of its own: a store has one for each batch. */
  readonly #streams = new WeakMap<SourceInfo, Map<string, Stream>>()
  readonly #series = new Map<string, Tested>()
  readonly #combinations: TestedCombinations
  readonly #ringBytesMax: number
  #ringBytes = 0
  #repeatedCount = 0
  #futureCount = 0
  #refusedCount = 0
  #range: { fromNs: bigint; toNs: bigint } | undefined

  /** @param ringBytesMax Memory of all rings. Unit: bytes. */
  constructor(book: RuleBook, ringBytesMax: number = RINGS_BYTES_MAX) {
    this.#ringBytesMax = ringBytesMax
    this.types = new Set(book.signals.map(({ type }) => type))
    this.#book = book
    this.#watch = watchOfBook(book)
    this.#rules = new Map(book.rules.map(({ name }) => [name, new TestedRule(name)]))
    this.#combinations = new TestedCombinations(book, this.#rules)
    this.#absences = new Map(
      this.#watch.rules.flatMap(({ name, test }) => (test.kind === 'absent' ? [[name, BigInt(test.forNs)]] : [])),
    )
  }

  /** Takes records of one series after the other, each series in the order of time. */
  take({ batch: { type, source, clock }, views, offsets }: StoredRecords): void {
    if (!this.types.has(type.name)) return
    const seen = this.#seen.get(type.name) ?? { type, timed: 0, untimed: 0 }
    this.#seen.set(type.name, seen)
    const { time } = type
    if (time === undefined || clock !== 'wall') {
      seen.untimed += offsets.length
      return
    }
    seen.timed += offsets.length
    const factor = time.field.resolution === 'us' ? NS_PER_US : 1n
    const stream = this.#streamOf(type, source)
    const latestNs = wallNs() + AHEAD_NS
    for (const at of offsets) {
      const ns = views.data.getBigUint64(at + time.offset, true) * factor
      if (ns > latestNs) {
        this.#futureCount++
        continue
      }
      this.#reach(ns)
      const id = stream.index.of(views, at)
      stream.tested[id] ??= this.#open(type, source, labelsOf(type, source, views, at))
      const one = stream.tested[id]
      if (one === 'refused') this.#refusedCount++
      if (typeof one === 'string') continue
      const isNew = one.series.put(views, at, ns, (edge) => this.#note(one, edge))
      if (!isNew) this.#repeatedCount++
    }
  }

  /** Ends all events that are open, evaluates combinations, and sums up. Called once, after all records. */
  report(): BacktestReport {
    const toNs = this.#range?.toNs ?? 0n
    for (const one of this.#series.values()) this.#end(one, toNs)
    this.#nameSeries()
    this.#combinations.end(toNs)
    const events = [...this.#rules.values()].flatMap((rule) => rule.events)
    return {
      rules: this.#book.rules.map((rule) => this.#summary(rule)),
      events: events.sort((a, b) => compareNs(a.startNs, b.startNs)),
      recordCount: [...this.#series.values()].reduce((sum, { series }) => sum + series.count, 0),
      range: this.#range,
      repeatedCount: this.#repeatedCount,
      futureCount: this.#futureCount,
      refusedCount: this.#refusedCount,
    }
  }

  #reach(ns: bigint): void {
    this.#coverage.note(ns)
    if (this.#range === undefined) this.#range = { fromNs: ns, toNs: ns }
    else if (ns > this.#range.toNs) this.#range.toNs = ns
    else if (ns < this.#range.fromNs) this.#range.fromNs = ns
  }

  #streamOf(type: RecordType, source: SourceInfo): Stream {
    const streams = this.#streams.get(source) ?? new Map<string, Stream>()
    this.#streams.set(source, streams)
    const known = streams.get(type.fingerprint)
    if (known !== undefined) return known
    const made: Stream = { index: new SeriesIndex(type), tested: [] }
    streams.set(type.fingerprint, made)
    return made
  }

  #open(type: RecordType, source: SourceInfo, labels: Labels): Tested | 'none' | 'refused' {
    const key = JSON.stringify([source.id, source.tag, type.fingerprint, seriesKey(labels)])
    const known = this.#series.get(key)
    if (known !== undefined) return known
    const ringBytes = ringsBytes(recordGroups(this.#watch, type, labels))
    if (ringBytes === 0) return 'none'
    if (this.#series.size >= SERIES_MAX || this.#ringBytes + ringBytes > this.#ringBytesMax) return 'refused'
    this.#ringBytes += ringBytes
    const series = new TestedSeries(this.#watch, type, labels)
    const place = { device: deviceNameOf(type, labels), source: source.id, labels }
    const made = { key, series, place, longName: seriesName('', type, labels) }
    this.#series.set(key, made)
    return made
  }

  #note({ key, place }: Tested, { rule, monoNs, isStart, isLost = false }: SeriesEdge): void {
    const tested = this.#rules.get(rule)
    if (isStart) tested?.begin(place, monoNs)
    else tested?.end(place, monoNs, isLost ? 'interrupted' : 'over')
    this.#combinations.take({ key, rule, place, monoNs, isStart, isLost })
  }

  /** A rule that holds at the end of its series leaves its event open. An absence lasts to the end of all records. */
  #end(one: Tested, toNs: bigint): void {
    one.series.end(toNs, (edge) => this.#note(one, edge))
    for (const rule of one.series.rules) {
      const endNs = this.#absences.has(rule) ? toNs : one.series.lastNs
      this.#rules.get(rule)?.end(one.place, endNs, 'open')
    }
  }

  /** Series of a type on the same device get their long names. */
  #nameSeries(): void {
    const byName = Map.groupBy(this.#series.values(), ({ place, longName }) =>
      JSON.stringify([place.device, longName.split(' ', 1)]),
    )
    for (const same of byName.values())
      if (same.length > 1) for (const { place, longName } of same) place.device = longName
  }

  #summary(rule: Rule): BacktestRule {
    const { name } = rule
    const { eventCount, deviceCount, heldNs, longestNs } = this.#rules.get(name) ?? new TestedRule(name)
    const series = [...this.#series.values()].flatMap((one) => (one.series.rules.includes(name) ? one.series : []))
    const intervals = series.flatMap(({ intervalNs }) => intervalNs ?? []).sort(compareNs)
    const fault = this.#faultOf(rule, series.length, intervals[0])
    return {
      rule: name,
      condition: describeRule(
        rule,
        this.#book,
        Array.from(this.#seen.values(), ({ type }) => type),
      ),
      events: eventCount,
      devices: deviceCount,
      heldNs,
      longestNs,
      series: series.length,
      records: series.reduce((sum, { count }) => sum + count, 0),
      ...(intervals[0] === undefined ? {} : { intervalNs: intervals[0] }),
      ...(fault === undefined ? {} : { fault }),
    }
  }

  #faultOf(rule: Rule, seriesCount: number, intervalNs: bigint | undefined): string | undefined {
    if ('of' in rule) {
      const tested = new Set([...this.#series.values()].flatMap(({ series }) => series.rules))
      return this.#combinations.faultOf(rule, tested)
    }
    const signal = this.#book.signals[rule.signal] as Signal
    if (seriesCount === 0) return untestedReason(signal, this.#seen.get(signal.type))
    const fault = intervalNs === undefined ? undefined : windowFault(rule.test, intervalNs)
    return fault ?? this.#silenceFault(rule.name)
  }

  /** Absences in which nothing at all was recorded: the agent may not have run. */
  #silenceFault(name: string): string | undefined {
    const forNs = this.#absences.get(name)
    if (forNs === undefined) return undefined
    const events = this.#rules.get(name)?.events ?? []
    const silent = events.filter(({ startNs, endNs }) => this.#coverage.isSilent(startNs - forNs, endNs))
    if (silent.length === 0) return undefined
    return `nothing at all was recorded in ${silent.length} of its ${events.length} events: Sonde may not have run`
  }
}

/** The device of a series by the key of its entity: `gpu GPU-1c2d`. Without an entity, by its type and labels. */
function deviceNameOf(type: RecordType, labels: Labels): string {
  const entity = entityOf(type, labels)
  return entity === undefined || entity.key.length === 0
    ? seriesName('', type, labels)
    : `${entity.kind} ${entity.key.join('/')}`
}
