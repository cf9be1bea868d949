import { type BatchSymbols, msFactorOf, type RecordType, SeriesIndex, type Slot, type Views, viewsOf } from '@sonde/sdk'
import { SAMPLE_COUNT_LIMIT, VALUE_COUNT_LIMIT, type WordColumn } from '../codec/column.ts'
import { encodeColumn } from '../codec/encode-column.ts'
import type { Arena } from './arena.ts'
import type { StoredType } from './catalogue.ts'
import { columnsOf, wordCountOf } from './field-words.ts'
import type { HeadUnit, UnitRecords } from './head.ts'
import { type NewSegment, ORDER_FIELD, RAW, SEGMENT_SERIES_LIMIT, TIMES_FIELD } from './segments.ts'
import type { SeriesLookup, SeriesResolver } from './series-resolver.ts'
import { hourOf, hourStartMs } from './slots-of-time.ts'

/** Columns that are read at a time. Unit: words of 32 bits. */
const MEMORY_WORDS = 1 << 20

/** The number of a record of which the series is not known. */
const NO_SERIES = 0xffffffff

/** Records of one series, in time order. */
interface SeriesRecords {
  readonly series: number
  readonly offsets: Uint32Array
  /** Timestamps as words; where the type has none, the arrival in nanoseconds. */
  readonly times: Uint32Array
  /** Which record each is in the order of arrival; undefined where that is the order of the samples. */
  readonly order: Uint32Array | undefined
}

/**
 * Turns records of one type, writer and hour into segments: one compressed chunk per series and field, and one per
 * series for the times. A generator, so that the worker answers questions between any two series. It resets the arena,
 * and takes its memory from there.
 */
export function* compact(
  unit: HeadUnit,
  records: UnitRecords,
  stored: StoredType,
  source: { readonly id: number; readonly symbols: Pick<BatchSymbols, 'text'> },
  finder: SeriesFinder,
  arena: Arena,
): Generator<undefined, NewSegment[]> {
  const { type } = stored
  arena.reset()
  const joined = join(records, type, arena)
  const { views } = joined
  const groups = groupBySeries(joined, type, finder, arena)
  yield
  const segments: NewSegment[] = []
  for (const part of partsOf(groups, type)) segments.push(yield* encodePart(part, unit, stored, source, views, arena))
  return segments
}

/** What finds the series of a record. */
export interface SeriesFinder {
  readonly resolver: SeriesResolver
  readonly lookup: SeriesLookup
}

/** Series in the order of their first record, and how many records they have. */
interface Group {
  readonly number: number
  count: number
}

/** The records of all rows side by side; `arrivals` where the type has no timestamp. */
interface Joined {
  readonly count: number
  readonly views: Views
  readonly arrivals: Float64Array | undefined
}

function join({ rows, bytes }: UnitRecords, type: RecordType, arena: Arena): Joined {
  const { recordBytes } = type.layout
  const count = bytes.length / recordBytes
  const arrivals = type.time === undefined ? arena.take(count) : undefined
  for (const { offset, firstMs } of rows) arrivals?.fill(firstMs, offset / recordBytes)
  return { count, views: viewsOf(bytes), arrivals }
}

/**
 * Gives each record the number of its series' group; {@link NO_SERIES} where it has none. Records are counted, so that
 * those of each group fill an array of their number.
 */
function numberRecords(
  { count, views }: Joined,
  recordBytes: number,
  { resolver, lookup }: SeriesFinder,
  arena: Arena,
): { readonly groups: ReadonlyMap<number, Group>; readonly numbers: Uint32Array } {
  const groups = new Map<number, Group>()
  /** By the resolver's numbers, of which a series may have several. */
  const groupOf: Group[] = []
  const groupFor = (number: number): Group => {
    const series = resolver.at(number)?.id ?? -1
    const group = groups.get(series) ?? { number: groups.size, count: 0 }
    groups.set(series, group)
    groupOf[number] = group
    return group
  }
  const numbers = arena.words(count).fill(NO_SERIES)
  for (let from = 0; from < count; from += SeriesIndex.foundMax) {
    const found = resolver.numbersOf(views, from * recordBytes, Math.min(SeriesIndex.foundMax, count - from), lookup)
    for (let record = from; record < from + SeriesIndex.foundMax && record < count; record++) {
      const number = found[record - from] ?? -1
      // Every series was stored before its first record was.
      if (number < 0) continue
      const group = groupOf[number] ?? groupFor(number)
      group.count++
      numbers[record] = group.number
    }
  }
  return { groups, numbers }
}

function groupBySeries(joined: Joined, type: RecordType, finder: SeriesFinder, arena: Arena): SeriesRecords[] {
  const { count } = joined
  const { recordBytes } = type.layout
  const { groups, numbers } = numberRecords(joined, recordBytes, finder, arena)
  const recordsOf = [...groups.values()].map((group) => arena.words(group.count))
  const filled = new Uint32Array(recordsOf.length)
  for (let record = 0; record < count; record++) {
    const number = numbers[record] ?? NO_SERIES
    const records = recordsOf[number]
    if (records === undefined) continue
    const place = filled[number] ?? 0
    records[place] = record
    filled[number] = place + 1
  }
  return [...groups.keys()].map((series, number): SeriesRecords => {
    const { records, times } = sortByTime(recordsOf[number] ?? numbers, joined, type, arena)
    const offsets = arena.words(records.length)
    for (let i = 0; i < records.length; i++) offsets[i] = (records[i] ?? 0) * recordBytes
    const isInOrder = groups.size === 1 && records.every((record, i) => record === i)
    return { series, offsets, order: isInOrder ? undefined : records, times }
  })
}

/** Records nearly always come in order; then nothing is done. */
function sortByTime(
  records: Uint32Array,
  joined: Joined,
  type: RecordType,
  arena: Arena,
): { readonly records: Uint32Array; readonly times: Uint32Array } {
  const times = timesOf(records, joined, type, arena)
  const timeOf = (i: number) => (times[2 * i + 1] ?? 0) * 4294967296 + (times[2 * i] ?? 0)
  let before = Number.NEGATIVE_INFINITY
  for (let i = 0; i < records.length; i++) {
    const time = timeOf(i)
    if (time < before) {
      const sorted = Uint32Array.from(records.keys()).sort((a, b) => timeOf(a) - timeOf(b) || a - b)
      const inOrder = sorted.map((place) => records[place] ?? 0)
      return { records: inOrder, times: timesOf(inOrder, joined, type, arena) }
    }
    before = time
  }
  return { records, times }
}

function timesOf(records: Uint32Array, { views, arrivals }: Joined, type: RecordType, arena: Arena): Uint32Array {
  const words = arena.words(2 * records.length)
  const exact = new BigUint64Array(words.buffer, words.byteOffset, records.length)
  for (let i = 0; i < records.length; i++) {
    const record = records[i] ?? 0
    if (type.time === undefined) {
      exact[i] = BigInt(arrivals?.[record] ?? 0) * 1_000_000n
    } else {
      const at = record * type.layout.recordBytes + type.time.offset
      words[2 * i] = views.data.getUint32(at, true)
      words[2 * i + 1] = views.data.getUint32(at + 4, true)
    }
  }
  return words
}

/**
 * Cuts the series so that every part keeps within the limits of a segment and of a column; nearly always it is one
 * part.
 */
function* partsOf(groups: readonly SeriesRecords[], type: RecordType): Generator<SeriesRecords[]> {
  const elements = Math.max(...type.layout.slots.map((slot) => slot.field.count))
  const limit = Math.max(1, Math.min(SAMPLE_COUNT_LIMIT, Math.floor(VALUE_COUNT_LIMIT / elements)))
  for (let from = 0; ; from += limit) {
    const rest = groups
      .filter(({ offsets }) => offsets.length > from)
      .map(({ series, offsets, order, times }) => ({
        series,
        offsets: offsets.subarray(from, from + limit),
        order: order?.subarray(from, from + limit),
        times: times.subarray(2 * from, 2 * (from + limit)),
      }))
    if (rest.length === 0) return
    for (let at = 0; at < rest.length; at += SEGMENT_SERIES_LIMIT) yield rest.slice(at, at + SEGMENT_SERIES_LIMIT)
  }
}

function* encodePart(
  part: readonly SeriesRecords[],
  { clock, hour: slot }: HeadUnit,
  { id, type }: StoredType,
  source: { readonly id: number; readonly symbols: Pick<BatchSymbols, 'text'> },
  views: Views,
  arena: Arena,
): Generator<undefined, NewSegment> {
  const slots = type.layout.slots.filter((slot) => slot !== type.time && slot.field.role !== 'label')
  const fields = [TIMES_FIELD, ORDER_FIELD, ...slots.map((slot) => slot.index + 1)]
  const chunks = new Map(fields.map((field): [number, (Uint8Array | undefined)[]] => [field, []]))
  const timesOf = new Uint32Array(part.length)
  const times = { kind: 'u64', elements: 1, present: null, texts: null } as const
  // The last series whose times are kept; those that were sampled together with it share them.
  let owner = 0
  // Columns are packed before the next are read.
  const memory = arena.words(wordsFor(slots, Math.max(...part.map(({ offsets }) => offsets.length))))
  for (const [number, records] of part.entries()) {
    const count = records.offsets.length
    const isShared = number > owner && isSame(records.times, part[owner]?.times)
    if (!isShared) owner = number
    timesOf[number] = owner
    chunks.get(TIMES_FIELD)?.push(isShared ? undefined : encodeColumn({ ...times, count, words: records.times }))
    chunks
      .get(ORDER_FIELD)
      ?.push(records.order === undefined ? undefined : encodeColumn(orderColumn(records.order, arena)))
    for (const some of slotsThatFit(slots, count, memory.length)) {
      const columns = columnsOf(type.layout, some, views, records.offsets, source.symbols, memory)
      for (const [i, column] of columns.entries()) chunks.get((some[i]?.index ?? 0) + 1)?.push(encodeColumn(column))
    }
    yield
  }
  const { firstMs, lastMs } = rangeOf(part, msFactorOf(type))
  const isOfHour = clock === 'wall' && firstMs > hourStartMs(slot) && hourOf(lastMs) === slot
  return {
    level: RAW,
    type: id,
    source: source.id,
    clock,
    slot,
    firstMs,
    lastMs,
    samples: part.reduce((sum, { offsets }) => sum + offsets.length, 0),
    rolled: isOfHour ? 'no' : 'never',
    series: Uint32Array.from(part, ({ series }) => series),
    timesOf,
    chunks,
  }
}

/** Room for the columns of all fields of one series where that is not too much, and for those of each at least. */
function wordsFor(slots: readonly Slot[], count: number): number {
  const lengths = slots.map((slot) => wordCountOf(slot, count))
  const all = lengths.reduce((sum, length) => sum + length, 0)
  return Math.max(Math.min(all, MEMORY_WORDS), ...lengths)
}

/** Fields, in order, whose columns have room in `words` together. */
function* slotsThatFit(slots: readonly Slot[], count: number, words: number): Generator<Slot[]> {
  let some: Slot[] = []
  let left = words
  for (const slot of slots) {
    const length = wordCountOf(slot, count)
    if (length > left) {
      yield some
      some = []
      left = words
    }
    some.push(slot)
    left -= length
  }
  if (some.length > 0) yield some
}

function orderColumn(order: Uint32Array, arena: Arena): WordColumn {
  const words = arena.words(2 * order.length).fill(0)
  for (let i = 0; i < order.length; i++) words[2 * i] = order[i] ?? 0
  return { kind: 'u32', count: order.length, elements: 1, words, present: null, texts: null }
}

function isSame(a: Uint32Array | undefined, b: Uint32Array | undefined): boolean {
  return a !== undefined && b !== undefined && Buffer.compare(bytesOf(a), bytesOf(b)) === 0
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

function rangeOf(part: readonly SeriesRecords[], factor: number): { firstMs: number; lastMs: number } {
  let firstMs = Number.POSITIVE_INFINITY
  let lastMs = Number.NEGATIVE_INFINITY
  for (const { times } of part) {
    const at = (word: number) => ((times[word + 1] ?? 0) * 4294967296 + (times[word] ?? 0)) * factor
    firstMs = Math.min(firstMs, at(0))
    lastMs = Math.max(lastMs, at(times.length - 2))
  }
  return { firstMs, lastMs }
}
