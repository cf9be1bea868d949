import type { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { type Clock, type Views, viewsOf } from '@sonde/sdk'
import { hourOf, hourStartMs } from './slots-of-time.ts'
import type { StoredUnit } from './stored-blocks.ts'

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

/** Where a row's records start in those of its unit, and when the first of them was made. */
export interface UnitRow {
  readonly offset: number
  readonly firstMs: number
}

/** Rows of a unit, their records side by side. */
export interface UnitRecords {
  readonly ids: readonly number[]
  readonly rows: readonly UnitRow[]
  readonly bytes: Uint8Array
}

/** Where the head starts: its earliest hour, and the first time of a record in it, unless none is of that hour. */
interface First {
  readonly hour: number
  readonly timeMs: number | undefined
}

const COLUMNS = 'type, writer, clock, hour, first_ms, last_ms, count'

/** A row with its bytes as records are read. */
export interface ReadRow extends HeadRow {
  readonly views: Views
}

/** Rows that were read lately stay in memory, for every question of the last hour needs them. Unit: bytes. */
const MEMORY_BYTES = 16 << 20
/** What the views of a row take beside its bytes, which are often fewer. */
const VIEWS_BYTES = 1536

const EMPTY = new Uint8Array(0)

/**
 * The head: records that are not yet compacted, as they came. Whatever changes it belongs into a transaction of the
 * caller.
 */
export class Head {
  readonly #statements: ReturnType<typeof statementsOf>
  readonly #rows = new Map<number, ReadRow>()
  /** Rows that could not be read. */
  corruptRows = 0
  /** Records that are in the head. Unit: bytes. */
  bytes: number
  #rowBytes = 0
  #first: First | undefined

  constructor(database: DatabaseSync) {
    this.#statements = statementsOf(database)
    this.bytes = Number(this.#statements.bytes.get()?.bytes ?? 0)
  }

  insert({ type, writer, clock, hour, firstMs, lastMs, count, body }: HeadRow): void {
    this.#noteFirst(hour, firstMs)
    this.bytes += body.length
    this.#statements.insert.run(type, writer, clock, hour, firstMs, lastMs, count, body.length, crc32(body), body)
  }

  delete(id: number): void {
    this.bytes -= Number(this.#statements.delete.get(id)?.bytes ?? 0)
    this.#first = undefined
    // The number may be given to another row.
    this.#forget(id)
  }

  /** Deletes the rows that came first, up to so many bytes but one at least; gives how many. */
  deleteOldest(limitBytes: number): number {
    let bytes = 0
    let count = 0
    for (const row of this.#statements.oldestRows.all()) {
      bytes += Number(row.bytes)
      if (count > 0 && bytes > limitBytes) break
      this.delete(Number(row.id))
      count++
    }
    return count
  }

  /** Rows of a type that hold records in `(fromMs, toMs]`, in the order in which they came. */
  *inRange(type: number, fromMs: number, toMs: number): Generator<ReadRow> {
    for (const { id } of this.#statements.inRange.all(type, fromMs, toMs)) {
      const row = this.#row(Number(id))
      if (row !== undefined) yield row
    }
  }

  /** Who wrote records of a type in `(fromMs, toMs]`. */
  writersIn(type: number, fromMs: number, toMs: number): number[] {
    return this.#statements.writersIn.all(type, fromMs, toMs).map(({ writer }) => Number(writer))
  }

  /** When the records of a type in `(fromMs, toMs]` were made: a stretch for each hour. */
  rangesIn(type: number, fromMs: number, toMs: number): { firstMs: number; lastMs: number }[] {
    return this.#statements.rangesIn
      .all(type, fromMs, toMs)
      .map((row) => ({ firstMs: Number(row.first), lastMs: Number(row.last) }))
  }

  /** When the earliest hour of a type starts; infinite where it has no rows. */
  oldestMs(type: number): number {
    const hour = this.#statements.oldestOf.get(type)?.hour
    return hour === null || hour === undefined ? Number.POSITIVE_INFINITY : hourStartMs(Number(hour))
  }

  /** What there is to compact, earliest first. */
  units(): HeadUnit[] {
    return this.#statements.units.all().map(({ type, writer, clock, hour, bytes }) => ({
      type: Number(type),
      writer: Number(writer),
      clock: clock as Clock,
      hour: Number(hour),
      bytes: Number(bytes),
    }))
  }

  /** The records of a unit's first rows, at most `limitBytes` of them, but one row at least. */
  ofUnit(unit: HeadUnit, limitBytes: number): UnitRecords {
    const ids: number[] = []
    const rows: UnitRow[] = []
    // What the file says of its sizes may be damaged.
    let bytes = new Uint8Array(Math.max(0, Math.min(unit.bytes, limitBytes)))
    let used = 0
    // Ids alone come out of the index: sorted with their bodies, all rows of a backlog would be read for the first few.
    for (const found of this.#statements.idsOfUnit.all(unit.type, unit.writer, unit.clock, unit.hour)) {
      const id = Number(found.id)
      const { body = EMPTY, firstMs = 0 } = this.read(id) ?? {}
      if (used > 0 && used + body.length > bytes.length) break
      ids.push(id)
      if (body.length > bytes.length) bytes = new Uint8Array(body.length)
      bytes.set(body, used)
      rows.push({ offset: used, firstMs })
      used += body.length
    }
    return { ids, rows, bytes: bytes.subarray(0, used) }
  }

  /** What is known of the rows of a source's unit, in the order in which they came. */
  ofUnitOfSource({
    type,
    slot,
    source,
    clock,
  }: StoredUnit): { id: number; count: number; firstMs: number; lastMs: number }[] {
    return this.#statements.ofUnitOfSource.all(type, slot, clock, source).map((row) => ({
      id: Number(row.id),
      count: Number(row.count),
      firstMs: Number(row.first_ms),
      lastMs: Number(row.last_ms),
    }))
  }

  /** A row as it is in the file now; undefined where it is damaged. */
  read(id: number): HeadRow | undefined {
    const row = this.#statements.row.get(id)
    return row === undefined ? undefined : this.#checked(row)
  }

  /**
   * The first time in the earliest hour, or when that hour starts where no record's time is of it; infinite where there
   * are no rows. Unit: milliseconds since the Unix epoch.
   */
  firstMs(): number {
    // Asked for every second, and a look at every row: it is remembered.
    this.#first ??= this.#findFirst()
    const { hour, timeMs } = this.#first
    return timeMs ?? hourStartMs(hour)
  }

  #findFirst(): First {
    const earliest = this.#statements.oldest.get()?.hour
    if (earliest === null || earliest === undefined) return { hour: Number.POSITIVE_INFINITY, timeMs: undefined }
    const hour = Number(earliest)
    const found = this.#statements.firstOf.get(hour, hourStartMs(hour), hourStartMs(hour + 1))?.first
    return { hour, timeMs: typeof found === 'number' ? found : undefined }
  }

  #noteFirst(hour: number, firstMs: number): void {
    const first = this.#first
    if (first === undefined || hour > first.hour) return
    const timeMs = hourOf(firstMs) === hour ? firstMs : undefined
    this.#first = hour < first.hour ? { hour, timeMs } : { hour, timeMs: earlier(first.timeMs, timeMs) }
  }

  /** A row, unless its bytes are not those that were written. */
  #checked(row: Record<string, unknown>): HeadRow | undefined {
    const { body, crc } = row
    if (body instanceof Uint8Array && crc32(body) === crc) return rowOf(row, body)
    this.corruptRows++
    return undefined
  }

  #row(id: number): ReadRow | undefined {
    const known = this.#rows.get(id)
    if (known !== undefined) return known
    const row = this.read(id)
    if (row === undefined) return undefined
    const read = { ...row, views: viewsOf(row.body) }
    this.#rows.set(id, read)
    this.#rowBytes += row.body.length + VIEWS_BYTES
    for (const oldest of this.#rows.keys()) {
      if (this.#rowBytes <= MEMORY_BYTES) break
      this.#forget(oldest)
    }
    return read
  }

  #forget(id: number): void {
    const row = this.#rows.get(id)
    if (row === undefined) return
    this.#rowBytes -= row.body.length + VIEWS_BYTES
    this.#rows.delete(id)
  }
}

function statementsOf(database: DatabaseSync) {
  // Times of another clock are in no window.
  const inWindow = "type = ? AND last_ms > ? AND first_ms <= ? AND clock = 'wall'"
  const prepare = (sql: string) => database.prepare(sql)
  return {
    insert: prepare(`INSERT INTO head (${COLUMNS}, bytes, crc, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`),
    delete: prepare('DELETE FROM head WHERE id = ? RETURNING bytes'),
    bytes: prepare('SELECT sum(bytes) AS bytes FROM head'),
    row: prepare(`SELECT ${COLUMNS}, crc, body FROM head WHERE id = ?`),
    inRange: prepare(`SELECT id FROM head WHERE ${inWindow} ORDER BY id`),
    writersIn: prepare(`SELECT DISTINCT writer FROM head WHERE ${inWindow} ORDER BY hour`),
    rangesIn: prepare(`SELECT min(first_ms) AS first, max(last_ms) AS last FROM head WHERE ${inWindow} GROUP BY hour`),
    oldestOf: prepare('SELECT min(hour) AS hour FROM head WHERE type = ?'),
    units: prepare(
      'SELECT type, writer, clock, hour, sum(bytes) AS bytes FROM head GROUP BY type, hour, writer, clock ORDER BY hour, type',
    ),
    idsOfUnit: prepare('SELECT id FROM head WHERE type = ? AND writer = ? AND clock = ? AND hour = ? ORDER BY id'),
    ofUnitOfSource: prepare(
      `SELECT id, count, first_ms, last_ms FROM head
       WHERE type = ? AND hour = ? AND clock = ? AND writer IN (SELECT id FROM writer WHERE source = ?) ORDER BY id`,
    ),
    oldestRows: prepare('SELECT id, bytes FROM head ORDER BY id LIMIT 1000'),
    oldest: prepare('SELECT min(hour) AS hour FROM head'),
    firstOf: prepare('SELECT min(first_ms) AS first FROM head WHERE hour = ? AND first_ms > ? AND first_ms <= ?'),
  }
}

function earlier(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)
}

function rowOf(row: Record<string, unknown>, body: Uint8Array): HeadRow {
  return {
    type: Number(row.type),
    writer: Number(row.writer),
    clock: row.clock as Clock,
    hour: Number(row.hour),
    firstMs: Number(row.first_ms),
    lastMs: Number(row.last_ms),
    count: Number(row.count),
    body,
  }
}
