import { type RecordType, type Views, viewsOf } from '@sonde/sdk'
import { SeriesIndex } from '@sonde/sdk/internal'
import type { Arena } from './arena.ts'
import type { UnitRecords } from './head.ts'
import type { SeriesLookup, SeriesResolver } from './series-resolver.ts'

/** Finds the series of a record. */
export interface SeriesFinder {
  readonly resolver: SeriesResolver
  readonly lookup: SeriesLookup
}

/** Adjacent places. */
export interface Places {
  readonly start: number
  readonly count: number
}

/** Places of the samples of one series. */
export interface SeriesStretch extends Places {
  readonly series: number
}

/**
 * Records sorted by series, and within a series by time. The last are records with an unknown series.
 */
export interface GroupedRecords {
  readonly views: Views
  readonly count: number
  readonly groups: readonly SeriesStretch[]
  /** The place of each record. */
  readonly places: Uint32Array
  /** The record of each place. */
  readonly records: Uint32Array
  /** Timestamps by place, as low and high word; where the type has none, the arrival in nanoseconds. */
  readonly times: Uint32Array
}

interface Group {
  readonly number: number
  count: number
}

/** The number of a record with an unknown series. */
const NO_SERIES = 0xffffffff

/** Groups the records of a unit by their series. */
export function groupBySeries(
  { rows, bytes }: UnitRecords,
  type: RecordType,
  finder: SeriesFinder,
  arena: Arena,
): GroupedRecords {
  const { recordBytes } = type.layout
  const count = bytes.length / recordBytes
  const views = viewsOf(bytes)
  const { series, numbers } = numberRecords(views, count, recordBytes, finder, arena)
  const groups: SeriesStretch[] = []
  let start = 0
  for (const [id, group] of series) {
    groups.push({ series: id, start, count: group.count })
    start += group.count
  }
  const grouped = { views, count, groups, ...placesOf(numbers, groups, arena), times: arena.words(2 * count) }
  if (type.time === undefined) readArrivals(grouped, rows, recordBytes)
  else readTimes(grouped, recordBytes, type.time.offset)
  for (const group of groups) sortByTime(grouped, group)
  return grouped
}

/**
 * Assigns to each record the number of its series' group, or {@link NO_SERIES}. Groups are in the order of their first
 * record.
 */
function numberRecords(
  views: Views,
  count: number,
  recordBytes: number,
  { resolver, lookup }: SeriesFinder,
  arena: Arena,
): { readonly series: ReadonlyMap<number, Group>; readonly numbers: Uint32Array } {
  const series = new Map<number, Group>()
  /** By number of the resolver, which may have several numbers for a series. */
  const groupOf: Group[] = []
  const groupFor = (number: number): Group => {
    const id = resolver.at(number)?.id ?? -1
    const group = series.get(id) ?? { number: series.size, count: 0 }
    series.set(id, group)
    groupOf[number] = group
    return group
  }
  const numbers = arena.words(count).fill(NO_SERIES)
  for (let from = 0; from < count; from += SeriesIndex.foundMax) {
    const end = Math.min(from + SeriesIndex.foundMax, count)
    const found = resolver.numbersOf(views, from * recordBytes, end - from, lookup)
    for (let record = from; record < end; record++) {
      const number = found[record - from] ?? -1
      // Every series was stored before its first record.
      if (number < 0) continue
      const group = groupOf[number] ?? groupFor(number)
      group.count++
      numbers[record] = group.number
    }
  }
  return { series, numbers }
}

/** Assigns to each record its place, in the memory of the numbers. */
function placesOf(
  numbers: Uint32Array,
  groups: readonly SeriesStretch[],
  arena: Arena,
): Pick<GroupedRecords, 'places' | 'records'> {
  const next = Uint32Array.from(groups, ({ start }) => start)
  let unknown = groups.reduce((sum, { count }) => sum + count, 0)
  const places = numbers
  const records = arena.words(numbers.length)
  for (let record = 0; record < numbers.length; record++) {
    const number = numbers[record] ?? NO_SERIES
    const place = number === NO_SERIES ? unknown++ : (next[number] ?? 0)
    if (number !== NO_SERIES) next[number] = place + 1
    places[record] = place
    records[place] = record
  }
  return { places, records }
}

function readTimes({ views, count, places, times }: GroupedRecords, recordBytes: number, offset: number): void {
  const exact = new BigUint64Array(times.buffer, times.byteOffset, count)
  for (let record = 0, at = offset; record < count; record++, at += recordBytes) {
    exact[places[record] ?? 0] = views.data.getBigUint64(at, true)
  }
}

function readArrivals({ count, places, times }: GroupedRecords, rows: UnitRecords['rows'], recordBytes: number): void {
  const exact = new BigUint64Array(times.buffer, times.byteOffset, count)
  for (const [i, { offset, firstMs }] of rows.entries()) {
    const end = (rows[i + 1]?.offset ?? count * recordBytes) / recordBytes
    const ns = BigInt(firstMs) * 1_000_000n
    for (let record = offset / recordBytes; record < end; record++) exact[places[record] ?? 0] = ns
  }
}

/** Sorts only if needed: records nearly always come in order. */
function sortByTime({ count: total, places, records, times }: GroupedRecords, { start, count }: Places): void {
  if (isRising(times, start, count)) return
  const exact = new BigUint64Array(times.buffer, times.byteOffset, total).subarray(start, start + count)
  const recordsBefore = records.slice(start, start + count)
  const timesBefore = exact.slice()
  const sorted = Uint32Array.from(recordsBefore.keys()).sort((a, b) => {
    const [timeA, timeB] = [timesBefore[a] ?? 0n, timesBefore[b] ?? 0n]
    return timeA < timeB ? -1 : timeA > timeB ? 1 : a - b
  })
  for (const [i, from] of sorted.entries()) {
    const record = recordsBefore[from] ?? 0
    records[start + i] = record
    places[record] = start + i
    exact[i] = timesBefore[from] ?? 0n
  }
}

function isRising(times: Uint32Array, start: number, count: number): boolean {
  let lowBefore = 0
  let highBefore = 0
  for (let word = 2 * start; word < 2 * (start + count); word += 2) {
    const low = times[word] ?? 0
    const high = times[word + 1] ?? 0
    if (high < highBefore || (high === highBefore && low < lowBefore)) return false
    lowBefore = low
    highBefore = high
  }
  return true
}
