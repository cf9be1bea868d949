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

/** Where the records of a row start in its unit, and the time of the first record. */
export interface UnitRow {
  readonly offset: number
  readonly firstMs: number
}

/** Rows of a unit with contiguous records. */
export interface UnitRecords {
  readonly ids: readonly number[]
  readonly rows: readonly UnitRow[]
  readonly bytes: Uint8Array
}

/** The start of the head: its earliest hour, and the time of the first record in that hour, if any has such a time. */
interface First {
  readonly hour: number
  readonly timeMs: number | undefined
}

/** A row with its bytes in readable form. */
export interface ReadRow extends HeadRow {
  readonly views: Views
}

/** Recently read rows stay in memory, because every question about the last hour needs them. Unit: bytes. */
const MEMORY_BYTES = 16 << 20
/** Memory of the views of a row besides its bytes, which are often fewer. */
const VIEWS_BYTES = 1536

const EMPTY = new Uint8Array(0)
/** Pieces of a row that are written from their place; more are joined first. */
const PIECE_COUNT_MAX = 64

/** Size of rows whose bytes are lost. */
export interface LostRows {
  readonly records: number
  readonly bytes: number
}

/**
 * The head: records that are not yet compacted, as they arrived. A row describes them, and their location in {@link
 * HeadFiles}. All changes need a transaction of the caller. The bytes of new rows must be written by {@link write}
 * before it commits.
 */
export class Head {
  readonly #statements: ReturnType<typeof headStatements>
  readonly #files: HeadFiles
  readonly #rows = new Map<number, ReadRow>()
  /** Number of unreadable rows. */
  corruptRows = 0
  /** Size of all records in the head. Unit: bytes. */
  bytes: number
  #rowBytes = 0
  #first: First | undefined

  constructor(database: DatabaseSync, settings: Pick<StoreSettings, 'path' | 'maxBytes' | 'durability'>) {
    this.#statements = headStatements(database)
    this.#files = new HeadFiles(headFolderOf(settings.path), settings)
    this.bytes = Number(this.#statements.bytes.get()?.bytes ?? 0)
  }

  /** Size of its files. Unit: bytes. */
  get fileBytes(): number {
    return this.#files.bytes
  }

  /** Whether its files are still at their paths. */
  get isThere(): boolean {
    return this.#files.isThere
  }

  /** Records whose bytes are not in the files. */
  missingRecords(): number {
    const counts = this.#cutFiles().map(({ file, length }) => Number(this.#statements.beyond.get(file, length)?.count))
    return counts.reduce((sum, count) => sum + count, 0)
  }

  /**
   * Compares rows and files, once after the store was opened for writing. Deletes rows whose bytes did not reach the
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
    // Each piece costs some calls, which takes longer than copying a short piece.
    const joined = pieces.length > PIECE_COUNT_MAX ? [Buffer.concat(pieces)] : pieces
    const { file, place, bytes } = this.#files.add(joined)
    this.bytes += bytes
    const crc = joined.reduce((before, piece) => crc32(piece, before), 0)
    this.#statements.insert.run(type, writer, clock, hour, firstMs, lastMs, count, bytes, crc, file, place)
  }

  /** Writes the bytes of inserted rows. */
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

  /** Deletes the rows of the oldest file; returns whether there is one. */
  deleteOldest(): boolean {
    const file = this.#files.oldestFile
    if (file === undefined) return false
    this.#files.seal(file)
    for (const { id, bytes } of this.#statements.deleteFile.all(file)) this.#left(Number(id), file, Number(bytes))
    return true
  }

  /** Files of which less than half is in use, including the current file, which is sealed in that case. */
  sparseFiles(): number[] {
    return this.#files.sealSparse()
  }

  /** Moves rows of a file to the current file: at most `limitBytes`, but at least one row. Returns their number. */
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
   * Deletes unused files. Not in a transaction: first it syncs SQLite's log, so that the segments of their records
   * survive a power loss, and waits for readers that still see the rows.
   */
  deleteEmptyFiles(): void {
    const empty = this.#files.emptyFiles
    if (empty.length === 0) return
    const { busy, log, checkpointed } = this.#statements.checkpoint.get() ?? {}
    if (busy !== 0 || log !== checkpointed) return
    for (const file of empty) this.#files.remove(file)
  }

  /** Another process writes: cached reads of its files may be outdated. */
  forgetRead(): void {
    this.#files.forget()
  }

  close(): void {
    this.#files.close()
  }

  /** Rows of a type that hold records in `(fromMs, toMs]`, in order of arrival. */
  *inRange(type: number, fromMs: number, toMs: number): Generator<ReadRow> {
    for (const { id } of this.#statements.inRange.all(type, fromMs, toMs)) {
      const row = this.#row(Number(id))
      if (row !== undefined) yield row
    }
  }

  /** Number of records of a type that a question about `(fromMs, toMs]` scans; a long record counts as several. */
  candidatesIn(type: number, { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }): number {
    return Number(this.#statements.candidatesIn.get(type, fromMs, toMs)?.count ?? 0)
  }

  /** The writers of records of a type in `(fromMs, toMs]`. */
  writersIn(type: number, fromMs: number, toMs: number): number[] {
    return this.#statements.writersIn.all(type, fromMs, toMs).map(({ writer }) => Number(writer))
  }

  /** The times of records of a type in `(fromMs, toMs]`: one range for each hour. */
  rangesIn(type: number, fromMs: number, toMs: number): { firstMs: number; lastMs: number }[] {
    return this.#statements.rangesIn
      .all(type, fromMs, toMs)
      .map((row) => ({ firstMs: Number(row.first), lastMs: Number(row.last) }))
  }

  /** Start of the earliest hour of a type; infinite if it has no rows. */
  oldestMs(type: number): number {
    const hour = this.#statements.oldestOf.get(type)?.hour
    return hour === null || hour === undefined ? Number.POSITIVE_INFINITY : hourStartMs(Number(hour))
  }

  /** The units to compact, earliest first. */
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
   * The records of a unit's first rows, at most `limitBytes`, but at least one row. They are read into `memory` if they
   * fit.
   */
  ofUnit(unit: HeadUnit, limitBytes: number, memory: Uint8Array): UnitRecords {
    const ids: number[] = []
    const rows: UnitRow[] = []
    // The sizes in the file may be damaged.
    const wantedBytes = Math.max(0, Math.min(unit.bytes, limitBytes))
    let bytes = memory.length >= wantedBytes ? memory : new Uint8Array(wantedBytes)
    let used = 0
    // Only ids are in the index, not the location of the bytes.
    for (const found of this.#statements.idsOfUnit.all(unit.type, unit.writer, unit.clock, unit.hour)) {
      const id = Number(found.id)
      const row = this.#statements.row.get(id) ?? {}
      if (used > 0 && used + Number(row.bytes) > Math.min(limitBytes, bytes.length)) break
      const { body = EMPTY, firstMs = 0 } = this.#checked(row, bytes.subarray(used)) ?? {}
      ids.push(id)
      // The first row alone exceeded the limit.
      if (used + body.length > bytes.length) bytes = body
      rows.push({ offset: used, firstMs })
      used += body.length
    }
    return { ids, rows, bytes: bytes.subarray(0, used) }
  }

  /** Descriptions of the rows of a source's unit, in order of arrival. */
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

  /** The current row of the file; undefined if it is damaged. */
  read(id: number): HeadRow | undefined {
    const row = this.#statements.row.get(id)
    return row === undefined ? undefined : this.#checked(row)
  }

  /**
   * The first time in the earliest hour, or the start of that hour if no record has a time in it; infinite if there are
   * no rows. Unit: milliseconds since the Unix epoch.
   */
  firstMs(): number {
    // Needed every second, and a scan reads every row, so it is cached.
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

  /** Files that end before their rows; `length` is the actual end. */
  #cutFiles(): { readonly file: number; readonly length: number }[] {
    const files = this.#files.list()
    return this.#statements.files.all().flatMap(({ file: id, end }) => {
      const file = Number(id)
      const length = files.get(file)?.bytes ?? 0
      return Number(end) > length ? [{ file, length }] : []
    })
  }

  /** A row was deleted from the head. */
  #left(id: number, file: number, bytes: number): void {
    this.bytes -= bytes
    this.#files.need(file, -bytes)
    this.#first = undefined
    // The number may be reused for another row.
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
