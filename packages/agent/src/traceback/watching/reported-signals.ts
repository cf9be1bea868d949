import {
  type Batch,
  type Labels,
  labelsOf,
  type RecordType,
  SeriesIndex,
  type SourceInfo,
  seriesKey,
  viewsOf,
} from '@sonde/sdk'
import type { SignalRule } from '../../rules/rule.ts'
import { NO_WATCH, type Watch } from '../../rules/watch.ts'
import { wallOffsetNs } from '../../sampling/clock-model.ts'
import { type ReportedGroup, ReportedSeries, ringSignals, type SeriesEdge } from './reported-series.ts'

/** Series that are watched at a time: some 20 MB of rings. Further ones are counted. */
const SERIES_MAX = 4096
/** A series without a record for so long makes room. Unit: milliseconds. */
const SILENT_MS = 600_000
/** What makes a time of `performance.now` one of `process.hrtime`. Unit: nanoseconds. */
const ARRIVAL_OFFSET_NS = process.hrtime.bigint() - BigInt(Math.round(performance.now() * 1e6))

/** What a rule saw in reported records. */
export interface ReportedEdge extends SeriesEdge {
  readonly source: string
  readonly device: string
}

/** Options of {@link ReportedSignals}. */
export interface ReportedOptions {
  readonly onEdge: (edge: ReportedEdge) => void
  /** What a series is about, in the words of the devices' list. */
  readonly deviceOf: (type: RecordType, labels: Labels) => string
  /** Default: 4096. */
  readonly seriesMax?: number
}

interface Watched {
  readonly series: ReportedSeries
  readonly source: string
  /** What it is about, as the list of devices has it now. */
  readonly deviceNow: () => string
  /** As its edges bear it: that of the first edge, so that start and end agree. */
  device: string | undefined
  seenMs: number
}

/** Records of one type from one source. */
interface Stream {
  readonly index: SeriesIndex
  /** By number of the index; `none`: no rule is about it. */
  readonly watched: (Watched | 'none' | 'refused')[]
}

/** Rules on records that are reported: kernel counters, GPUs, applications. */
export class ReportedSignals {
  /** Records of series for which there was no room. */
  refused = 0
  readonly #options: ReportedOptions
  #watch: Watch = NO_WATCH
  /** A source that was replaced is forgotten with whoever made it. */
  #streams = new WeakMap<SourceInfo, Map<RecordType, Stream>>()
  readonly #series = new Map<string, Watched>()

  constructor(options: ReportedOptions) {
    this.#options = options
  }

  /** Looks by these rules from now on; all rings begin anew. */
  watch(watch: Watch): void {
    this.#watch = watch
    this.#streams = new WeakMap()
    this.#series.clear()
  }

  /** Rules, and devices whose records they watch. */
  *placed(): Generator<readonly [rule: string, device: string]> {
    for (const { series, device, deviceNow } of this.#series.values())
      for (const rule of series.rules) yield [rule, device ?? deviceNow()]
  }

  /** Whether a rule is about records of a type. */
  watches(type: string): boolean {
    return this.#watch.signals.some((signal) => signal.type === type)
  }

  /** Looks at records. */
  take(batch: Batch): void {
    const { type, source, count, bytes, arrivedMs, clock, origin } = batch
    if (count === 0 || !this.watches(type.name) || origin === 'replay') return
    const { index, watched } = this.#streamOf(source, type)
    const views = viewsOf(bytes)
    const { recordBytes } = type.layout
    // What a client says of time is data: it is held against nothing but its own arrival.
    const time = origin === 'own' && clock === 'wall' && type.time?.field.resolution !== 'us' ? type.time : undefined
    const arrivedNs = BigInt(Math.round(arrivedMs * 1e6)) + ARRIVAL_OFFSET_NS
    const offsetNs = wallOffsetNs()
    for (let record = 0, at = 0; record < count; record++, at += recordBytes) {
      const id = index.of(views, at)
      watched[id] ??= this.#open(batch, labelsOf(type, source, views, at))
      const one = watched[id]
      if (one === 'refused') this.refused++
      if (one === 'none' || one === 'refused') continue
      one.seenMs = arrivedMs
      const monoNs = time === undefined ? arrivedNs : views.data.getBigUint64(at + time.offset, true) - offsetNs
      one.series.put(views, at, monoNs > 0n ? monoNs : arrivedNs, (edge) => this.#tell(one, edge))
    }
  }

  /** Time goes on without records. */
  wait(nowNs: bigint): void {
    if (!this.#watch.rules.some(({ test }) => test.kind === 'absent')) return
    for (const one of this.#series.values()) one.series.wait(nowNs, (edge) => this.#tell(one, edge))
  }

  /** A source is gone: nothing of it is kept. */
  retire(source: SourceInfo): void {
    const streams = this.#streams.get(source)
    if (streams === undefined) return
    this.#streams.delete(source)
    const gone = new Set<unknown>([...streams.values()].flatMap(({ watched }) => watched))
    for (const [key, one] of this.#series) if (gone.has(one)) this.#series.delete(key)
  }

  #tell(one: Watched, edge: SeriesEdge): void {
    // The first records of a node come before all of its devices are known.
    one.device ??= one.deviceNow()
    this.#options.onEdge({ ...edge, source: one.source, device: one.device })
  }

  #streamOf(source: SourceInfo, type: RecordType): Stream {
    let streams = this.#streams.get(source)
    if (streams === undefined) {
      streams = new Map()
      this.#streams.set(source, streams)
    }
    let stream = streams.get(type)
    if (stream === undefined) {
      stream = { index: new SeriesIndex(type), watched: [] }
      streams.set(type, stream)
    }
    return stream
  }

  #open({ type, source, arrivedMs }: Batch, labels: Labels): Watched | 'none' | 'refused' {
    const groups = groupsOf(this.#watch, type, labels)
    if (groups.length === 0) return 'none'
    const key = JSON.stringify([source.id, source.tag, type.name, seriesKey(labels)])
    // A source that replaces another goes on with its series.
    const known = this.#series.get(key)
    if (known !== undefined) return known
    if (!this.#hasRoom(arrivedMs)) return 'refused'
    const deviceNow = () => this.#options.deviceOf(type, labels)
    const series = new ReportedSeries(type, groups)
    const watched: Watched = { series, source: source.id, deviceNow, device: undefined, seenMs: arrivedMs }
    this.#series.set(key, watched)
    return watched
  }

  #hasRoom(nowMs: number): boolean {
    const { seriesMax = SERIES_MAX } = this.#options
    if (this.#series.size < seriesMax) return true
    for (const [key, { seenMs }] of this.#series) if (nowMs - seenMs > SILENT_MS) this.#series.delete(key)
    return this.#series.size < seriesMax
  }
}

/** Rules on fields of a type, for a series with these labels: those on one field together. */
function groupsOf({ signals, rules }: Watch, type: RecordType, labels: Labels): ReportedGroup[] {
  const slots = signals.map((signal) => {
    const isOther = Object.entries(signal.labels).some(([name, value]) => String(labels[name] ?? '') !== value)
    if (signal.type !== type.name || isOther) return undefined
    return type.layout.slots.find(({ name, field }) => name === signal.field && field.count === 1)
  })
  return [...Map.groupBy(rules, ({ signal }) => signal)].flatMap(([signal, own]): ReportedGroup[] => {
    if (slots[signal] === undefined) return []
    const places = [signal]
    const placed = own.flatMap((rule): SignalRule[] => {
      const { test } = rule
      if (!('to' in test)) return [{ ...rule, signal: 0 }]
      if (slots[test.to] === undefined) return []
      if (!places.includes(test.to)) places.push(test.to)
      return [{ ...rule, signal: 0, test: { ...test, to: places.indexOf(test.to) } }]
    })
    const used = places.flatMap((index) => slots[index] ?? [])
    return placed.length === 0 ? [] : [{ slots: used, signals: ringSignals(used), rules: placed }]
  })
}
