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
import { type Holder, ownerOf, Quota, wallOffsetNs } from '@sonde/sdk/internal'
import { groupsOf } from '../../rules/record-groups.ts'
import { bytesOf, RecordSeries, type SeriesEdge } from '../../rules/record-series.ts'
import { NO_WATCH, type Watch } from '../../rules/watch.ts'
import type { WatchedPlace } from './watched-place.ts'

/** Series that are watched at a time. Further ones are counted. A client has a share of them, as in every view. */
const SERIES_MAX = 4096
/** Memory of all rings: those of a rule that looks far back are large. Shared as series are. Unit: bytes. */
const RINGS_BYTES_MAX = 256 << 20
/** A series for which there was no room is tried again so often. Unit: milliseconds. */
const RETRY_MS = 1000
/** A series without a record for so long makes room. Unit: milliseconds. */
const SILENT_MS = 600_000
/**
 * A record that bears a time farther from its arrival was stamped by a wall clock that was set since: its arrival is
 * known better. Unit: nanoseconds.
 */
const LATE_NS = 600_000_000_000n
const EARLY_NS = 1_000_000_000n
/** What makes a time of `performance.now` one of `process.hrtime`. Unit: nanoseconds. */
const ARRIVAL_OFFSET_NS = process.hrtime.bigint() - BigInt(Math.round(performance.now() * 1e6))

/** What a rule saw in reported records. */
export interface ReportedEdge extends SeriesEdge {
  readonly source: string
  readonly device: string
  /** The client that reported it; undefined for sources of the agent. */
  readonly holder: Holder
  /** Of its series, and of no other: two series may be about one device. */
  readonly key: string
}

/** Who reported a series that a rule watched, and left. */
export interface LeftReporter {
  /** The application, or the source of the agent. */
  readonly who: string
  /** Unit: milliseconds since the Unix epoch. */
  readonly atMs: number
}

/** Options of {@link ReportedSignals}. */
export interface ReportedOptions {
  readonly onEdge: (edge: ReportedEdge) => void
  /** What a series is about: its id in the list of devices, or what people call it. */
  readonly deviceOf: (type: RecordType, labels: Labels, app: string) => string
  /** What a client is called. Default: its id. */
  readonly appOf?: (client: bigint) => string
  /** Default: 4096. */
  readonly seriesMax?: number
  /** Memory of all rings. Unit: bytes. Default: 256 MiB. */
  readonly ringsBytesMax?: number
}

interface Watched {
  readonly series: RecordSeries
  readonly source: string
  /** What it is about, as the list of devices has it now. */
  readonly deviceNow: () => string
  /** As its edges bear it: that of the first edge, so that start and end agree. */
  device: string | undefined
  readonly owner: object
  readonly holder: Holder
  readonly key: string
  /** The application that reports it; empty for a source of the agent. */
  readonly app: string
  readonly labels: Labels
  /** Rules that hold. */
  readonly active: Set<string>
  seenMs: number
  /** It made room for others: its next record opens it anew. */
  isForgotten: boolean
}

/** Records of one type from one source. */
interface Stream {
  readonly index: SeriesIndex
  /** By number of the index; `none`: no rule is about it; a number: there was no room for it then. */
  readonly watched: (Watched | 'none' | number)[]
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
  /** By rule, the source that left last: no more than there are rules. */
  readonly #left = new Map<string, LeftReporter>()
  /** Numbers of owners, for keys. */
  readonly #owners = new WeakMap<object, number>()
  #ownerCount = 0
  #places: Quota
  #bytes: Quota
  /** When silent series last made room. Unit: as `arrivedMs` of a batch. */
  #sweptMs = Number.NEGATIVE_INFINITY

  constructor(options: ReportedOptions) {
    this.#options = options
    this.#places = new Quota(options.seriesMax ?? SERIES_MAX)
    this.#bytes = new Quota(options.ringsBytesMax ?? RINGS_BYTES_MAX)
  }

  /** Looks by these rules from now on; all rings begin anew, and no end is told of what had begun. */
  watch(watch: Watch): void {
    this.#watch = watch
    this.#streams = new WeakMap()
    this.#series.clear()
    this.#left.clear()
    this.#places = new Quota(this.#options.seriesMax ?? SERIES_MAX)
    this.#bytes = new Quota(this.#options.ringsBytesMax ?? RINGS_BYTES_MAX)
  }

  /** Rules, and devices whose records they watch. */
  *placed(): Generator<readonly [rule: string, device: string]> {
    for (const { series, device, deviceNow } of this.#series.values())
      for (const rule of series.rules) yield [rule, device ?? deviceNow()]
  }

  /** Series that a rule watches. */
  *placesOf(rule: string): Generator<WatchedPlace> {
    const epochMs = Date.now() - performance.now()
    for (const { series, device, deviceNow, source, app, labels, seenMs } of this.#series.values()) {
      if (!series.rules.includes(rule)) continue
      yield { device: device ?? deviceNow(), source, app, labels, isRing: false, seenMs: epochMs + seenMs }
    }
  }

  /** Who left last of those whose series a rule watched; undefined if nobody did since the rules were read. */
  leftOf(rule: string): LeftReporter | undefined {
    return this.#left.get(rule)
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

  /** Time goes on without records. */
  wait(nowNs: bigint): void {
    if (!this.#watch.rules.some(({ test }) => test.kind === 'absent')) return
    for (const one of this.#series.values()) one.series.wait(nowNs, (edge) => this.#tell(one, edge))
  }

  /** A source is gone: nothing of it is kept, and what its records had begun ends. */
  retire(source: SourceInfo): void {
    this.#streams.delete(source)
    // Series that it goes on with for a source that it replaced are gone as well.
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
    // The first records of a node come before all of its devices are known.
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

  /** A series; `none` if no rule is about it; the time where there is no room. */
  #open({ type, source, arrivedMs, origin, page }: Batch, labels: Labels): Watched | 'none' | number {
    const groups = groupsOf(this.#watch, type, labels)
    if (groups.length === 0) return 'none'
    const holder = origin === 'client' ? (page?.client ?? 0n) : undefined
    // Types of one name may have other fields, and clients the ids of others: each has rings of its own.
    const owner = ownerOf(source)
    const key = JSON.stringify([this.#numberOf(owner), type.fingerprint, seriesKey(labels)])
    // A source that replaces another goes on with its series.
    const known = this.#series.get(key)
    if (known !== undefined) return known
    const bytes = bytesOf(groups)
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

  #hasRoom(holder: Holder, bytes: number, nowMs: number): boolean {
    const has = () => this.#places.roomFor(holder) >= 1 && this.#bytes.roomFor(holder) >= bytes
    if (has()) return true
    if (nowMs - this.#sweptMs < RETRY_MS) return false
    this.#sweptMs = nowMs
    for (const [key, one] of this.#series) if (nowMs - one.seenMs > SILENT_MS) this.#forget(key, one)
    return has()
  }

  /** Nobody sees any more whether its rules hold: what they had begun ends. */
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

/** Whether a series is to be opened anew: it found no room a while ago, or made room for others. */
function isPast(one: Watched | 'none' | number, nowMs: number): boolean {
  if (typeof one === 'number') return nowMs - one >= RETRY_MS
  return one !== 'none' && one.isForgotten
}
