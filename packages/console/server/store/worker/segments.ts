import type { DatabaseSync } from 'node:sqlite'
import type { Clock } from '@sonde/sdk/internal'
import { chunkOfGroup, GROUP_SERIES, packGroup } from './chunk-groups.ts'
import { queryNumber } from './database.ts'
import { DAY_HOURS, DAY_MS, HOUR_MS } from './slots-of-time.ts'
import type { StoredUnit } from './stored-blocks.ts'
import { TimesCache } from './times-cache.ts'

/** Largest number of series in one segment. */
export const SEGMENT_SERIES_LIMIT = 1 << 14
/** A segment can hold 2048 fields of {@link SEGMENT_SERIES_LIMIT} series; the ids of its chunks are contiguous. */
export const CHUNK_ID_STEP = 2 ** 22

/** Field number of the times; the slot with index `i` is field `i + 1`. */
export const TIMES_FIELD = 0
/**
 * Field number of the order: the arrival number of each sample in its compaction. Without it, the samples are in order
 * of arrival.
 */
export const ORDER_FIELD = 2047

/** Raw records, or bins of five minutes. */
export const RAW = 0
export const ROLLUP = 1

/**
 * Whether the values of raw records are in the roll-up of their day; `never` if their times are outside the hour of the
 * segment.
 */
export type Rolled = 'no' | 'yes' | 'never'
const ROLLED: readonly Rolled[] = ['no', 'yes', 'never']

/** Columns of some series of one type over one hour (raw) or day (roll-ups). The unit of compaction and of deletion. */
export interface StoreSegment {
  readonly id: number
  /** The first of the segments that were compacted together. */
  readonly first: number
  readonly level: number
  readonly type: number
  readonly source: number
  readonly clock: Clock
  /** Hours (raw) or days (roll-ups) since the Unix epoch. */
  readonly slot: number
  readonly firstMs: number
  readonly lastMs: number
  /** Number of samples of all series. */
  readonly samples: number
  readonly rolled: Rolled
  /** Series by their number in this segment. */
  readonly series: Uint32Array
  /** For each series the number of the series whose times it shares; its own number if it has its own times. */
  readonly timesOf: Uint32Array
}

/** A segment before it is stored: chunks by field, then by number of the series. */
export interface NewSegment extends Omit<StoreSegment, 'id' | 'first'> {
  readonly chunks: ReadonlyMap<number, readonly (Uint8Array | undefined)[]>
}

/**
 * Id of the row with a chunk. Ordered by segment, field, series, so that one field of all series is one range of the
 * table.
 */
function chunkId(segment: number, field: number, series: number): number {
  return segment * CHUNK_ID_STEP + (field * SEGMENT_SERIES_LIMIT + series - (series % GROUP_SERIES)) / GROUP_SERIES
}

const COLUMNS = 'id, first, level, type, source, clock, slot, first_ms, last_ms, samples, rolled, series, times_of'
/** Limit of cached segments: they never change except for their mark. Unit: series of all of them. */
const MEMORY_SERIES_LIMIT = 1 << 20

/** Segments and their chunks. Changes need a transaction of the caller. */
export class Segments {
  readonly #database: DatabaseSync
  readonly #statements: ReturnType<typeof statementsOf>
  readonly #known = new Map<number, StoreSegment>()
  #knownSeries = 0
  #nextId: number
  readonly times = new TimesCache()
  /** Number of unreadable chunk rows. */
  corruptChunks = 0

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#statements = statementsOf(database)
    this.#nextId = queryNumber(database, 'SELECT coalesce(max(id), 0) + 1 FROM segment')
  }

  /**
   * Stores segments that were created together. Their ids are the highest, so that chunks are appended and their pages
   * stay full. No id is used twice, because concurrent readers rely on ids.
   */
  insert(segments: readonly NewSegment[]): void {
    const first = this.#nextId
    for (const segment of segments) this.#insertOne(segment, first)
  }

  #insertOne(segment: NewSegment, first: number): void {
    const { level, type, source, clock, slot, firstMs, lastMs, samples, rolled, series, timesOf, chunks } = segment
    const id = this.#nextId++
    const rest = [samples, ROLLED.indexOf(rolled), bytesOf(series), bytesOf(timesOf)]
    this.#statements.insert.run(id, first, level, type, source, clock, slot, firstMs, lastMs, ...rest)
    for (const field of [...chunks.keys()].sort((a, b) => a - b)) {
      const ofField = chunks.get(field) ?? []
      for (let number = 0; number < ofField.length; number += GROUP_SERIES) {
        const row = packGroup(ofField.slice(number, number + GROUP_SERIES))
        if (row !== undefined) this.#statements.insertChunk.run(chunkId(id, field, number), row)
      }
    }
  }

  delete(id: number): void {
    this.#statements.delete.run(id)
    this.#statements.deleteChunks.run(chunkId(id, 0, 0), chunkId(id + 1, 0, 0) - 1)
    this.#forget(id)
    this.times.clear()
  }

  /** Stores whether the roll-up of its day contains a raw segment. */
  markRolled(id: number, rolled: Rolled): void {
    this.#statements.markRolled.run(ROLLED.indexOf(rolled), id)
    this.#forget(id)
  }

  /**
   * Segments of a type that hold samples in `(fromMs, toMs]`, earliest first. Times of a clock other than the wall
   * clock are in no window.
   */
  inRange(level: number, type: number, fromMs: number, toMs: number): StoreSegment[] {
    return this.#statements.inRange.all(level, type, fromMs, toMs).flatMap(({ id }) => this.#segment(Number(id)) ?? [])
  }

  /**
   * Number of series in the segments of a type, raw and rolled up, with samples in `(fromMs, toMs]`; a series counts in
   * each segment.
   */
  seriesIn(type: number, { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }): number {
    const counts = [RAW, ROLLUP].map((level) => this.#statements.seriesIn.get(level, type, fromMs, toMs)?.bytes)
    return counts.reduce<number>((sum, bytes) => sum + Number(bytes ?? 0), 0) / Uint32Array.BYTES_PER_ELEMENT
  }

  /** Segments of a type in the slots `from` to `to`. */
  ofSlots(level: number, type: number, from: number, to: number): StoreSegment[] {
    return this.#statements.ofSlots.all(level, type, from, to).flatMap(({ id }) => this.#segment(Number(id)) ?? [])
  }

  /**
   * The next raw segments of a unit after a segment: those that were compacted together, in order; empty if there are
   * no more.
   */
  compactedAfter({ type, slot, source, clock }: StoredUnit, after: number): StoreSegment[] {
    const segments: StoreSegment[] = []
    for (const row of this.#statements.ofUnit.iterate(RAW, type, slot, source, clock, after)) {
      const segment = segmentOf(row)
      if (segment.first !== (segments[0] ?? segment).first) break
      segments.push(segment)
    }
    return segments
  }

  /** The earliest hour (raw) or day (roll-ups) of all types. */
  oldestSlot(level: number): number | undefined {
    const row = this.#statements.oldest.all().find((found) => Number(found.level) === level)
    return row === undefined ? undefined : Number(row.slot)
  }

  /**
   * The first time in the earliest hour or day; infinite if there are no segments. Unit: milliseconds since the Unix
   * epoch.
   */
  firstMs(): number {
    return Math.min(this.#firstOf(RAW, HOUR_MS), this.#firstOf(ROLLUP, DAY_MS))
  }

  #firstOf(level: number, slotMs: number): number {
    const slot = this.oldestSlot(level)
    if (slot === undefined) return Number.POSITIVE_INFINITY
    // Records with implausible times are in the slot of their arrival.
    const found = this.#statements.firstOf.get(level, slot, slot * slotMs, (slot + 1) * slotMs)?.first
    return typeof found === 'number' ? found : slot * slotMs
  }

  /** Segments of an hour or day, of all types. */
  idsOfSlot(level: number, slot: number): number[] {
    return this.#statements.ofSlot.all(level, slot).map(({ id }) => Number(id))
  }

  /** Types and days with raw segments that are in no roll-up, earliest first. */
  daysToRoll(): { type: number; day: number; hours: number }[] {
    return this.#statements.daysToRoll
      .all()
      .map(({ type, day, hours }) => ({ type: Number(type), day: Number(day), hours: Number(hours) }))
  }

  /** Series of all segments. */
  seriesIds(): Set<number> {
    const ids = new Set<number>()
    for (const { series } of this.#database.prepare('SELECT series FROM segment').iterate()) {
      for (const id of wordsOf(series)) ids.add(id)
    }
    return ids
  }

  /** One chunk; undefined if it was lost. */
  chunk(segment: number, field: number, series: number): Uint8Array | undefined {
    const row = this.#statements.chunk.get(chunkId(segment, field, series)) as unknown as [Uint8Array] | undefined
    return row === undefined ? undefined : this.#chunkOf(row[0], series % GROUP_SERIES)
  }

  /** The chunks of one field of a segment, by number of the series; `wanted` are the requested numbers, ascending. */
  *chunks(segment: StoreSegment, field: number, wanted: readonly number[]): Generator<readonly [number, Uint8Array]> {
    let at = 0
    for (const [first, row] of this.#rows(segment, field, wanted)) {
      while (at < wanted.length && (wanted[at] as number) < first) at++
      for (; at < wanted.length && (wanted[at] as number) < first + GROUP_SERIES; at++) {
        const number = wanted[at] as number
        const body = this.#chunkOf(row, number - first)
        if (body !== undefined) yield [number, body]
      }
    }
  }

  /** Rows with the chunks of some series, and the number of the first series in each row. */
  *#rows(segment: StoreSegment, field: number, wanted: readonly number[]): Generator<readonly [number, Uint8Array]> {
    const base = chunkId(segment.id, field, 0)
    const groups = [...new Set(wanted.map((number) => Math.floor(number / GROUP_SERIES)))]
    // A row from a range scan costs a third of a single lookup.
    if (groups.length * 3 * GROUP_SERIES < segment.series.length) {
      for (const group of groups) {
        const row = this.#statements.chunk.get(base + group) as unknown as [Uint8Array] | undefined
        if (row !== undefined) yield [group * GROUP_SERIES, row[0]]
      }
      return
    }
    for (const row of this.#statements.chunks.iterate(base, chunkId(segment.id, field, segment.series.length - 1))) {
      const [id, body] = row as unknown as [number, Uint8Array]
      yield [(id - base) * GROUP_SERIES, body]
    }
  }

  #chunkOf(row: Uint8Array, place: number): Uint8Array | undefined {
    const chunk = row instanceof Uint8Array ? chunkOfGroup(row, place) : 'damaged'
    if (chunk !== 'damaged') return chunk
    this.corruptChunks++
    return undefined
  }

  #segment(id: number): StoreSegment | undefined {
    const known = this.#known.get(id)
    if (known !== undefined) return known
    const row = this.#statements.segment.get(id)
    if (row === undefined) return undefined
    const segment = segmentOf(row)
    this.#knownSeries += segment.series.length
    if (this.#knownSeries > MEMORY_SERIES_LIMIT) {
      this.#known.clear()
      this.#knownSeries = segment.series.length
    }
    this.#known.set(id, segment)
    return segment
  }

  #forget(id: number): void {
    this.#knownSeries -= this.#known.get(id)?.series.length ?? 0
    this.#known.delete(id)
  }
}

function statementsOf(database: DatabaseSync) {
  const prepare = (sql: string) => database.prepare(sql)
  const chunk = prepare('SELECT body FROM chunk WHERE id = ?')
  const chunks = prepare('SELECT id, body FROM chunk WHERE id BETWEEN ? AND ?')
  chunk.setReturnArrays(true)
  chunks.setReturnArrays(true)
  return {
    chunk,
    chunks,
    insert: prepare(`INSERT INTO segment (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`),
    insertChunk: prepare('INSERT INTO chunk VALUES (?, ?)'),
    delete: prepare('DELETE FROM segment WHERE id = ?'),
    deleteChunks: prepare('DELETE FROM chunk WHERE id BETWEEN ? AND ?'),
    markRolled: prepare('UPDATE segment SET rolled = ? WHERE id = ?'),
    segment: prepare(`SELECT ${COLUMNS} FROM segment WHERE id = ?`),
    seriesIn: prepare(
      `SELECT sum(length(series)) AS bytes FROM segment
       WHERE level = ? AND type = ? AND last_ms > ? AND first_ms <= ? AND clock = 'wall'`,
    ),
    inRange: prepare(
      `SELECT id FROM segment WHERE level = ? AND type = ? AND last_ms > ? AND first_ms <= ? AND clock = 'wall'
       ORDER BY slot, id`,
    ),
    ofSlots: prepare('SELECT id FROM segment WHERE level = ? AND type = ? AND slot BETWEEN ? AND ? ORDER BY slot, id'),
    ofUnit: prepare(
      `SELECT ${COLUMNS} FROM segment WHERE level = ? AND type = ? AND slot = ? AND source = ? AND clock = ? AND id > ? ORDER BY id`,
    ),
    ofSlot: prepare('SELECT id FROM segment WHERE level = ? AND slot = ?'),
    oldest: prepare('SELECT level, min(slot) AS slot FROM segment GROUP BY level'),
    firstOf: prepare(
      'SELECT min(first_ms) AS first FROM segment WHERE level = ? AND slot = ? AND first_ms > ? AND first_ms <= ?',
    ),
    daysToRoll: prepare(
      `SELECT type, slot / ${DAY_HOURS} AS day, count(DISTINCT slot) AS hours FROM segment
       WHERE level = ${RAW} AND rolled = 0 GROUP BY type, day ORDER BY day`,
    ),
  }
}

function segmentOf(row: Record<string, unknown>): StoreSegment {
  return {
    id: Number(row.id),
    first: Number(row.first),
    level: Number(row.level),
    type: Number(row.type),
    source: Number(row.source),
    clock: row.clock as Clock,
    slot: Number(row.slot),
    firstMs: Number(row.first_ms),
    lastMs: Number(row.last_ms),
    samples: Number(row.samples),
    rolled: ROLLED[Number(row.rolled)] ?? 'never',
    series: wordsOf(row.series),
    timesOf: wordsOf(row.times_of),
  }
}

function bytesOf(words: Uint32Array): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength)
}

/** A damaged row may hold any values. */
function wordsOf(bytes: unknown): Uint32Array {
  return bytes instanceof Uint8Array ? new Uint32Array(bytes.slice(0, bytes.length & ~3).buffer) : new Uint32Array(0)
}
