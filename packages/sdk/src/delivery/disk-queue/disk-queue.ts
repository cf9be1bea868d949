import { join, resolve } from 'node:path'
import { Disk } from '../../disk/disk.ts'
import { PageMarks } from '../../disk/page-marks.ts'
import { SondeError } from '../../errors.ts'
import type { FileLock } from '../../internal/file-lock.ts'
import type { Batch, PageId } from '../../schema/batch.ts'
import {
  type AppendResult,
  type DeliveryQueue,
  type DurableQueue,
  entryBytes,
  type QueueEntry,
  type QueueEvents,
  type TakenEntries,
} from '../queue.ts'
import { splitBatch } from '../split-batch.ts'
import { Cursor } from './cursor.ts'
import { OpenEntries } from './open-entries.ts'
import { openFolder, setAside } from './open-folder.ts'
import { QueuePages } from './queue-pages.ts'
import { QueueReader, type QueueStep } from './queue-reader.ts'
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
/** A folder that cannot be opened is tried again. Unit: milliseconds. */
const OPEN_AGAIN_MS = 5000
const NO_EVENTS: QueueEvents = { found: () => undefined, expired: () => undefined, failed: () => undefined }

/**
 * A queue in files: segments of checksummed blocks, which `sonde read` reads, and a cursor beside them. Batches in
 * files take no memory: it holds what is not written yet, one window of the file that is read, and what is being sent.
 */
export class DiskQueue implements DeliveryQueue, DurableQueue {
  readonly durable = this
  readonly unwrittenLimitBytes = UNWRITTEN_BYTES_LIMIT
  readonly #ageMaxMs: number
  readonly #folder: string
  readonly #nowMs: () => number
  readonly #disk = new Disk()
  readonly #segments: QueueSegment[] = []
  readonly #pages = new QueuePages()
  readonly #marks: PageMarks
  readonly #cursor: Cursor
  readonly #writer: QueueWriter
  readonly #reader: QueueReader
  readonly #entries = new OpenEntries()
  /** Ordinal behind the last written record. */
  #end = 0
  #savedOrdinal = 0
  #saving: Promise<void> | undefined
  #taking: Promise<unknown> = Promise.resolve()
  #events = NO_EVENTS
  #opening: Promise<void> | undefined
  #lock: FileLock | undefined
  #openFault: { readonly untilMs: number; readonly error: unknown } | undefined
  #ticker: NodeJS.Timeout | undefined
  #closing: Promise<void> | undefined

  constructor(options: DiskQueueOptions) {
    const { folder, limitBytes, name, nowMs = () => performance.now() } = options
    this.#ageMaxMs = options.ageMaxS * 1000
    this.#folder = resolve(folder)
    this.#nowMs = nowMs
    this.#marks = new PageMarks(this.#disk, join(this.#folder, '.pages'))
    this.#cursor = new Cursor(this.#disk, this.#folder)
    this.#reader = new QueueReader(this.#disk, this.#segments, this.#fail)
    this.#writer = new QueueWriter({
      ...{ disk: this.#disk, folder: this.#folder, name, pages: this.#pages, nowMs, onFault: this.#fail },
      segmentBytes: Math.min(SEGMENT_BYTES_MAX, Math.max(SEGMENT_BYTES_MIN, Math.floor(limitBytes / SEGMENTS_MIN))),
      opened: () => this.#opened(),
      next: () => this.#end,
      onSegment: (segment) => void this.#segments.push(segment),
      onClosed: (segment, pages) => this.#closed(segment, pages),
      onWritten: (segment, records, bytes) => this.#written(segment, records, bytes),
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

  get #unreadRecords(): number {
    return this.#end - this.#reader.ordinal + this.#writer.unwrittenRecords
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
    this.#opened().catch(() => undefined)
    this.#ticker = setInterval(() => this.tick(), TICK_MS)
    this.#ticker.unref()
  }

  append(batch: Batch): Promise<AppendResult> {
    const fault = this.#openFault
    if (fault !== undefined && this.#nowMs() < fault.untilMs) return Promise.reject(fault.error)
    return this.#writer.append(batch)
  }

  take(recordsMax: number, bytesMax: number): Promise<TakenEntries> {
    const taken = this.#taking.then(() => this.#take(recordsMax, bytesMax))
    this.#taking = taken.catch(() => undefined)
    return taken
  }

  leave(entry: QueueEntry, records: number, arrivedRecords: number): void {
    this.#entries.leave(entry, records, arrivedRecords)
    this.#save()
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

  /** Removes what is too old, and has the disk take what was written. Called once a second. */
  tick(): void {
    if (this.#closing !== undefined) return
    if (this.#lock === undefined) {
      // Records of an earlier process may wait in a folder that could not be opened.
      this.#opened().catch(() => undefined)
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
    // If the cursor could not be written.
    if (this.#leftBelow > this.#savedOrdinal) this.#save()
    this.#writer.sync().catch(this.#fail)
  }

  async lastPage(client: bigint): Promise<bigint> {
    await this.#opened().catch(() => undefined)
    return this.#pages.last(client)
  }

  skip(page: PageId): void {
    if (this.#pages.has(page)) return
    this.#pages.written(page)
    this.#marks.mark(new Map([[page.client, page.sequence]])).catch(this.#fail)
  }

  giveUp(): void {
    this.#writer.giveUp()
  }

  close(): Promise<void> {
    this.#closing ??= this.#shutDown()
    return this.#closing
  }

  readonly #fail = (error: unknown): void => this.#events.failed(error)

  #opened(): Promise<void> {
    if (this.#lock !== undefined) return Promise.resolve()
    this.#opening ??= this.#openNow().finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  async #openNow(): Promise<void> {
    const fault = this.#openFault
    if (fault !== undefined && this.#nowMs() < fault.untilMs) throw fault.error
    try {
      const found = await openFolder(this.#disk, this.#folder, this.#cursor, this.#nowMs())
      await this.#recallPages(found.pages)
      this.#segments.push(...found.segments)
      this.#end = found.end
      this.#savedOrdinal = found.cursor.ordinal
      this.#entries.out = found.cursor.out
      this.#reader.skipTo(found.cursor.ordinal)
      // While there may be room for the file.
      await this.#cursor.write(found.cursor).catch(this.#fail)
      this.#lock = found.lock
      this.#openFault = undefined
      this.#events.found(this.#end - this.#reader.ordinal)
      for (const sentence of found.faults) this.#fail(new SondeError('QUE_DAMAGED', sentence))
    } catch (error) {
      this.#openFault = { untilMs: this.#nowMs() + OPEN_AGAIN_MS, error }
      this.#fail(error)
      throw error
    }
  }

  /** Without their marks, clients send pages again: no reason to give the queue up. */
  async #recallPages(newest: ReadonlyMap<bigint, bigint>): Promise<void> {
    try {
      if (newest.size > 0) await this.#marks.mark(newest)
      for (const [client, sequence] of await this.#marks.all()) this.#pages.written({ client, sequence })
    } catch (error) {
      this.#fail(error)
      for (const [client, sequence] of newest) this.#pages.written({ client, sequence })
    }
  }

  async #take(recordsMax: number, bytesMax: number): Promise<TakenEntries> {
    const entries: QueueEntry[] = []
    let [records, bytes, unreadableRecords, unreadable] = [0, 0, 0, '']
    try {
      await this.#opened()
      while (this.#closing === undefined) {
        const { next } = this.#entries
        if (next !== undefined) {
          records += next.batch.count
          bytes += entryBytes(next.batch)
          if (entries.length > 0 && (records > recordsMax || bytes > bytesMax)) break
          this.#entries.take()
          entries.push(next)
          continue
        }
        // Asked for before the files are read: what is written meanwhile ends the wait.
        const { progress } = this.#writer
        const step = await this.#reader.next()
        if (step.kind === 'batch') this.#read(step, { batchRecordsMax: recordsMax, batchBytesMax: bytesMax })
        else if (step.kind === 'unreadable') {
          unreadableRecords += step.records
          unreadable = step.words
          this.#save()
        } else if (entries.length > 0 || unreadableRecords > 0 || this.waitingRecords === 0) break
        else await progress
      }
    } catch (error) {
      if (unreadableRecords === 0) {
        this.#entries.putBack(entries)
        throw error
      }
    }
    return { entries, unreadableRecords, unreadable }
  }

  /** A batch was read: its pieces wait in memory. */
  #read(
    { batch, ordinal, segment }: Extract<QueueStep, { kind: 'batch' }>,
    limits: Parameters<typeof splitBatch>[1],
  ): void {
    const expiresMs = segment.usedMs + this.#ageMaxMs
    let id = ordinal
    for (const piece of splitBatch(batch, limits)) {
      this.#entries.add({ id, batch: piece, expiresMs })
      id += piece.count
    }
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
    if (records > 0) this.#save()
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
    if (pages.size > 0) await this.#marks.mark(pages).catch(this.#fail)
  }

  async #roll(): Promise<void> {
    await this.#writer.roll()
    this.#writer.moved()
    this.#save()
  }

  /** Writes the cursor, and removes the segments behind it; once at a time, and late is early enough. */
  #save(): void {
    this.#saving ??= this.#saveNow()
  }

  async #saveNow(): Promise<void> {
    // Entries that leave in the same turn are written as one.
    await undefined
    try {
      do {
        const ordinal = this.#leftBelow
        this.#entries.settleBelow(ordinal)
        if (ordinal > this.#savedOrdinal) await this.#cursor.write({ ordinal, out: this.#entries.out })
        this.#savedOrdinal = ordinal
        await this.#removeLeft()
      } while (this.#leftBelow > this.#savedOrdinal)
    } catch (error) {
      this.#fail(error)
    } finally {
      this.#saving = undefined
    }
  }

  /** Every record below this ordinal has left. */
  get #leftBelow(): number {
    return this.#entries.lowestId ?? this.#reader.ordinal
  }

  async #removeLeft(): Promise<void> {
    for (let [oldest] = this.#segments; oldest !== undefined; [oldest] = this.#segments) {
      if (oldest.isOpen || oldest.end > this.#savedOrdinal) return
      if (this.#reader.segment === oldest) this.#reader.close()
      this.#segments.shift()
      if (!oldest.isForeign) await this.#disk.unlink(oldest.path)
      else {
        const faults: string[] = []
        await setAside(this.#disk, oldest.path, 'nothing in it can be read', faults)
        for (const sentence of faults) this.#fail(new SondeError('QUE_DAMAGED', sentence))
      }
    }
  }

  async #shutDown(): Promise<void> {
    clearInterval(this.#ticker)
    await this.#opening?.catch(() => undefined)
    await this.#writer.close()
    this.#save()
    await this.#saving
    this.#reader.close()
    await this.#cursor.close().catch(this.#fail)
    await this.#marks.close().catch(this.#fail)
    this.#lock?.close()
    this.#disk.leave()
  }
}
