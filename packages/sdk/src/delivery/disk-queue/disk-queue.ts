import { resolve } from 'node:path'
import { Disk } from '../../disk/disk.ts'
import { SondeError } from '../../errors.ts'
import type { FileLock } from '../../internal/file-lock.ts'
import type { Batch, PageId } from '../../schema/batch.ts'
import type { AppendResult, DeliveryQueue, DurableQueue, QueueEntry, QueueEvents, TakenEntries } from '../queue.ts'
import { Cursor } from './cursor.ts'
import { EntryTaker } from './entry-taker.ts'
import { LeftRecords } from './left-records.ts'
import { OpenEntries } from './open-entries.ts'
import { openFolder } from './open-folder.ts'
import { OpenedOnce } from './opened-once.ts'
import { QueuePages } from './queue-pages.ts'
import { QueueReader } from './queue-reader.ts'
import { QueueWriter, UNWRITTEN_BYTES_LIMIT } from './queue-writer.ts'
import type { QueueSegment } from './segment.ts'

/** Options of {@link DiskQueue}. */
export interface DiskQueueOptions {
  /** The folder, which is made if it is missing; no other queue shares it. */
  readonly folder: string
  /** Name of the destination, as readers of the files see it. */
  readonly name: string
  /** Limit that delivery enforces: it decides the size of a file. Unit: bytes. */
  readonly limitBytes: number
  /** Age at which records are removed. Unit: seconds. */
  readonly ageMaxS: number
  /** A clock that only rises. Unit: milliseconds. Default: that of the process. */
  readonly nowMs?: () => number
}

/** A file is removed as a whole, so it is a small part of the queue. */
const SEGMENTS_MIN = 16
const SEGMENT_BYTES_MIN = 64 << 10
const SEGMENT_BYTES_MAX = 8 << 20
/** A file spans a small part of the greatest age. */
const AGE_PARTS = 16
/** A file whose records have all left is removed after this time without another. Unit: milliseconds. */
const IDLE_MS = 10_000
const TICK_MS = 1000
const NO_EVENTS: QueueEvents = { found: () => undefined, expired: () => undefined, failed: () => undefined }

/**
 * A queue in files: segments of checksummed blocks, which `sonde read` reads, and a cursor beside them. Batches in
 * files take no memory. Memory holds the batches that wait for the disk, a window of a file, and the batches of
 * requests under way.
 */
export class DiskQueue implements DeliveryQueue, DurableQueue {
  readonly durable = this
  readonly unwrittenLimitBytes = UNWRITTEN_BYTES_LIMIT
  readonly #ageMaxMs: number
  readonly #folder: string
  readonly #nowMs: () => number
  readonly #disk = new Disk()
  readonly #segments: QueueSegment[] = []
  readonly #pages: QueuePages
  readonly #access: OpenedOnce
  readonly #cursor: Cursor
  readonly #writer: QueueWriter
  readonly #reader: QueueReader
  readonly #entries = new OpenEntries()
  readonly #left: LeftRecords
  readonly #taker: EntryTaker
  /** Ordinal behind the last written record. */
  #end = 0
  #events = NO_EVENTS
  #lock: FileLock | undefined
  #ticker: NodeJS.Timeout | undefined
  #closing: Promise<void> | undefined

  constructor(options: DiskQueueOptions) {
    const { folder, limitBytes, name, nowMs = () => performance.now() } = options
    this.#ageMaxMs = options.ageMaxS * 1000
    this.#folder = resolve(folder)
    this.#nowMs = nowMs
    this.#pages = new QueuePages(this.#disk, this.#folder, this.#fail)
    this.#access = new OpenedOnce(() => this.#open(), nowMs, this.#fail)
    this.#cursor = new Cursor(this.#disk, this.#folder)
    this.#reader = new QueueReader(this.#disk, this.#segments, this.#fail)
    this.#writer = new QueueWriter({
      ...{ disk: this.#disk, folder: this.#folder, name, pages: this.#pages, nowMs, onFault: this.#fail },
      segmentBytes: Math.min(SEGMENT_BYTES_MAX, Math.max(SEGMENT_BYTES_MIN, Math.floor(limitBytes / SEGMENTS_MIN))),
      opened: () => this.#access.opened(),
      next: () => this.#end,
      onSegment: (segment) => void this.#segments.push(segment),
      onClosed: (segment, pages) => this.#closed(segment, pages),
      onWritten: (segment, records, bytes) => this.#written(segment, records, bytes),
    })
    this.#taker = new EntryTaker({
      ...{ entries: this.#entries, reader: this.#reader, writer: this.#writer, ageMaxMs: this.#ageMaxMs },
      opened: () => this.#access.opened(),
      isClosing: () => this.#closing !== undefined,
      isEmpty: () => this.waitingRecords === 0,
      onUnreadable: () => this.#left.save(),
    })
    this.#left = new LeftRecords({
      ...{ disk: this.#disk, cursor: this.#cursor, segments: this.#segments, entries: this.#entries },
      ...{ reader: this.#reader, onFault: this.#fail },
    })
  }

  get records(): number {
    return this.#unreadRecords + this.#entries.records
  }

  get bytes(): number {
    return this.#unreadBytes + this.#writer.unwrittenBytes + this.#entries.bytes
  }

  get waitingRecords(): number {
    return this.records - this.#entries.takenRecords
  }

  get waitingBytes(): number {
    return this.#unreadBytes + this.#writer.unwrittenBytes
  }

  get evictableBytes(): number {
    return this.#unreadBytes - (this.#writer.segment?.unreadBytes ?? 0)
  }

  get unwrittenBytes(): number {
    return this.#writer.unwrittenBytes
  }

  get hanging(): string {
    return this.#disk.hanging(this.#folder)
  }

  get #unreadRecords(): number {
    // What an earlier process left counts from the moment at which `found` tells of it.
    const inFiles = this.#lock === undefined ? 0 : this.#end - this.#reader.ordinal
    return inFiles + this.#writer.unwrittenRecords
  }

  get #unreadBytes(): number {
    return this.#segments.reduce((sum, { unreadBytes }) => sum + unreadBytes, 0)
  }

  /**
   * Begins to open the folder. Until it is open, batches wait in memory. If it cannot be opened, batches are refused,
   * and it is tried again.
   */
  attach(events: QueueEvents): void {
    this.#events = events
    this.#access.opened().catch(() => undefined)
    this.#ticker = setInterval(() => this.tick(), TICK_MS)
    this.#ticker.unref()
  }

  append(batch: Batch): Promise<AppendResult> {
    const { refusal } = this.#access
    return refusal === undefined ? this.#writer.append(batch) : Promise.reject(refusal.error)
  }

  take(recordsMax: number, bytesMax: number): Promise<TakenEntries> {
    return this.#taker.take(recordsMax, bytesMax)
  }

  leave(entry: QueueEntry, records: number, arrivedRecords: number): void {
    this.#entries.leave(entry, records, arrivedRecords)
    this.#left.save()
  }

  nack(entries: readonly QueueEntry[]): void {
    this.#entries.putBack(entries)
  }

  evict(bytesMin: number): number {
    let bytes = 0
    return this.#evictWhile((segment) => {
      const goes = bytes < bytesMin
      bytes += segment.unreadBytes
      return goes
    })
  }

  /** Drops expired records and flushes written blocks to the disk. Called once a second. */
  tick(): void {
    if (this.#closing !== undefined) return
    if (this.#lock === undefined) {
      // Records of an earlier process may wait in a folder that could not be opened.
      this.#access.opened().catch(() => undefined)
      return
    }
    const nowMs = this.#nowMs()
    const expired = this.#evictWhile(({ usedMs }) => nowMs - usedMs >= this.#ageMaxMs)
    if (expired > 0) this.#events.expired(expired)
    const current = this.#writer.segment
    if (current !== undefined) {
      const isSpent = this.records === 0 && nowMs - current.usedMs >= IDLE_MS
      if (isSpent || nowMs - current.madeMs >= this.#ageMaxMs / AGE_PARTS) void this.#roll()
    }
    this.#left.saveAgain()
    this.#writer.sync().catch(this.#fail)
  }

  async lastPage(client: bigint): Promise<bigint> {
    await this.#access.opened().catch(() => undefined)
    return this.#pages.last(client)
  }

  skip(page: PageId): void {
    this.#pages.skip(page)
  }

  finishNow(): void {
    this.#writer.finishNow()
  }

  giveUp(): void {
    this.#writer.giveUp()
  }

  close(): Promise<void> {
    this.#closing ??= this.#shutDown()
    return this.#closing
  }

  readonly #fail = (error: unknown): void => this.#events.failed(error)

  async #open(): Promise<void> {
    const found = await openFolder(this.#disk, this.#folder, this.#cursor, this.#nowMs())
    await this.#pages.recall(found.pages)
    this.#segments.push(...found.segments)
    this.#end = found.end
    await this.#left.begin(found.cursor)
    this.#lock = found.lock
    this.#events.found(this.#end - this.#reader.ordinal)
    for (const sentence of found.faults) this.#fail(new SondeError('QUE_DAMAGED', sentence))
  }

  #evictWhile(goes: (segment: QueueSegment) => boolean): number {
    let records = 0
    for (const segment of this.#segments) {
      if (segment.isOpen) break
      if (segment.end <= this.#reader.ordinal) continue
      if (!goes(segment)) break
      records += segment.end - this.#reader.ordinal
      segment.unreadBytes = 0
      this.#reader.skipTo(segment.end)
    }
    if (records > 0) this.#left.save()
    return records
  }

  #written(segment: QueueSegment, records: number, bytes: number): void {
    segment.end += records
    segment.bytes += bytes
    segment.unreadBytes += bytes
    segment.usedMs = this.#nowMs()
    this.#end = segment.end
  }

  /** A segment takes no more records. Its pages are marked, because it may be removed. */
  async #closed(segment: QueueSegment, pages: ReadonlyMap<bigint, bigint>): Promise<void> {
    if (segment.end === segment.first) this.#segments.splice(this.#segments.indexOf(segment), 1)
    await this.#pages.keep(pages)
  }

  async #roll(): Promise<void> {
    await this.#writer.roll()
    this.#writer.moved()
    this.#left.save()
  }

  async #shutDown(): Promise<void> {
    clearInterval(this.#ticker)
    await this.#access.settled()
    await this.#writer.close()
    await this.#left.close()
    this.#reader.close()
    await this.#pages.close()
    this.#lock?.close()
    this.#disk.leave()
  }
}
