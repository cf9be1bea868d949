import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Clock } from '@sonde/sdk'
import { DAY_HOURS, DAY_MS, HOUR_MS } from './slots-of-time.ts'

/** Series in one segment at most. */
export const SEGMENT_SERIES_LIMIT = 1 << 14
/** A segment has room for 2048 fields of {@link SEGMENT_SERIES_LIMIT} series; its chunks' ids are side by side. */
export const CHUNK_ID_STEP = 2 ** 25

/** Field number of the times; the slot with index `i` is field `i + 1`. */
export const TIMES_FIELD = 0

/** Raw records, or bins of five minutes. */
export const RAW = 0
export const ROLLUP = 1

/** Whether the values of raw records are in the roll-up of their day; `never` where their times are not of the segment's hour. */
export type Rolled = 'no' | 'yes' | 'never'
const ROLLED: readonly Rolled[] = ['no', 'yes', 'never']

/** Columns of some series of one type over one hour (raw) or day (roll-ups). The unit of compaction and of deletion. */
export interface Segment {
  readonly id: number
  readonly level: number
  readonly type: number
  readonly source: number
  readonly clock: Clock
  /** Hours (raw) or days (roll-ups) since the Unix epoch. */
  readonly slot: number
  readonly firstMs: number
  readonly lastMs: number
  /** Samples of all series. */
  readonly samples: number
  readonly rolled: Rolled
  /** Series by their number in this segment. */
  readonly series: Uint32Array
}

/** A segment that is not yet stored: chunks by field, then by number of the series. */
export interface NewSegment extends Omit<Segment, 'id'> {
  readonly chunks: ReadonlyMap<number, readonly (Uint8Array | undefined)[]>
}

/** Id of a chunk. By segment, then field, then series: one field of all series is one stretch of the table. */
export function chunkId(segment: number, field: number, series: number): number {
  return segment * CHUNK_ID_STEP + field * SEGMENT_SERIES_LIMIT + series
}

const COLUMNS = 'id, level, type, source, clock, slot, first_ms, last_ms, samples, rolled, series'

/** Reads segments and chunks. */
export class SegmentReader {
  readonly #database: DatabaseSync
  readonly #inRange: StatementSync
  readonly #ofSlots: StatementSync
  readonly #sourcesIn: StatementSync
  readonly #oldest: StatementSync
  readonly #chunk: StatementSync
  readonly #chunks: StatementSync

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#inRange = database.prepare(
      `SELECT ${COLUMNS} FROM segment WHERE level = ? AND type = ? AND last_ms > ? AND first_ms <= ? ORDER BY slot, id`,
    )
    this.#ofSlots = database.prepare(
      `SELECT ${COLUMNS} FROM segment WHERE level = ? AND type = ? AND slot BETWEEN ? AND ? ORDER BY slot, id`,
    )
    this.#sourcesIn = database.prepare(
      'SELECT DISTINCT source, clock FROM segment WHERE type = ? AND last_ms > ? AND first_ms <= ? ORDER BY slot',
    )
    this.#oldest = database.prepare('SELECT level, min(slot) AS slot FROM segment GROUP BY level')
    this.#chunk = database.prepare('SELECT body FROM chunk WHERE id = ?')
    this.#chunks = database.prepare('SELECT id, body FROM chunk WHERE id BETWEEN ? AND ?')
    this.#chunk.setReturnArrays(true)
    this.#chunks.setReturnArrays(true)
  }

  /** Segments of a type that hold samples in `(fromMs, toMs]`, earliest first. */
  inRange(level: number, type: number, fromMs: number, toMs: number): Segment[] {
    return this.#inRange.all(level, type, fromMs, toMs).map(segmentOf)
  }

  /** Segments of a type in the slots `from` to `to`. */
  ofSlots(level: number, type: number, from: number, to: number): Segment[] {
    return this.#ofSlots.all(level, type, from, to).map(segmentOf)
  }

  /** Whose records of a type are in `(fromMs, toMs]`. */
  sourcesIn(type: number, fromMs: number, toMs: number): { source: number; clock: Clock }[] {
    return this.#sourcesIn
      .all(type, fromMs, toMs)
      .map(({ source, clock }) => ({ source: Number(source), clock: clock as Clock }))
  }

  /** The earliest hour (raw) or day (roll-ups) of all types. */
  oldestSlot(level: number): number | undefined {
    const slots = this.#oldest.all().filter((row) => Number(row.level) === level)
    return slots.length === 0 ? undefined : Number(slots[0]?.slot)
  }

  /** Segments of an hour or day, of all types. */
  idsOfSlot(level: number, slot: number): number[] {
    return this.#database
      .prepare('SELECT id FROM segment WHERE level = ? AND slot = ?')
      .all(level, slot)
      .map(({ id }) => Number(id))
  }

  /** Types and days with raw segments that are in no roll-up, earliest first. */
  daysToRoll(): { type: number; day: number }[] {
    const rows = this.#database.prepare(
      `SELECT DISTINCT type, slot / ${DAY_HOURS} AS day FROM segment WHERE level = ${RAW} AND rolled = 0 ORDER BY day`,
    )
    return rows.all().map(({ type, day }) => ({ type: Number(type), day: Number(day) }))
  }

  /** Series of all segments. */
  seriesIds(): Set<number> {
    const ids = new Set<number>()
    for (const { series } of this.#database.prepare('SELECT series FROM segment').iterate()) {
      for (const id of wordsOf(series as Uint8Array)) ids.add(id)
    }
    return ids
  }

  /** When the earliest segment starts. Unit: milliseconds since the Unix epoch. */
  oldestMs(): number | null {
    const times = this.#oldest.all().map(({ level, slot }) => Number(slot) * (Number(level) === RAW ? HOUR_MS : DAY_MS))
    return times.length === 0 ? null : Math.min(...times)
  }

  /** One chunk; undefined where it was lost. */
  chunk(segment: number, field: number, series: number): Uint8Array | undefined {
    const row = this.#chunk.get(chunkId(segment, field, series)) as unknown as [Uint8Array] | undefined
    return row?.[0]
  }

  /** The chunks of one field of a segment, by number of the series; `wanted` are those numbers, ascending. */
  *chunks(segment: Segment, field: number, wanted: readonly number[]): Generator<readonly [number, Uint8Array]> {
    // A row of a range costs a third of a row that is looked up.
    if (wanted.length * 3 < segment.series.length) {
      for (const series of wanted) {
        const body = this.chunk(segment.id, field, series)
        if (body !== undefined) yield [series, body]
      }
      return
    }
    const base = chunkId(segment.id, field, 0)
    const isWanted = new Set(wanted)
    for (const row of this.#chunks.iterate(base, base + segment.series.length - 1)) {
      const [id, body] = row as unknown as [number, Uint8Array]
      if (isWanted.has(id - base)) yield [id - base, body]
    }
  }
}

/** Writes and deletes segments. Every call belongs into a transaction of the caller. */
export class SegmentWriter {
  readonly #database: DatabaseSync
  readonly #insert: StatementSync
  readonly #insertChunk: StatementSync
  readonly #delete: StatementSync
  readonly #deleteChunks: StatementSync
  readonly #markRolled: StatementSync

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#insert = database.prepare(`INSERT INTO segment (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
    this.#insertChunk = database.prepare('INSERT INTO chunk VALUES (?, ?)')
    this.#delete = database.prepare('DELETE FROM segment WHERE id = ?')
    this.#deleteChunks = database.prepare('DELETE FROM chunk WHERE id BETWEEN ? AND ?')
    this.#markRolled = database.prepare('UPDATE segment SET rolled = 1 WHERE id = ?')
  }

  /** Stores a segment. Its id is the highest, so that chunks are appended and their pages stay full. */
  insert(segment: NewSegment): void {
    const { level, type, source, clock, slot, firstMs, lastMs, samples, rolled, series, chunks } = segment
    const row = this.#database.prepare('SELECT coalesce(max(id), 0) AS id FROM segment').get()
    const id = Number(row?.id) + 1
    const bytes = new Uint8Array(series.buffer, series.byteOffset, series.byteLength)
    this.#insert.run(id, level, type, source, clock, slot, firstMs, lastMs, samples, ROLLED.indexOf(rolled), bytes)
    for (const field of [...chunks.keys()].sort((a, b) => a - b)) {
      for (const [number, body] of chunks.get(field)?.entries() ?? []) {
        if (body !== undefined) this.#insertChunk.run(chunkId(id, field, number), body)
      }
    }
  }

  delete(id: number): void {
    this.#delete.run(id)
    this.#deleteChunks.run(chunkId(id, 0, 0), chunkId(id + 1, 0, 0) - 1)
  }

  markRolled(id: number): void {
    this.#markRolled.run(id)
  }
}

/** A row of the table as an object. */
export function segmentOf(row: Record<string, unknown>): Segment {
  return {
    id: Number(row.id),
    level: Number(row.level),
    type: Number(row.type),
    source: Number(row.source),
    clock: row.clock as Clock,
    slot: Number(row.slot),
    firstMs: Number(row.first_ms),
    lastMs: Number(row.last_ms),
    samples: Number(row.samples),
    rolled: ROLLED[Number(row.rolled)] ?? 'never',
    series: wordsOf(row.series as Uint8Array),
  }
}

function wordsOf(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(bytes.slice().buffer)
}
