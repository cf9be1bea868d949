import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { SondeError } from '@sonde/sdk'
import { longestIn } from '@sonde/sdk/internal'
import type { StoreSettings } from '../config.ts'
import type { Announcement, Page, Written } from '../protocol.ts'
import { Arena } from './arena.ts'
import { Catalogue, type StoredType } from './catalogue.ts'
import { ClientPages } from './client-pages.ts'
import { inTransaction, numberOf } from './database.ts'
import { Head } from './head.ts'
import type { BelievedTimes } from './ingest.ts'
import { PageWriter } from './page-writer.ts'
import { RAW, ROLLUP, Segments } from './segments.ts'
import { DAY_MS, hourOf } from './slots-of-time.ts'
import { StoredPeriods, type Window } from './stored-periods.ts'
import { Writers } from './writers.ts'

/** Clocks of devices may run ahead by this much and be believed. Unit: milliseconds. */
const AHEAD_LIMIT_MS = 3_600_000

/** The open file with everything that reads and writes it. After a failed write it is thrown away and made anew. */
export class StoreFile {
  readonly database: DatabaseSync
  readonly settings: StoreSettings
  readonly catalogue: Catalogue
  readonly writers: Writers
  readonly head: Head
  readonly segments: Segments
  readonly clients: ClientPages
  readonly periods: StoredPeriods
  /** Memory of the samples in hand. */
  readonly arena = new Arena()
  readonly openedHour = hourOf(Date.now())
  /** When unused series were last looked for. */
  cleanedHour = 0
  readonly #pages: PageWriter
  readonly #saveSession: StatementSync

  /**
   * Whoever reads much calls it between two pieces: what was reported meanwhile is written then. No statement may be
   * under way, and memory of the arena stays.
   */
  readonly breathe: () => void

  constructor(database: DatabaseSync, settings: StoreSettings, breathe: () => void) {
    this.breathe = breathe
    this.database = database
    this.settings = settings
    this.catalogue = new Catalogue(database, settings)
    this.writers = new Writers(database, this.catalogue, settings)
    this.head = new Head(database, settings)
    this.segments = new Segments(database)
    this.clients = new ClientPages(database)
    this.periods = new StoredPeriods(database, this.catalogue, this.writers)
    this.#saveSession = database.prepare("INSERT OR REPLACE INTO meta VALUES ('session', ?)")
    this.#pages = new PageWriter(this)
  }

  /** Ids of the types that are reported now. */
  get liveTypes(): ReadonlySet<number> {
    return this.#pages.names.liveTypes
  }

  /** How much of each is held in memory. */
  names(): Readonly<Record<string, number>> {
    return {
      ...this.catalogue.counts,
      ...this.writers.counts,
      clients: this.clients.count,
      periods: this.periods.count,
      ...this.#pages.names.counts,
    }
  }

  /** The last page of a session that the file holds. */
  lastSequence(session: string): number {
    const row = this.database.prepare("SELECT value FROM meta WHERE key = 'session'").get()
    const [of, sequence] = String(row?.value ?? '').split(' ')
    return of === session ? Number(sequence) : 0
  }

  /** Pieces that could not be read since it was opened. */
  get corruptChunks(): number {
    return this.catalogue.damaged + this.head.corruptRows + this.segments.corruptChunks
  }

  /**
   * Makes it ready to be written, once. Gives what was lost before, as a sentence; empty if nothing was. Throws
   * where it cannot be written.
   */
  prepareToWrite(): string {
    const lost = inTransaction(this.database, () => {
      this.database.exec("INSERT OR REPLACE INTO meta VALUES ('opened', unixepoch())")
      return this.head.recover()
    })
    this.head.deleteEmptyFiles()
    if (lost.records === 0) return ''
    return `${lost.records} records (${lost.bytes} bytes) had not reached the disk when the machine stopped, or their file was damaged: they are lost`
  }

  /** Pages of the file, and files of the head, that hold something. Unit: bytes. */
  usedBytes(): number {
    const pages = numberOf(this.database, 'PRAGMA page_count') - numberOf(this.database, 'PRAGMA freelist_count')
    return pages * numberOf(this.database, 'PRAGMA page_size') + this.head.fileBytes
  }

  /** What to do where names take so much of the file that it is over its limit; undefined if they do not. */
  get crowdedSentence(): string | undefined {
    const { maxBytes } = this.settings
    const { fileBytes } = this.catalogue
    if (fileBytes <= maxBytes / 2 || this.usedBytes() <= maxBytes) return undefined
    const [names, most] = [fileBytes, maxBytes].map((bytes) => Math.round(bytes / 2 ** 20))
    return `labels of series and sources take ${names} MiB of ${most}: the file is larger than store.max_bytes; raise it, or report fewer series`
  }

  /** Pages of the file that wait for reuse. Unit: bytes. */
  freeBytes(): number {
    return numberOf(this.database, 'PRAGMA freelist_count') * numberOf(this.database, 'PRAGMA page_size')
  }

  /** Time of the first record that is kept; null if there is none. Unit: milliseconds since the Unix epoch. */
  oldestMs(): number | null {
    const firstMs = Math.min(this.head.firstMs(), this.segments.firstMs())
    return Number.isFinite(firstMs) ? firstMs : null
  }

  /** Writes a page, and that it is written, in one transaction. */
  write(page: Page, announcement: Announcement, session: string): Written {
    return inTransaction(this.database, () => {
      const written = this.#pages.write(page, announcement, this.believedTimes())
      this.#saveSession.run(`${session} ${page.sequence}`)
      this.head.write()
      return written
    })
  }

  /** The longest period of those who wrote records of a type in a window. Its versions differ in their ids. */
  intervalMsIn(versions: readonly StoredType[], window: Window): number {
    const { fromMs, toMs } = window
    let intervalMs = 0
    for (const { id, type } of versions) {
      const ofHead = this.head.writersIn(id, fromMs, toMs).map((writer) => this.writers.of(writer)?.source ?? -1)
      const segments = [ROLLUP, RAW].flatMap((level) => this.segments.inRange(level, id, fromMs, toMs))
      for (const source of new Set([...segments.map(({ source }) => source), ...ofHead]))
        intervalMs = Math.max(intervalMs, longestIn(this.periods.within(source, window), type))
    }
    return intervalMs
  }

  /** Samples of a type's series in the segments of a window, all together. */
  samplesIn(type: number, { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }): number {
    return this.segments.inRange(RAW, type, fromMs, toMs).reduce((sum, { samples }) => sum + samples, 0)
  }

  /** Reads a stored chunk; one that is damaged is skipped and counted. */
  readChunk<T>(read: () => T): T | undefined {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof SondeError && error.code === 'STO_CHUNK_CORRUPT')) throw error
      this.segments.corruptChunks++
      return undefined
    }
  }

  /** Another process writes the file: what was read may have changed. */
  forgetRead(): void {
    this.writers.forgetIdle()
    this.head.forgetRead()
  }

  close(): void {
    this.head.close()
    if (this.database.isOpen) this.database.close()
  }

  /** Wall times that are taken as they are. */
  believedTimes(nowMs = Date.now()): BelievedTimes {
    return { fromMs: nowMs - this.settings.retentionDays * DAY_MS, toMs: nowMs + AHEAD_LIMIT_MS }
  }
}
