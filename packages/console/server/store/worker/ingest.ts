import { type RecordType, type Views, viewsOf } from '@sonde/sdk'
import { type Clock, msFactorOf, SeriesIndex } from '@sonde/sdk/internal'
import type { PageEntry } from '../protocol.ts'
import type { NewHeadRow } from './head-rows.ts'
import { REFUSED, type SeriesLookup, type SeriesResolver } from './series-resolver.ts'
import { hourOf, timeMsAt } from './slots-of-time.ts'
import type { StoredType } from './store-catalogue.ts'

/** Records that become one row of the head. */
interface Bundle {
  readonly hour: number
  firstMs: number
  lastMs: number
  count: number
  /** Adjacent records: start and end in the page. Unit: bytes. */
  readonly stretches: { from: number; to: number }[]
}

/** The times of some records. */
interface Range {
  firstMs: number
  lastMs: number
}

/** Adjacent records of one hour, with their end. */
interface Stretch extends Range {
  readonly hour: number
  readonly from: number
}

/** Plausible wall times. Records with other times are kept unchanged, in the hour of their arrival. */
export interface BelievedTimes {
  readonly fromMs: number
  readonly toMs: number
}

/** The rows from the entries of one type, writer and clock, and the number of refused records. */
export interface Ingested {
  readonly rows: readonly NewHeadRow[]
  readonly dropped: readonly (readonly [entry: PageEntry, records: number])[]
}

/** The parts that entries are read with. */
export interface IngestContext {
  readonly stored: StoredType
  /** Id of the writer. */
  readonly writer: number
  readonly resolver: SeriesResolver
  readonly lookup: SeriesLookup
  readonly believed: BelievedTimes
}

/**
 * Turns entries of a page into rows of the head: records are sorted into hours, kept unchanged, and written without a
 * copy. Records of a clock other than wall time belong to the hour of their arrival, and so do records with an
 * implausible time: a device with a broken clock must not create a million hours, nor have its records expire at once.
 */
export function ingest(memory: SharedArrayBuffer, entries: readonly PageEntry[], context: IngestContext): Ingested {
  const { stored, writer, resolver, lookup } = context
  const { recordBytes } = stored.type.layout
  const bytes = new Uint8Array(memory)
  const views = viewsOf(bytes)
  const bundles = new Map<number, Bundle>()
  const dropped: [PageEntry, number][] = []
  for (const entry of entries) {
    const sorter = new Sorter(views, entry, bundles, context)
    const end = entry.offset + entry.count * recordBytes
    for (let at = entry.offset, left = entry.count; left > 0; left -= SeriesIndex.foundMax) {
      const count = Math.min(SeriesIndex.foundMax, left)
      sorter.take(at, resolver.numbersOf(views, at, count, lookup), 0, count)
      at += count * recordBytes
    }
    sorter.cut(end)
    if (sorter.droppedRecords > 0) dropped.push([entry, sorter.droppedRecords])
  }
  const clock: Clock = entries[0]?.clock ?? 'wall'
  const rows = [...bundles.values()].map(({ stretches, ...range }): NewHeadRow => {
    const pieces = stretches.map(({ from, to }) => bytes.subarray(from, to))
    return { type: stored.id, writer, clock, ...range, pieces }
  })
  return { rows, dropped }
}

/** Sorts the records of one entry into hours. */
class Sorter {
  droppedRecords = 0
  readonly #views: Views
  readonly #entry: PageEntry
  readonly #bundles: Map<number, Bundle>
  readonly #context: IngestContext
  readonly #arrivalHour: number
  readonly #factor: number
  /** Adjacent records of one hour whose series were accepted are added together. */
  #stretch: Stretch | undefined

  constructor(views: Views, entry: PageEntry, bundles: Map<number, Bundle>, context: IngestContext) {
    this.#views = views
    this.#entry = entry
    this.#bundles = bundles
    this.#context = context
    this.#arrivalHour = hourOf(entry.arrivalMs)
    this.#factor = msFactorOf(context.stored.type)
  }

  /**
   * Takes `count` adjacent records whose series have the `numbers` from `place` on. Nearly always they are of one hour
   * and all accepted: then they are taken together, else one by one.
   */
  take(at: number, numbers: Int32Array, place: number, count: number): void {
    const range = this.#rangeOf(at, count)
    const hour = this.#hourOf(range)
    if (this.#haveRoom(numbers, place, count) && hour !== undefined) {
      this.#extend(at, hour, range)
    } else if (count === 1) {
      this.droppedRecords++
      this.cut(at)
    } else {
      const { recordBytes } = this.#context.stored.type.layout
      for (let i = 0; i < count; i++) this.take(at + i * recordBytes, numbers, place + i, 1)
    }
  }

  /** Extends the current range of records to `to`. */
  cut(to: number): void {
    if (this.#stretch !== undefined) {
      addStretch(this.#bundles, this.#context.stored.type, this.#entry, this.#stretch, to)
    }
    this.#stretch = undefined
  }

  #extend(at: number, hour: number, { firstMs, lastMs }: Range): void {
    if (this.#stretch?.hour !== hour) {
      this.cut(at)
      this.#stretch = { hour, from: at, firstMs, lastMs }
      return
    }
    if (firstMs < this.#stretch.firstMs) this.#stretch.firstMs = firstMs
    if (lastMs > this.#stretch.lastMs) this.#stretch.lastMs = lastMs
  }

  /** Whether all these series are accepted. Marks the accepted series as seen now. */
  #haveRoom(numbers: Int32Array, place: number, count: number): boolean {
    const { resolver } = this.#context
    let haveRoom = true
    for (let i = place; i < place + count; i++) {
      const series = resolver.at(numbers[i] ?? -1)
      if (series === undefined || series === REFUSED) haveRoom = false
      else series.seenHour = this.#arrivalHour
    }
    return haveRoom
  }

  #rangeOf(at: number, count: number): Range {
    const { time, layout } = this.#context.stored.type
    if (time === undefined) return { firstMs: this.#entry.arrivalMs, lastMs: this.#entry.arrivalMs }
    const factor = this.#factor
    let firstMs = Number.POSITIVE_INFINITY
    let lastMs = Number.NEGATIVE_INFINITY
    for (let i = 0; i < count; i++) {
      const timeMs = timeMsAt(this.#views, at + i * layout.recordBytes, time.offset, factor)
      if (timeMs < firstMs) firstMs = timeMs
      if (timeMs > lastMs) lastMs = timeMs
    }
    return { firstMs, lastMs }
  }

  /** The hour of all records in a range; undefined if there may be several. */
  #hourOf({ firstMs, lastMs }: Range): number | undefined {
    if (this.#entry.clock !== 'wall' || this.#context.stored.type.time === undefined) return this.#arrivalHour
    const { fromMs, toMs } = this.#context.believed
    if (lastMs <= fromMs || firstMs > toMs) return this.#arrivalHour
    const hour = hourOf(firstMs)
    return firstMs > fromMs && lastMs <= toMs && hourOf(lastMs) === hour ? hour : undefined
  }
}

function addStretch(
  bundles: Map<number, Bundle>,
  type: RecordType,
  { arrivalMs }: PageEntry,
  { hour, from, firstMs, lastMs }: Stretch,
  to: number,
): void {
  // Records without a timestamp have the arrival time of their row, so such a row has one arrival only.
  const key = type.time === undefined ? arrivalMs : hour
  const bundle = bundles.get(key) ?? { hour, firstMs, lastMs, count: 0, stretches: [] }
  bundles.set(key, bundle)
  if (firstMs < bundle.firstMs) bundle.firstMs = firstMs
  if (lastMs > bundle.lastMs) bundle.lastMs = lastMs
  bundle.count += (to - from) / type.layout.recordBytes
  const last = bundle.stretches.at(-1)
  if (last?.to === from) last.to = to
  else bundle.stretches.push({ from, to })
}
