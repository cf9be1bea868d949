import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Clock } from '@sonde/sdk'
import { hourStartMs } from './slots-of-time.ts'

/** Packed records as they came, of one type, writer and hour. */
export interface HeadRow {
  readonly type: number
  readonly writer: number
  readonly clock: Clock
  readonly hour: number
  readonly firstMs: number
  readonly lastMs: number
  readonly count: number
  readonly body: Uint8Array
}

/** Rows that become one segment. */
export interface HeadUnit {
  readonly type: number
  readonly writer: number
  readonly clock: Clock
  readonly hour: number
  readonly bytes: number
}

const COLUMNS = 'type, writer, clock, hour, first_ms, last_ms, count'

/** Reads the head: what is not yet compacted. */
export class HeadReader {
  readonly #inRange: StatementSync
  readonly #writersIn: StatementSync
  readonly #rangesIn: StatementSync
  readonly #oldestOf: StatementSync
  readonly #units: StatementSync
  readonly #ofUnit: StatementSync
  readonly #oldest: StatementSync

  constructor(database: DatabaseSync) {
    this.#inRange = database.prepare(
      // The rows are found and sorted by the index alone; sorting must not carry their bodies along.
      `SELECT id, ${COLUMNS}, body FROM head WHERE id IN (SELECT id FROM head WHERE type = ? AND last_ms > ? AND first_ms <= ?) ORDER BY id`,
    )
    this.#writersIn = database.prepare(
      'SELECT DISTINCT writer, clock FROM head WHERE type = ? AND last_ms > ? AND first_ms <= ? ORDER BY hour',
    )
    this.#rangesIn = database.prepare(
      'SELECT min(first_ms) AS first, max(last_ms) AS last FROM head WHERE type = ? AND last_ms > ? AND first_ms <= ? GROUP BY hour',
    )
    this.#oldestOf = database.prepare('SELECT min(hour) AS hour FROM head WHERE type = ?')
    this.#units = database.prepare(
      'SELECT type, writer, clock, hour, sum(bytes) AS bytes FROM head GROUP BY type, hour, writer, clock ORDER BY hour, type',
    )
    this.#ofUnit = database.prepare(
      `SELECT id, ${COLUMNS}, body FROM head WHERE type = ? AND writer = ? AND clock = ? AND hour = ? ORDER BY id`,
    )
    this.#oldest = database.prepare('SELECT min(hour) AS hour FROM head')
  }

  /** Rows of a type that hold records in `(fromMs, toMs]`, in the order in which they came. */
  *inRange(type: number, fromMs: number, toMs: number): Generator<HeadRow> {
    for (const row of this.#inRange.iterate(type, fromMs, toMs)) yield rowOf(row)
  }

  /** Who wrote records of a type in `(fromMs, toMs]`. */
  writersIn(type: number, fromMs: number, toMs: number): { writer: number; clock: Clock }[] {
    return this.#writersIn
      .all(type, fromMs, toMs)
      .map(({ writer, clock }) => ({ writer: Number(writer), clock: clock as Clock }))
  }

  /** When the records of a type in `(fromMs, toMs]` were made: a stretch for each hour. */
  rangesIn(type: number, fromMs: number, toMs: number): { firstMs: number; lastMs: number }[] {
    return this.#rangesIn
      .all(type, fromMs, toMs)
      .map((row) => ({ firstMs: Number(row.first), lastMs: Number(row.last) }))
  }

  /** When the earliest hour of a type starts; infinite where it has no rows. */
  oldestMs(type: number): number {
    const hour = this.#oldestOf.get(type)?.hour
    return hour === null || hour === undefined ? Number.POSITIVE_INFINITY : hourStartMs(Number(hour))
  }

  /** What there is to compact, earliest first. */
  units(): HeadUnit[] {
    return this.#units.all().map(({ type, writer, clock, hour, bytes }) => ({
      type: Number(type),
      writer: Number(writer),
      clock: clock as Clock,
      hour: Number(hour),
      bytes: Number(bytes),
    }))
  }

  /** The rows of a unit with their ids, until `limitBytes` are reached. */
  ofUnit(unit: HeadUnit, limitBytes: number): { ids: number[]; rows: HeadRow[] } {
    const ids: number[] = []
    const rows: HeadRow[] = []
    let bytes = 0
    for (const row of this.#ofUnit.iterate(unit.type, unit.writer, unit.clock, unit.hour)) {
      ids.push(Number(row.id))
      const read = rowOf(row)
      rows.push(read)
      bytes += read.body.length
      if (bytes >= limitBytes) break
    }
    return { ids, rows }
  }

  /** The earliest hour of the head. */
  oldestHour(): number | undefined {
    const hour = this.#oldest.get()?.hour
    return hour === null || hour === undefined ? undefined : Number(hour)
  }
}

/** Writes the head. Every call belongs into a transaction of the caller. */
export class HeadWriter {
  readonly #insert: StatementSync
  readonly #delete: StatementSync

  constructor(database: DatabaseSync) {
    this.#insert = database.prepare(`INSERT INTO head (${COLUMNS}, bytes, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`)
    this.#delete = database.prepare('DELETE FROM head WHERE id = ?')
  }

  insert({ type, writer, clock, hour, firstMs, lastMs, count, body }: HeadRow): void {
    this.#insert.run(type, writer, clock, hour, firstMs, lastMs, count, body.length, body)
  }

  delete(id: number): void {
    this.#delete.run(id)
  }
}

function rowOf(row: Record<string, unknown>): HeadRow {
  return {
    type: Number(row.type),
    writer: Number(row.writer),
    clock: row.clock as Clock,
    hour: Number(row.hour),
    firstMs: Number(row.first_ms),
    lastMs: Number(row.last_ms),
    count: Number(row.count),
    body: row.body as Uint8Array,
  }
}
