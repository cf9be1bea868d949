import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { Disk } from '../../disk/disk.ts'
import { syncFolders } from '../../disk/record-file.ts'
import { messageOf } from '../../errors.ts'
import { Periods } from '../../schema/periods.ts'
import { Backpressure } from '../../sink/backpressure.ts'
import { ClientLosses } from '../../sink/client-losses.ts'
import { countDrop, type SinkStats, sinkStats } from '../../sink/sink.ts'
import { type BlockEntry, Blocks } from './blocks.ts'
import type { FilesConfig } from './config.ts'
import type { SourceFile } from './contents.ts'
import type { FilesDropReason } from './reasons.ts'
import { TypeSets } from './type-sets.ts'

/** Files that are closed at once. */
const END_COUNT_LIMIT = 16

/** The shared state of the writers of all sources: configuration, counts, memory and background work. */
export class FilesContext {
  readonly config: FilesConfig
  readonly disk = new Disk()
  readonly stats: SinkStats = sinkStats()
  readonly blocks = new Blocks()
  /** How often sources report. */
  readonly periods = new Periods()
  /** Where producers wait for the disk. */
  readonly backpressure: Backpressure
  /** Dropped records of the pages of clients. */
  readonly losses = new ClientLosses()
  /** Tells this sink's files from those of others. */
  readonly writerId = randomBytes(8).readBigUInt64LE()
  readonly process: { readonly schema: string; readonly host: string; readonly pid: number; readonly version: string }
  /** Texts of records that are about the sink itself. */
  readonly own: { readonly texts: string[] } = { texts: [] }
  readonly typeSets: TypeSets
  /** Fingerprints of schemas whose sidecar exists. */
  readonly sidecars = new Set<string>()
  /** Called when a file was closed. */
  onEnd: (file: SourceFile) => void = () => undefined
  queuedRecords = 0
  queuedBytes = 0
  /** Number of failed syncs of the disk. */
  unsynced = 0
  /** The last error; empty after a successful write. */
  failing = ''
  /** Files with an open descriptor; the least recently used is first. */
  readonly #open = new Set<SourceFile>()
  /** Folders with entries that the disk was not asked to take. */
  readonly #folders = new Set<string>()
  readonly #behind = new Set<Promise<void>>()
  /** Files that are being closed. */
  readonly #ends = new Set<Promise<void>>()

  constructor(config: FilesConfig) {
    const { schema, version, types, maxBytes } = config
    this.config = config
    this.backpressure = new Backpressure({ limitBytes: config.queueLimitBytes })
    this.typeSets = new TypeSets(types, maxBytes)
    this.process = { schema, host: hostname(), pid: process.pid, version }
  }

  queue(entry: BlockEntry): void {
    this.queuedRecords += entry.counted
    this.queuedBytes += entry.block.byteLength + entry.textBytes
  }

  /** An entry is written, or had been before. */
  done(entry: BlockEntry): void {
    this.stats.out += entry.counted
    this.#leave(entry)
  }

  drop(reason: FilesDropReason, entry: BlockEntry): void {
    this.count(reason, entry.counted)
    this.losses.add(entry.page, entry.counted)
    this.#leave(entry)
  }

  /** Counts records as dropped that were never queued. */
  count(reason: FilesDropReason, records: number): void {
    countDrop(this.stats, reason, records)
  }

  fail(error: unknown): void {
    this.stats.errors++
    this.failing = messageOf(error)
  }

  /**
   * Written records may not be on the disk. Their number is unknown, so they do not count as dropped, but `flush`
   * rejects.
   */
  failUnsynced(error: unknown): void {
    this.fail(error)
    this.unsynced++
  }

  /**
   * Marks the descriptor of a file as used; where there are too many, the one used longest ago is closed until it is
   * needed.
   */
  use(file: SourceFile): void {
    this.#open.delete(file)
    this.#open.add(file)
    if (this.#open.size <= this.config.openFilesMax) return
    for (const other of this.#open) {
      if (other === file || !other.canRest) continue
      this.#open.delete(other)
      this.behind(other.rest({ isSynced: this.config.durability !== 'none' }))
      return
    }
  }

  /** A file was closed. */
  forget(file: SourceFile): void {
    this.#open.delete(file)
    this.onEnd(file)
  }

  /**
   * Folders that have new files: the disk is asked to take their entries once for all files of a second, not once a
   * file.
   */
  noteFolders(folders: readonly string[]): void {
    for (const folder of folders) this.#folders.add(folder)
  }

  /** Has the disk take what is in the open files and in folders, where they changed. */
  syncBehind(): void {
    for (const file of this.#open) if (file.isDirty) this.behind(file.sync())
    if (this.#folders.size === 0) return
    this.behind(syncFolders(this.disk, [...this.#folders]))
    this.#folders.clear()
  }

  /** Runs background work that only `close` waits for. */
  readonly behind = (work: Promise<void>): void => {
    const done = work.catch((error: unknown) => this.fail(error)).finally(() => this.#behind.delete(done))
    this.#behind.add(done)
  }

  /** Lets the end of a file go on behind, and waits only where many do: the disk must not fall behind without limit. */
  async end(work: Promise<void>): Promise<void> {
    const done = work.catch((error: unknown) => this.fail(error)).finally(() => this.#ends.delete(done))
    this.#ends.add(done)
    this.behind(done)
    while (this.#ends.size > END_COUNT_LIMIT) await Promise.race(this.#ends)
  }

  async settled(): Promise<void> {
    while (this.#behind.size > 0) await Promise.all(this.#behind)
  }

  /** The id, among the sink's own texts, of a text. */
  ownText(text: string): number {
    const known = this.own.texts.indexOf(text)
    return known === -1 ? this.own.texts.push(text) - 1 : known
  }

  #leave(entry: BlockEntry): void {
    this.queuedRecords -= entry.counted
    this.queuedBytes -= entry.block.byteLength + entry.textBytes
    this.backpressure.left(this.queuedBytes)
    this.blocks.release(entry)
  }
}
