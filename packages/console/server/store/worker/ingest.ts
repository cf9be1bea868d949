import { type Clock, msFactorOf, type RecordType, SeriesIndex, type Views, viewsOf } from '@sonde/sdk'
import type { PageEntry } from '../protocol.ts'
import type { StoredType } from './catalogue.ts'
import type { NewHeadRow } from './head-rows.ts'
import { REFUSED, type SeriesLookup, type SeriesResolver } from './series-resolver.ts'
import { hourOf, timeMsAt } from './slots-of-time.ts'

/** Records that become one row of the head. */
interface Bundle {
  readonly hour: number
  firstMs: number
  lastMs: number
  count: number
  /** Stretches of records that lie side by side: start and end in the page. Unit: bytes. */
  readonly stretches: { from: number; to: number }[]
}

/** Records of one hour that lie side by side, up to where they end. */
interface Stretch {
  readonly hour: number
  readonly from: number
  firstMs: number
  lastMs: number
}

/** Wall times that are believed. Records of other times are kept as they are, under the hour in which they arrived. */
export interface BelievedTimes {
  readonly fromMs: number
  readonly toMs: number
}

/** What the entries of one type, writer and clock become, and how many records of which had no room. */
export interface Ingested {
  readonly rows: readonly NewHeadRow[]
  readonly dropped: readonly (readonly [entry: PageEntry, records: number])[]
}

/** What entries are read with. */
export interface IngestContext {
  readonly stored: StoredType
  /** Id of the writer. */
  readonly writer: number
  readonly resolver: SeriesResolver
  readonly lookup: SeriesLookup
  readonly believed: BelievedTimes
}

/**
 * Turns entries of a page into rows of the head: records are sorted into hours and otherwise kept byte by byte, and
 * written from where they lie. Records of a clock other than wall time belong to the hour in which they arrived, and so
 * do those of a time that cannot be: one device with a broken clock must not make a million hours, nor have its records
 * expire at once.
 */
export function ingest(memory: SharedArrayBuffer, entries: readonly PageEntry[], context: IngestContext): Ingested {
  const { stored, writer, resolver, lookup, believed } = context
  const { recordBytes } = stored.type.layout
  const bytes = new Uint8Array(memory)
  const views = viewsOf(bytes)
  const bundles = new Map<number, Bundle>()
  const dropped: [PageEntry, number][] = []
  for (const entry of entries) {
    const end = entry.offset + entry.count * recordBytes
    const hourOfRecord = hoursOf(stored.type, entry, believed)
    const arrivalHour = hourOf(entry.arrivalMs)
    let droppedRecords = 0
    // Records that follow each other, of one hour and of series that have room, are added together.
    let stretch: Stretch | undefined
    const add = (to: number) => {
      if (stretch !== undefined) addStretch(bundles, stored.type, entry, stretch, to)
      stretch = undefined
    }
    let numbers: Int32Array | undefined
    for (let at = entry.offset, i = 0; at < end; at += recordBytes, i++) {
      const place = i % SeriesIndex.foundMax
      if (place === 0) {
        numbers = resolver.numbersOf(views, at, Math.min(SeriesIndex.foundMax, entry.count - i), lookup)
      }
      const series = resolver.at(numbers?.[place] ?? -1)
      if (series === undefined || series === REFUSED) {
        droppedRecords++
        add(at)
        continue
      }
      series.seenHour = arrivalHour
      const timeMs = hourOfRecord.timeMs(views, at)
      const hour = hourOfRecord.hour(timeMs)
      if (stretch?.hour !== hour) {
        add(at)
        stretch = { hour, from: at, firstMs: timeMs, lastMs: timeMs }
      } else if (timeMs < stretch.firstMs) {
        stretch.firstMs = timeMs
      } else if (timeMs > stretch.lastMs) {
        stretch.lastMs = timeMs
      }
    }
    add(end)
    if (droppedRecords > 0) dropped.push([entry, droppedRecords])
  }
  const clock: Clock = entries[0]?.clock ?? 'wall'
  const rows = [...bundles.values()].map(({ stretches, ...range }): NewHeadRow => {
    const pieces = stretches.map(({ from, to }) => bytes.subarray(from, to))
    return { type: stored.id, writer, clock, ...range, pieces }
  })
  return { rows, dropped }
}

/** When a record was made, and the hour that it belongs to. */
interface Hours {
  timeMs(views: Views, at: number): number
  hour(timeMs: number): number
}

function hoursOf(type: RecordType, { clock, arrivalMs }: PageEntry, believed: BelievedTimes): Hours {
  const { time } = type
  const arrivalHour = hourOf(arrivalMs)
  if (time === undefined) return { timeMs: () => arrivalMs, hour: () => arrivalHour }
  const factor = msFactorOf(type)
  const isBelieved = (timeMs: number) => clock === 'wall' && timeMs > believed.fromMs && timeMs <= believed.toMs
  return {
    timeMs: (views, at) => timeMsAt(views, at, time.offset, factor),
    hour: (timeMs) => (isBelieved(timeMs) ? hourOf(timeMs) : arrivalHour),
  }
}

function addStretch(
  bundles: Map<number, Bundle>,
  type: RecordType,
  { arrivalMs }: PageEntry,
  { hour, from, firstMs, lastMs }: Stretch,
  to: number,
): void {
  // Records without a timestamp get the arrival of their row, which therefore holds one arrival only.
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
