import type { DatabaseSync } from 'node:sqlite'
import { type Views, viewsOf } from '@sonde/sdk'
import { type Clock, crc32 } from '@sonde/sdk/internal'
import type { StoreSettings } from '../config.ts'
import { HeadFiles, headFolderOf } from './head-files.ts'
import { type HeadRow, headRowOf, headStatements, type NewHeadRow } from './head-rows.ts'
import { hourOf, hourStartMs } from './slots-of-time.ts'
import type { StoredUnit } from './stored-blocks.ts'

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

/** A row with its bytes as records are read. */
export interface ReadRow extends HeadRow {
  readonly views: Views
}

/** Rows that were read lately stay in memory, for every question of the last hour needs them. Unit: bytes. */
const MEMORY_BYTES = 16 << 20
/** What the views of a row take beside its bytes, which are often fewer. */
const VIEWS_BYTES = 1536

const EMPTY = new Uint8Array(0)
/** Pieces of a row that are written from where they lie; more are joined first. */
const PIECE_COUNT_MAX = 64

/** What was in rows whose bytes are lost. */
export interface LostRows {
  readonly records: number
  readonly bytes: number
}

/**
 * The head: records that are not yet compacted, as they came. A row says what they are and where in {@link HeadFiles}
 * their bytes lie. Whatever changes it belongs into a transaction of the caller; the bytes of new rows are written by
 * {@link write} before that is committed.
 */
export class Head {
  readonly #statements: ReturnType<typeof headStatements>
  readonly #files: HeadFiles
  readonly #rows = new Map<number, ReadRow>()
  /** Rows that could not be read. */
  corruptRows = 0
  /** Records that are in the head. Unit: bytes. */
  bytes: number
  #rowBytes = 0
  #first: First | undefined

  constructor(database: DatabaseSync, settings: Pick<StoreSettings, 'path' | 'maxBytes' | 'durability'>) {
    this.#statements = headStatements(database)
    this.#files = new HeadFiles(headFolderOf(settings.path), settings)
    this.bytes = Number(this.#statements.bytes.get()?.bytes ?? 0)
  }

  /** What its files take. Unit: bytes. */
  get fileBytes(): number {
    return this.#files.bytes
  }

  /** Whether its files are where they were made. */
  get isThere(): boolean {
    return this.#files.isThere
  }

  /** Records whose bytes are not in the files. */
  missingRecords(): number {
    const counts = this.#cutFiles().map(({ file, length }) => Number(this.#statements.beyond.get(file, length)?.count))
    return counts.reduce((sum, count) => sum + count, 0)
  }

  /**
   * Compares rows and files, once after the store was opened for writing. Rows leave whose bytes did not reach the
   * disk.
   */
  recover(): LostRows {
    this.#files.makeWay()
    const rows = this.#cutFiles().flatMap(({ file, length }) => this.#statements.deleteBeyond.all(file, length))
    const sumOf = (column: 'count' | 'bytes') => rows.reduce((sum, row) => sum + Number(row[column]), 0)
    const lost = { records: sumOf('count'), bytes: sumOf('bytes') }
    this.corruptRows += rows.length
    this.bytes -= lost.bytes
    for (const { file, needed } of this.#statements.files.all()) this.#files.need(Number(file), Number(needed))
    return lost
  }

  insert({ type, writer, clock, hour, firstMs, lastMs, count, pieces }: NewHeadRow): void {
    this.#noteFirst(hour, firstMs)
    // Each piece costs some calls, more than the copy of a short one.
    const joined = pieces.length > PIECE_COUNT_MAX ? [Buffer.concat(pieces)] : pieces
    const { file, place, bytes } = this.#files.add(joined)
    this.bytes += bytes
    const crc = joined.reduce((before, piece) => crc32(piece, before), 0)
    this.#statements.insert.run(type, writer, clock, hour, firstMs, lastMs, count, bytes, crc, file, place)
  }

  /** Writes the bytes of the rows that were inserted. */
  write(): void {
    this.#files.write()
  }

  /** Waits until the bytes of all rows are on the disk. */
  sync(): void {
    this.#files.sync()
  }

  delete(id: number): void {
    const row = this.#statements.delete.get(id)
    this.#left(id, Number(row?.file), Number(row?.bytes ?? 0))
  }

  /** Deletes the rows of the file that was made first; gives whether there is one. */
  deleteOldest(): boolean {
    const file = this.#files.oldestFile
    if (file === undefined) return false
    this.#files.seal(file)
    for (const { id, bytes } of this.#statements.deleteFile.all(file)) this.#left(Number(id), file, Number(bytes))
    return true
  }

  /** Files of which less than half is needed, the one that is written included: no more goes to that. */
  sparseFiles(): number[] {
    return this.#files.sealSparse()
  }

  /** Moves rows of a file to where rows are written now, at most `limitBytes` but one row at least; gives how many. */
  moveRows(from: number, limitBytes: number): number {
    let count = 0
    let moved = 0
    for (const { id, bytes } of this.#statements.ofFile.all(from)) {
      if (count > 0 && moved + Number(bytes) > limitBytes) break
      const body = this.read(Number(id))?.body
      if (body === undefined) {
        this.delete(Number(id))
      } else {
        const { file, place } = this.#files.add([body])
        this.#statements.move.run(file, place, Number(id))
        this.#files.need(from, -body.length)
      }
      moved += Number(bytes)
      count++
    }
    this.write()
    return count
  }

  /**
   * Deletes files of which nothing is needed. Not in a transaction: it moves what is in SQLite's log to the disk first,
   * so that the segments of their records outlive a loss of power, and waits for readers that see the rows still.
   */
  deleteEmptyFiles(): void {
    const empty = this.#files.emptyFiles
    if (empty.length === 0) return
    const { busy, log, checkpointed } = this.#statements.checkpoint.get() ?? {}
    if (busy !== 0 || log !== checkpointed) return
    for (const file of empty) this.#files.remove(file)
  }

  /** Another process writes: what was read of its files may be of others by now. */
  forgetRead(): void {
    this.#files.forget()
  }

  close(): void {
    this.#files.close()
  }

  /** Rows of a type that hold records in `(fromMs, toMs]`, in the order in which they came. */
  *inRange(type: number, fromMs: number, toMs: number): Generator<ReadRow> {
    for (const { id } of this.#statements.inRange.all(type, fromMs, toMs)) {
      const row = this.#row(Number(id))
      if (row !== undefined) yield row
    }
  }

  /** How many records of a type a question about `(fromMs, toMs]` looks through; a long one counts as several. */
  candidatesIn(type: number, { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }): number {
    return Number(this.#statements.candidatesIn.get(type, fromMs, toMs)?.count ?? 0)
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

  /**
   * The records of a unit's first rows, at most `limitBytes` of them, but one row at least. They lie in `memory` where
   * that has room for them.
   */
  ofUnit(unit: HeadUnit, limitBytes: number, memory: Uint8Array): UnitRecords {
    const ids: number[] = []
    const rows: UnitRow[] = []
    // What the file says of its sizes may be damaged.
    const wantedBytes = Math.max(0, Math.min(unit.bytes, limitBytes))
    let bytes = memory.length >= wantedBytes ? memory : new Uint8Array(wantedBytes)
    let used = 0
    // Ids alone come out of the index: it says nothing of where their bytes are.
    for (const found of this.#statements.idsOfUnit.all(unit.type, unit.writer, unit.clock, unit.hour)) {
      const id = Number(found.id)
      const row = this.#statements.row.get(id) ?? {}
      if (used > 0 && used + Number(row.bytes) > Math.min(limitBytes, bytes.length)) break
      const { body = EMPTY, firstMs = 0 } = this.#checked(row, bytes.subarray(used)) ?? {}
      ids.push(id)
      // The first alone was too long.
      if (used + body.length > bytes.length) bytes = body
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

  /** A row as it is in the file now; undefined if it is damaged. */
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
  #checked(row: Record<string, unknown>, memory?: Uint8Array): HeadRow | undefined {
    const { file, place, bytes, crc } = row
    const body = this.#files.read({ file: Number(file), place: Number(place), bytes: Number(bytes) }, memory)
    if (body !== undefined && crc32(body) === crc) return headRowOf(row, body)
    this.corruptRows++
    return undefined
  }

  /** Files that end before their rows do; `length` is where. */
  #cutFiles(): { readonly file: number; readonly length: number }[] {
    const files = this.#files.list()
    return this.#statements.files.all().flatMap(({ file: id, end }) => {
      const file = Number(id)
      const length = files.get(file)?.bytes ?? 0
      return Number(end) > length ? [{ file, length }] : []
    })
  }

  /** A row left the head. */
  #left(id: number, file: number, bytes: number): void {
    this.bytes -= bytes
    this.#files.need(file, -bytes)
    this.#first = undefined
    // The number may be given to another row.
    this.#forget(id)
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

function earlier(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)
}
