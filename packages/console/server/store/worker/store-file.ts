import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { SondeError } from '@sonde/sdk'
import { longestIn } from '@sonde/sdk/internal'
import type { StoreSettings } from '../config.ts'
import type { Announcement, StorePage, Written } from '../protocol.ts'
import { Arena } from './arena.ts'
import { ClientPages } from './client-pages.ts'
import { inTransaction, queryNumber } from './database.ts'
import { EndedMetrics } from './ended-metrics.ts'
import { Head } from './head.ts'
import type { BelievedTimes } from './ingest.ts'
import { PageWriter } from './page-writer.ts'
import { RAW, ROLLUP, Segments } from './segments.ts'
import { DAY_MS, hourOf } from './slots-of-time.ts'
import { StoreCatalogue, type StoredType } from './store-catalogue.ts'
import { type PeriodSpan, StoredPeriods } from './stored-periods.ts'
import { Writers } from './writers.ts'

/** How far clocks of devices may run ahead and still be plausible. Unit: milliseconds. */
const AHEAD_LIMIT_MS = 3_600_000

/** The open file with all its readers and writers. After a failed write it is closed and opened again. */
export class StoreFile {
  readonly database: DatabaseSync
  readonly settings: StoreSettings
  readonly catalogue: StoreCatalogue
  readonly writers: Writers
  readonly head: Head
  readonly segments: Segments
  readonly clients: ClientPages
  readonly periods: StoredPeriods
  readonly endedMetrics: EndedMetrics
  /** Memory of the samples in hand. */
  readonly arena = new Arena()
  readonly openedHour = hourOf(Date.now())
  /** When unused series were last searched. */
  cleanedHour = 0
  readonly #pages: PageWriter
  readonly #saveSession: StatementSync

  /**
   * Long reads call this between two pieces, so that new records are written then. No statement may be active, and
   * memory of the arena stays valid.
   */
  readonly breathe: () => void

  constructor(database: DatabaseSync, settings: StoreSettings, breathe: () => void) {
    this.breathe = breathe
    this.database = database
    this.settings = settings
    this.catalogue = new StoreCatalogue(database, settings)
    this.writers = new Writers(database, this.catalogue, settings)
    this.head = new Head(database, settings)
    this.segments = new Segments(database)
    this.clients = new ClientPages(database)
    this.periods = new StoredPeriods(database, this.catalogue, this.writers)
    this.endedMetrics = new EndedMetrics(database, this.catalogue)
    this.#saveSession = database.prepare("INSERT OR REPLACE INTO meta VALUES ('session', ?)")
    this.#pages = new PageWriter(this)
  }

  /** Ids of the types that are reported now. */
  get liveTypes(): ReadonlySet<number> {
    return this.#pages.names.liveTypes
  }

  /** Number of names in memory, by kind. */
  names(): Readonly<Record<string, number>> {
    return {
      ...this.catalogue.counts,
      ...this.writers.counts,
      clients: this.clients.count,
      periods: this.periods.count,
      ...this.#pages.names.counts,
    }
  }

  /** The last page of a session in the file. */
  lastSequence(session: string): number {
    const row = this.database.prepare("SELECT value FROM meta WHERE key = 'session'").get()
    const [of, sequence] = String(row?.value ?? '').split(' ')
    return of === session ? Number(sequence) : 0
  }

  /** Pieces that could not be read since the file was opened. */
  get corruptChunks(): number {
    return this.catalogue.damaged + this.head.corruptRows + this.segments.corruptChunks
  }

  /**
   * Prepares the file for writing, once. Returns a sentence about earlier losses; empty if there were none. Throws if
   * the file cannot be written.
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

  /** Size of used pages of the file and of used head files. Unit: bytes. */
  usedBytes(): number {
    const pages = queryNumber(this.database, 'PRAGMA page_count') - queryNumber(this.database, 'PRAGMA freelist_count')
    return pages * queryNumber(this.database, 'PRAGMA page_size') + this.head.fileBytes
  }

  /** Advice if names make the file exceed its size limit; undefined if they do not. */
  get crowdedSentence(): string | undefined {
    const { maxBytes } = this.settings
    const { fileBytes } = this.catalogue
    if (fileBytes <= maxBytes / 2 || this.usedBytes() <= maxBytes) return undefined
    const [names, most] = [fileBytes, maxBytes].map((bytes) => Math.round(bytes / 2 ** 20))
    return `labels of series and sources take ${names} MiB of ${most}: the file is larger than store.max_bytes; raise it, or report fewer series`
  }

  /** Size of free pages of the file. Unit: bytes. */
  freeBytes(): number {
    return queryNumber(this.database, 'PRAGMA freelist_count') * queryNumber(this.database, 'PRAGMA page_size')
  }

  /** Time of the first stored record; null if there is none. Unit: milliseconds since the Unix epoch. */
  oldestMs(): number | null {
    const firstMs = Math.min(this.head.firstMs(), this.segments.firstMs())
    return Number.isFinite(firstMs) ? firstMs : null
  }

  /** Writes a page and its sequence in one transaction. */
  write(page: StorePage, announcement: Announcement, session: string): Written {
    return inTransaction(this.database, () => {
      const written = this.#pages.write(page, announcement, this.believedTimes())
      this.#saveSession.run(`${session} ${page.sequence}`)
      this.head.write()
      return written
    })
  }

  /**
   * The longest period of the writers of a type's records in a window. The versions of the type differ in their ids.
   */
  intervalMsIn(versions: readonly StoredType[], window: PeriodSpan): number {
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

  /** Number of samples of a type's series in the segments of a window. */
  samplesIn(type: number, { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }): number {
    return this.segments.inRange(RAW, type, fromMs, toMs).reduce((sum, { samples }) => sum + samples, 0)
  }

  /** Reads a stored chunk; a damaged chunk is skipped and counted. */
  readChunk<T>(read: () => T): T | undefined {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof SondeError && error.code === 'STO_CHUNK_CORRUPT')) throw error
      this.segments.corruptChunks++
      return undefined
    }
  }

  /** Another process writes the file: cached reads may be outdated. */
  forgetRead(): void {
    this.writers.forgetIdle()
    this.head.forgetRead()
  }

  close(): void {
    this.head.close()
    if (this.database.isOpen) this.database.close()
  }

  /** Plausible wall times. */
  believedTimes(nowMs = Date.now()): BelievedTimes {
    return { fromMs: nowMs - this.settings.retentionDays * DAY_MS, toMs: nowMs + AHEAD_LIMIT_MS }
  }
}
