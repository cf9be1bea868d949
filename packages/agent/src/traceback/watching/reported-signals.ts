import { type Batch, type Labels, type RecordType, type SourceInfo, viewsOf } from '@sonde/sdk'
import { labelsOf, ownerOf, Quota, type QuotaHolder, SeriesIndex, seriesKey, wallOffsetNs } from '@sonde/sdk/internal'
import { recordGroups } from '../../rules/record-groups.ts'
import { RecordSeries, ringsBytes, type SeriesEdge } from '../../rules/record-series.ts'
import { NO_WATCH, type Watch } from '../../rules/watch.ts'
import type { EventClock } from '../window/clock.ts'
import type { WatchedSeriesPlace } from './watched-place.ts'

/** Most watched series. Further series are counted. A client has a share of them, as in every view. */
const SERIES_MAX = 4096
/** Memory of all rings; a rule that looks far back needs a large ring. Shared like the series. Unit: bytes. */
const RINGS_BYTES_MAX = 256 << 20
/** A series beyond the limits is tried again this often. Unit: milliseconds. */
const RETRY_MS = 1000
/** A series without a record for this long may be forgotten for another. Unit: milliseconds. */
const SILENT_MS = 600_000
/**
 * A record whose time is farther from its arrival was stamped by a wall clock that has been set since. Then the time of
 * arrival is used. Unit: nanoseconds.
 */
const LATE_NS = 600_000_000_000n
const EARLY_NS = 1_000_000_000n
/** Offset from `performance.now` to `process.hrtime`. Unit: nanoseconds. */
const ARRIVAL_OFFSET_NS = process.hrtime.bigint() - BigInt(Math.round(performance.now() * 1e6))

/** A start or end of a rule on reported records. */
export interface ReportedEdge extends SeriesEdge {
  readonly source: string
  readonly device: string
  /** The client that reported it; undefined for sources of the agent. */
  readonly holder: QuotaHolder
  /** Identifies the series: two series may describe one device. */
  readonly key: string
}

/** The reporter of a watched series that left. */
export interface LeftReporter {
  /** The application, or the source of the agent. */
  readonly who: string
  /** Unit: milliseconds since the Unix epoch. */
  readonly atMs: number
}

/** Options of {@link ReportedSignals}. */
export interface ReportedOptions {
  readonly onEdge: (edge: ReportedEdge) => void
  /** The device of a series: its id in the list of devices, or a name for people. */
  readonly deviceOf: (type: RecordType, labels: Labels, app: string) => string
  /** The name of a client. Default: its id. */
  readonly appOf?: (client: bigint) => string
  /** Default: 4096. */
  readonly seriesMax?: number
  /** Memory of all rings. Unit: bytes. Default: 256 MiB. */
  readonly ringsBytesMax?: number
  /** Records arrive now by this clock. Default: the clocks of the machine, and the arrival of each batch. */
  readonly clock?: EventClock
}

interface Watched {
  readonly series: RecordSeries
  readonly source: string
  /** Its device, from the present list of devices. */
  readonly deviceNow: () => string
  /** The device of its edges: that of the first edge, so that start and end agree. */
  device: string | undefined
  readonly owner: object
  readonly holder: QuotaHolder
  readonly key: string
  /** The application that reports it; empty for a source of the agent. */
  readonly app: string
  readonly labels: Labels
  /** Rules that hold. */
  readonly active: Set<string>
  seenMs: number
  /** Whether it was forgotten for another series. Its next record opens it again. */
  isForgotten: boolean
}

/** Records of one type and source. */
interface Stream {
  readonly index: SeriesIndex
  /** By number of the index. `none`: no rule watches it. A number: time at which it was beyond the limits. */
  readonly watched: (Watched | 'none' | number)[]
}

/** Rules on reported records: kernel counters, GPUs, applications. */
export class ReportedSignals {
  /** Records of series beyond the limits. */
  refused = 0
  readonly #options: ReportedOptions
  #watch: Watch = NO_WATCH
  /** Weak, so that a replaced source is forgotten. */
  #streams = new WeakMap<SourceInfo, Map<RecordType, Stream>>()
  readonly #series = new Map<string, Watched>()
  /** By rule, the source that left last; no more entries than rules. */
  readonly #left = new Map<string, LeftReporter>()
  /** Numbers of owners, for keys. */
  readonly #owners = new WeakMap<object, number>()
  #ownerCount = 0
  #places: Quota
  #bytes: Quota
  /** When silent series were last forgotten. Unit: as `arrivedMs` of a batch. */
  #sweptMs = Number.NEGATIVE_INFINITY

  constructor(options: ReportedOptions) {
    this.#options = options
    this.#places = new Quota(options.seriesMax ?? SERIES_MAX)
    this.#bytes = new Quota(options.ringsBytesMax ?? RINGS_BYTES_MAX)
  }

  /** Replaces the rules. All rings start again, and active rules get no end. */
  watch(watch: Watch): void {
    this.#watch = watch
    this.#streams = new WeakMap()
    this.#series.clear()
    this.#left.clear()
    this.#places = new Quota(this.#options.seriesMax ?? SERIES_MAX)
    this.#bytes = new Quota(this.#options.ringsBytesMax ?? RINGS_BYTES_MAX)
  }

  /** Pairs of a rule and a device whose records it watches. */
  *placed(): Generator<readonly [rule: string, device: string]> {
    for (const { series, device, deviceNow } of this.#series.values())
      for (const rule of series.rules) yield [rule, device ?? deviceNow()]
  }

  /** Series that a rule watches. */
  *placesOf(rule: string): Generator<WatchedSeriesPlace> {
    const epochMs = Date.now() - performance.now()
    for (const { series, device, deviceNow, source, app, labels, seenMs } of this.#series.values()) {
      if (!series.rules.includes(rule)) continue
      yield { device: device ?? deviceNow(), source, app, labels, isRing: false, seenMs: epochMs + seenMs }
    }
  }

  /** The reporter of a rule's series that left last; undefined if none left since the rules were read. */
  leftOf(rule: string): LeftReporter | undefined {
    return this.#left.get(rule)
  }

  /** Whether a rule watches records of a type. */
  watches(type: string): boolean {
    return this.#watch.signals.some((signal) => signal.type === type)
  }

  /** Evaluates the rules on records. */
  take(batch: Batch): void {
    const { type, source, count, bytes, arrivedMs, clock, origin } = batch
    if (count === 0 || !this.watches(type.name) || origin === 'replay') return
    const { index, watched } = this.#streamOf(source, type)
    const views = viewsOf(bytes)
    const { recordBytes } = type.layout
    // A client's times are data. They are not compared with times of others, so the time of arrival is used.
    const time = origin === 'own' && clock === 'wall' && type.time?.field.resolution !== 'us' ? type.time : undefined
    const { clock: given } = this.#options
    const arrivedNs = given?.monoNs() ?? BigInt(Math.round(arrivedMs * 1e6)) + ARRIVAL_OFFSET_NS
    const offsetNs = given?.wallOffsetNs() ?? wallOffsetNs()
    for (let record = 0, at = 0; record < count; record++, at += recordBytes) {
      const id = index.of(views, at)
      let one = watched[id]
      if (one === undefined || isPast(one, arrivedMs)) {
        one = this.#open(batch, labelsOf(type, source, views, at))
        watched[id] = one
      }
      if (typeof one === 'number') this.refused++
      if (one === 'none' || typeof one === 'number') continue
      one.seenMs = arrivedMs
      const stampNs = time === undefined ? arrivedNs : views.data.getBigUint64(at + time.offset, true) - offsetNs
      const isKept = stampNs > 0n && stampNs >= arrivedNs - LATE_NS && stampNs <= arrivedNs + EARLY_NS
      one.series.put(views, at, isKept ? stampNs : arrivedNs, (edge) => this.#tell(one, edge))
    }
  }

  /** Time passes without records. */
  wait(nowNs: bigint): void {
    if (!this.#watch.rules.some(({ test }) => test.kind === 'absent')) return
    for (const one of this.#series.values()) one.series.wait(nowNs, (edge) => this.#tell(one, edge))
  }

  /** A source is gone: its series are forgotten, and its active rules end. */
  retire(source: SourceInfo): void {
    this.#streams.delete(source)
    // This includes series that it continues for a source that it replaced.
    const owner = ownerOf(source)
    const atMs = Date.now()
    for (const [key, one] of this.#series) {
      if (one.owner !== owner) continue
      const who = one.app === '' ? one.source : one.app
      for (const rule of one.series.rules) this.#left.set(rule, { who, atMs })
      this.#forget(key, one)
    }
  }

  #tell(one: Watched, edge: SeriesEdge): void {
    const { source, holder, key, active } = one
    if (edge.isStart) active.add(edge.rule)
    else active.delete(edge.rule)
    // The first records of a node may arrive before all of its devices are known.
    one.device ??= one.deviceNow()
    this.#options.onEdge({ ...edge, source, holder, key, device: one.device })
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

  /** Opens a series. Returns `none` if no rule watches it, or the time if it is beyond the limits. */
  #open({ type, source, arrivedMs, origin, page }: Batch, labels: Labels): Watched | 'none' | number {
    const groups = recordGroups(this.#watch, type, labels)
    if (groups.length === 0) return 'none'
    const holder = origin === 'client' ? (page?.client ?? 0n) : undefined
    // Types with the same name may have other fields, and clients the same ids, so each owner and type has its own
    // rings.
    const owner = ownerOf(source)
    const key = JSON.stringify([this.#numberOf(owner), type.fingerprint, seriesKey(labels)])
    // A source that replaces another continues its series.
    const known = this.#series.get(key)
    if (known !== undefined) return known
    const bytes = ringsBytes(groups)
    if (!this.#hasRoom(holder, bytes, arrivedMs)) return arrivedMs
    const app = holder === undefined ? '' : (this.#options.appOf?.(holder) ?? String(holder))
    const deviceNow = () => this.#options.deviceOf(type, labels, app)
    const series = new RecordSeries(type, groups)
    const told = { source: source.id, owner, holder, key, app, labels, active: new Set<string>() }
    const watched: Watched = { series, ...told, deviceNow, device: undefined, seenMs: arrivedMs, isForgotten: false }
    this.#series.set(key, watched)
    this.#places.add(holder, 1)
    this.#bytes.add(holder, bytes)
    return watched
  }

  #numberOf(owner: object): number {
    const known = this.#owners.get(owner)
    if (known !== undefined) return known
    this.#owners.set(owner, ++this.#ownerCount)
    return this.#ownerCount
  }

  #hasRoom(holder: QuotaHolder, bytes: number, nowMs: number): boolean {
    const has = () => this.#places.roomFor(holder) >= 1 && this.#bytes.roomFor(holder) >= bytes
    if (has()) return true
    if (nowMs - this.#sweptMs < RETRY_MS) return false
    this.#sweptMs = nowMs
    for (const [key, one] of this.#series) if (nowMs - one.seenMs > SILENT_MS) this.#forget(key, one)
    return has()
  }

  /** Forgets a series. It is unknown whether its rules still hold, so they end. */
  #forget(key: string, one: Watched): void {
    const { holder, series, active } = one
    this.#series.delete(key)
    one.isForgotten = true
    this.#places.add(holder, -1)
    this.#bytes.add(holder, -series.bytes)
    const monoNs = process.hrtime.bigint()
    for (const rule of [...active]) this.#tell(one, { rule, monoNs, isStart: false, isLost: true })
  }
}

/** Whether a series must be opened again: it was beyond the limits a while ago, or was forgotten. */
function isPast(one: Watched | 'none' | number, nowMs: number): boolean {
  if (typeof one === 'number') return nowMs - one >= RETRY_MS
  return one !== 'none' && one.isForgotten
}
