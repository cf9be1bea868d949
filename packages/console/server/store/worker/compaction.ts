import type { BatchSymbols, RecordType } from '@sonde/sdk'
import { msFactorOf, type Slot } from '@sonde/sdk/internal'
import { COLUMN_VALUE_COUNT_LIMIT, SAMPLE_COUNT_LIMIT } from '../codec/column.ts'
import { encodeColumn } from '../codec/encode-column.ts'
import type { Arena } from './arena.ts'
import { FieldColumns, wordCountOf } from './field-words.ts'
import type { HeadUnit, UnitRecords } from './head.ts'
import { type NewSegment, ORDER_FIELD, RAW, SEGMENT_SERIES_LIMIT, TIMES_FIELD } from './segments.ts'
import {
  type GroupedRecords,
  groupBySeries,
  type Places,
  type SeriesFinder,
  type SeriesStretch,
} from './series-groups.ts'
import { hourOf, hourStartMs } from './slots-of-time.ts'
import type { StoredType } from './store-catalogue.ts'

/** Size of the columns that are read at a time. Unit: 32-bit words. */
const MEMORY_WORDS = 1 << 20

/** Whose records they are. */
interface StoredSource {
  readonly id: number
  readonly symbols: Pick<BatchSymbols, 'text'>
}

/**
 * Turns records of one type, writer and hour into segments: one compressed chunk for each series and field, and one for
 * the times of each series. A generator, so that the worker can answer questions between any two series. It resets the
 * arena, and takes its memory from there.
 */
export function* compact(
  unit: HeadUnit,
  records: UnitRecords,
  stored: StoredType,
  source: StoredSource,
  finder: SeriesFinder,
  arena: Arena,
): Generator<undefined, NewSegment[]> {
  arena.reset()
  const grouped = groupBySeries(records, stored.type, finder, arena)
  yield
  const segments: NewSegment[] = []
  for (const part of partsOf(grouped.groups, stored.type)) {
    segments.push(yield* encodePart(part, unit, stored, source, grouped, arena))
  }
  return segments
}

/**
 * Cuts the series into parts within the limits of a segment and of a column. Nearly always there is one part.
 */
function* partsOf(groups: readonly SeriesStretch[], type: RecordType): Generator<SeriesStretch[]> {
  const limit = Math.max(
    1,
    Math.min(SAMPLE_COUNT_LIMIT, Math.floor(COLUMN_VALUE_COUNT_LIMIT / elementsOf(type.layout.slots))),
  )
  for (let from = 0; ; from += limit) {
    const rest = groups
      .filter(({ count }) => count > from)
      .map(({ series, start, count }) => ({ series, start: start + from, count: Math.min(count - from, limit) }))
    if (rest.length === 0) return
    for (let at = 0; at < rest.length; at += SEGMENT_SERIES_LIMIT) yield rest.slice(at, at + SEGMENT_SERIES_LIMIT)
  }
}

function* encodePart(
  part: readonly SeriesStretch[],
  { clock, hour: slot }: HeadUnit,
  { id, type }: StoredType,
  source: StoredSource,
  grouped: GroupedRecords,
  arena: Arena,
): Generator<undefined, NewSegment> {
  const slots = type.layout.slots.filter((slot) => slot !== type.time && slot.field.role !== 'label')
  const fields = [TIMES_FIELD, ORDER_FIELD, ...slots.map((slot) => slot.index + 1)]
  const chunks = new Map(fields.map((field): [number, (Uint8Array | undefined)[]] => [field, []]))
  const timesOf = new Uint32Array(part.length)
  // The last series with stored times; series that were sampled together with it share them.
  let owner = 0
  for (const [number, stretch] of part.entries()) {
    const isShared =
      number > owner && isSame(timesOfStretch(stretch, grouped), timesOfStretch(part[owner] ?? stretch, grouped))
    if (!isShared) owner = number
    timesOf[number] = owner
    chunks.get(TIMES_FIELD)?.push(isShared ? undefined : encodeTimes(stretch, grouped))
    chunks.get(ORDER_FIELD)?.push(encodeOrder(stretch, grouped, arena))
    yield
  }
  const memory = arena.words(memoryFor(part, slots))
  for (const stretches of stretchesThatFit(part, slots, memory.length)) {
    const places = hullOf(stretches)
    for (const some of slotsThatFit(slots, places.count, memory.length)) {
      const columns = new FieldColumns(type.layout, some, grouped, places, memory)
      yield
      for (const stretch of stretches) {
        for (const slot of some) {
          chunks.get(slot.index + 1)?.push(encodeColumn(columns.of(slot, stretch, source.symbols)))
        }
        yield
      }
    }
  }
  const { firstMs, lastMs } = rangeOf(part, grouped.times, msFactorOf(type))
  const isOfHour = clock === 'wall' && firstMs > hourStartMs(slot) && hourOf(lastMs) === slot
  return {
    level: RAW,
    type: id,
    source: source.id,
    clock,
    slot,
    firstMs,
    lastMs,
    samples: part.reduce((sum, { count }) => sum + count, 0),
    rolled: isOfHour ? 'no' : 'never',
    series: Uint32Array.from(part, ({ series }) => series),
    timesOf,
    chunks,
  }
}

function timesOfStretch({ start, count }: Places, { times }: GroupedRecords): Uint32Array {
  return times.subarray(2 * start, 2 * (start + count))
}

function encodeTimes(stretch: Places, grouped: GroupedRecords): Uint8Array {
  const words = timesOfStretch(stretch, grouped)
  return encodeColumn({ kind: 'u64', count: stretch.count, elements: 1, words, present: null, texts: null })
}

/** The position of each sample in order of arrival; undefined if that is the order of the samples. */
function encodeOrder({ start, count }: Places, grouped: GroupedRecords, arena: Arena): Uint8Array | undefined {
  const records = grouped.records.subarray(start, start + count)
  if (grouped.groups.length === 1 && records.every((record, i) => record === start + i)) return undefined
  const words = arena.words(2 * count).fill(0)
  for (let i = 0; i < count; i++) words[2 * i] = records[i] ?? 0
  return encodeColumn({ kind: 'u32', count, elements: 1, words, present: null, texts: null })
}

/** The places from the first to the last of some stretches. */
function hullOf(stretches: readonly SeriesStretch[]): Places {
  const start = stretches[0]?.start ?? 0
  const last = stretches.at(-1)
  return { start, count: last === undefined ? 0 : last.start + last.count - start }
}

/**
 * Enough memory for the columns of all fields of all series, up to a limit, and at least for those of any single
 * series.
 */
function memoryFor(part: readonly SeriesStretch[], slots: readonly Slot[]): number {
  const { count } = hullOf(part)
  const all = slots.reduce((sum, slot) => sum + wordCountOf(slot, count), 0)
  const longest = part.reduce((most, stretch) => Math.max(most, stretch.count), 0)
  return Math.max(Math.min(all, MEMORY_WORDS), 2 * longest * elementsOf(slots))
}

/** Groups of adjacent series; the columns of any one field of a group fit into `words`. */
function* stretchesThatFit(
  part: readonly SeriesStretch[],
  slots: readonly Slot[],
  words: number,
): Generator<SeriesStretch[]> {
  const limit = Math.floor(words / (2 * elementsOf(slots)))
  for (let from = 0, to = 0; from < part.length; from = to) {
    const { start = 0 } = part[from] ?? {}
    do to++
    while (to < part.length && (part[to]?.start ?? 0) + (part[to]?.count ?? 0) - start <= limit)
    yield part.slice(from, to)
  }
}

/** Groups of adjacent fields whose columns fit into `words` together. */
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

/** Number of elements of the widest field. */
function elementsOf(slots: readonly Slot[]): number {
  return Math.max(1, ...slots.map(({ field }) => field.count))
}

function isSame(a: Uint32Array, b: Uint32Array): boolean {
  return Buffer.compare(bytesOf(a), bytesOf(b)) === 0
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

function rangeOf(
  part: readonly SeriesStretch[],
  times: Uint32Array,
  factor: number,
): { firstMs: number; lastMs: number } {
  let firstMs = Number.POSITIVE_INFINITY
  let lastMs = Number.NEGATIVE_INFINITY
  for (const { start, count } of part) {
    const at = (place: number) => ((times[2 * place + 1] ?? 0) * 4294967296 + (times[2 * place] ?? 0)) * factor
    firstMs = Math.min(firstMs, at(start))
    lastMs = Math.max(lastMs, at(start + count - 1))
  }
  return { firstMs, lastMs }
}
