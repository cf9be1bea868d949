import {
  type Batch,
  isPresent,
  type Labels,
  numberAt,
  type RecordType,
  type SourceInfo,
  type Views,
  viewsOf,
} from '@sonde/sdk'
import { labelsOf, msFactorOf, ownerOf, SeriesIndex, type Slot, seriesKey } from '@sonde/sdk/internal'
import { isSimulatedSeries } from '../../devices/world.ts'
import { type WhichNode, whichNode } from '../device.ts'
import type { HintSignal } from './signal.ts'
import { SIGNALS } from './signals.ts'
import { APART_MS, SignalWindow } from './window.ts'

/** One series that rules read, with a window for each signal. */
export interface WatchedSeries {
  readonly type: RecordType
  readonly labels: Labels
  readonly node: WhichNode
  readonly windows: readonly { readonly signal: HintSignal; readonly window: SignalWindow }[]
  /** Time of its newest record. Unit: milliseconds since the Unix epoch. */
  seenMs: number
}

/** Most windows, about 20 MB. Further series are not watched, and their records are counted as `window_limit`. */
const WINDOW_LIMIT = 8192
/** A series without a record for this long is forgotten; after a minute if the limit is reached. Unit: milliseconds. */
const FORGET_MS = 3_600_000
const FORGET_FULL_MS = 60_000
const SIGNALS_OF_TYPE = Map.groupBy(SIGNALS, ({ type }) => type)

/** Position of a signal in the records of a type. */
interface SignalSlot {
  readonly slot: Slot
  readonly signal: HintSignal
}

/** Position of the values of a series' window. */
interface Feed {
  readonly slot: Slot
  readonly window: SignalWindow
}

/** A series as one source reports it. */
interface FedSeries {
  readonly series: WatchedSeries
  readonly feeds: readonly Feed[]
}

/** Records of one type from one source. */
interface Stream {
  readonly index: SeriesIndex
  /** By number of the index; null if the series is beyond the limit. */
  readonly fed: (FedSeries | null)[]
}

/** The streams of one source. */
interface Origin {
  /** Time of its first record. Unit: milliseconds since the Unix epoch. */
  readonly firstMs: number
  readonly streams: Map<RecordType, Stream>
}

/** Takes records and keeps windows of the signals that rules name. Other types are ignored. */
export class SeriesWatch {
  /** All watched series. */
  readonly series = new Map<string, WatchedSeries>()
  /** Changes whenever a series is added or removed. */
  version = 0
  /** Nodes whose past means are frozen, because a device is not compared with its own faults. */
  readonly frozen = new Set<WhichNode>()
  readonly #places = new WeakMap<RecordType, readonly SignalSlot[]>()
  readonly #origins = new Map<SourceInfo, Origin>()
  readonly #windowLimit: number
  /**
   * Time of the last evaluation, which decides which series are forgotten: the time of a record must not remove series
   * of others. Undefined before the first evaluation. Unit: milliseconds since the Unix epoch.
   */
  nowMs: number | undefined
  #windowCount = 0
  /** When silent series were last removed because of the limit. Unit: milliseconds since the Unix epoch. */
  #fullMs = Number.NEGATIVE_INFINITY

  constructor(windowLimit = WINDOW_LIMIT) {
    this.#windowLimit = windowLimit
  }

  /** Takes a batch. Returns the number of records beyond the limit. */
  take(batch: Batch): number {
    const { type, source, count, bytes } = batch
    const places = this.#placesOf(type)
    if (places.length === 0 || type.time === undefined || batch.clock !== 'wall' || count === 0) return 0
    const views = viewsOf(bytes)
    const toMs = msFactorOf(type)
    const origin = this.#originOf(source, numberAt(type.time, views, 0) * toMs)
    const { index, fed } = streamOfType(origin, type)
    const { recordBytes } = type.layout
    let refused = 0
    for (let record = 0, at = 0; record < count; record++, at += recordBytes) {
      const timeMs = numberAt(type.time, views, at) * toMs
      const id = index.of(views, at)
      let one = fed[id]
      if (one === undefined || (one === null && this.#windowCount < this.#windowLimit)) {
        one = this.#open(origin, places, batch, labelsOf(type, source, views, at), timeMs)
        fed[id] = one
      }
      if (one === null) refused++
      else this.#feed(one, type, views, at, timeMs)
    }
    return refused
  }

  /** Forgets series and sources that have been silent for long. */
  sweep(nowMs: number, silentMs = FORGET_MS): void {
    for (const [key, series] of this.series) {
      if (Math.abs(nowMs - series.seenMs) < silentMs) continue
      this.series.delete(key)
      this.#windowCount -= series.windows.length
      this.version++
    }
    for (const [source, { streams }] of this.#origins) {
      for (const [type, { fed }] of streams) {
        const isKept = fed.some(
          (one) => one === null || this.series.get(watchedSeriesKey(type.name, one.series.labels)) === one.series,
        )
        if (!isKept) streams.delete(type)
      }
      if (streams.size === 0) this.#origins.delete(source)
    }
  }

  clear(): void {
    this.series.clear()
    this.#origins.clear()
    this.#windowCount = 0
    this.version++
  }

  #placesOf(type: RecordType): readonly SignalSlot[] {
    const known = this.#places.get(type)
    if (known !== undefined) return known
    const places = (SIGNALS_OF_TYPE.get(type.name) ?? []).flatMap((signal): SignalSlot[] => {
      const slot = type.layout.slots.find(({ name, field }) => name === signal.field && field.count === 1)
      return slot === undefined ? [] : [{ slot, signal }]
    })
    this.#places.set(type, places)
    return places
  }

  #originOf(source: SourceInfo, timeMs: number): Origin {
    let origin = this.#origins.get(source)
    if (origin === undefined) {
      const owner = ownerOf(source)
      // A source that replaces another inherits its first time.
      const before = [...this.#origins].find(([other]) => ownerOf(other) === owner)?.[1]
      origin = { firstMs: before?.firstMs ?? timeMs, streams: new Map() }
      this.#origins.set(source, origin)
    }
    return origin
  }

  #hasRoom(windows: number, nowMs: number): boolean {
    if (this.#windowCount + windows <= this.#windowLimit) return true
    if (Math.abs(nowMs - this.#fullMs) < FORGET_FULL_MS) return false
    this.#fullMs = nowMs
    this.sweep(nowMs, FORGET_FULL_MS)
    return this.#windowCount + windows <= this.#windowLimit
  }

  #feed({ series, feeds }: FedSeries, { layout }: RecordType, views: Views, at: number, timeMs: number): void {
    const apartMs = timeMs - series.seenMs
    if (apartMs >= 0 && apartMs < APART_MS) return
    series.seenMs = timeMs
    const isFrozen = this.frozen.has(series.node)
    for (const { slot, window } of feeds)
      if (isPresent(layout, slot, views, at)) window.push(timeMs, numberAt(slot, views, at), isFrozen)
  }

  #open(
    { firstMs }: Origin,
    places: readonly SignalSlot[],
    { type }: Batch,
    labels: Labels,
    timeMs: number,
  ): FedSeries | null {
    const wanted = places.filter(({ signal }) => signal.where === undefined || signal.where(labels))
    const key = watchedSeriesKey(type.name, labels)
    let series = this.series.get(key)
    // A source that replaces another, as a child process does, continues its series.
    if (series === undefined) {
      if (!this.#hasRoom(wanted.length, this.nowMs ?? timeMs)) return null
      const windows = wanted.map(({ signal }) => ({ signal, window: new SignalWindow(signal) }))
      for (const { signal, window } of windows) if (timeMs - firstMs > signal.bornAfterMs) window.beginAtZero(timeMs)
      const node = whichNode({ isSimulated: isSimulatedSeries(labels) })
      series = { type, labels, node, windows, seenMs: Number.NEGATIVE_INFINITY }
      this.series.set(key, series)
      this.#windowCount += windows.length
      this.version++
    }
    const { windows } = series
    const feeds = wanted.flatMap(({ slot, signal }): Feed[] => {
      const found = windows.find((one) => one.signal === signal)
      return found === undefined ? [] : [{ slot, window: found.window }]
    })
    return { series, feeds }
  }
}

function streamOfType({ streams }: Origin, type: RecordType): Stream {
  let stream = streams.get(type)
  if (stream === undefined) {
    stream = { index: new SeriesIndex(type), fed: [] }
    streams.set(type, stream)
  }
  return stream
}

function watchedSeriesKey(type: string, labels: Labels): string {
  return `${type}\n${seriesKey(labels)}`
}
