import { type Batch, countDrop, type SinkStats, type SourceInfo } from '@sonde/sdk'
import { type ClientLosses, KeptTexts } from '@sonde/sdk/internal'
import { type AnnouncedType, Announcer } from './announcer.ts'
import type { Announcement, StorePage } from './protocol.ts'
import { memoryIn, QueuedPage } from './queued-page.ts'
import { WaitingPages } from './waiting-pages.ts'

/** Heap memory of a batch besides its records: many batches have only one record. Unit: bytes. */
const BATCH_BYTES = 300
const PAGE_BYTES_MIN = 64 << 10
const PAGE_BYTES_MAX = 4 << 20
/**
 * Memory of written pages that is kept for reuse: for the pages of the worker and for the next ones. Unit: bytes.
 */
const SPARE_BYTES_MAX = 3 * PAGE_BYTES_MAX

/** A page that was sent to the worker. */
export interface Posted {
  readonly page: StorePage
  readonly announcement: Announcement
}

interface PostedPage {
  readonly sequence: number
  readonly page: QueuedPage
}

/**
 * Records that wait for the disk, in pages of memory that main thread and worker share: an accepted batch is copied
 * once, into the last page. A page stays until it is acknowledged, even while the worker has it, so that a dead worker
 * loses nothing. Over the limit the oldest page that was not sent yet is dropped and counted as `queue_full`.
 *
 * All batches pass in order of arrival, except those of clients with more new names than the worker takes in one turn:
 * these wait in `WaitingPages`, so that other clients can pass.
 */
export class PageQueue {
  readonly #limitBytes: number
  readonly #stats: SinkStats
  readonly #losses: ClientLosses
  readonly #announcer = new Announcer()
  readonly #texts = new KeptTexts()
  /** In order of arrival; the last page is being filled. */
  #pages: QueuedPage[] = []
  readonly #lanes = new WaitingPages()
  /** Sent to the worker, in order of sequence. */
  readonly #posted: PostedPage[] = []
  #wasLane = false
  #lastId = 0
  #lastNumber = 0
  #sequence = 0
  /** The last acknowledged page. */
  #acked = 0
  /** Bytes in the last page that was sent. */
  #lastUsed = 0
  /** Memory of written pages, newest first. */
  #spare: SharedArrayBuffer[] = []
  #bytes = 0

  constructor(limitBytes: number, stats: SinkStats, losses: ClientLosses) {
    this.#limitBytes = limitBytes
    this.#stats = stats
    this.#losses = losses
  }

  /** Memory of waiting records. Unit: bytes. */
  get bytes(): number {
    return this.#bytes
  }

  /** Number of waiting records. */
  get records(): number {
    let records = 0
    for (const page of this.#all()) records += page.records
    return records
  }

  /** Number of the page that holds the last batch. */
  get lastNumber(): number {
    return this.#lastNumber
  }

  /** Number of the next page to send, ignoring clients that are behind; infinite if none waits. */
  get nextNumber(): number {
    return this.#pages[0]?.number ?? Number.POSITIVE_INFINITY
  }

  /** Pages that were sent and not acknowledged. */
  get postedCount(): number {
    return this.#posted.length
  }

  /** Clients whose records the worker could not take completely. */
  get behindCount(): number {
    return this.#lanes.count
  }

  /** Number of announced types and sources. */
  get names(): Readonly<Record<string, number>> {
    return { ...this.#announcer.names, clientsBehind: this.#lanes.count }
  }

  /** Whether records of pages up to a number are not acknowledged; with a client, only records of that client. */
  isPending(number: number, client?: bigint): boolean {
    for (const page of this.#all()) if (page.number <= number && page.holds(client)) return true
    return false
  }

  /** Copies a batch. */
  append(batch: Batch, arrivalMs: number): void {
    const length = batch.count * batch.type.layout.recordBytes
    if (batch.count === 0) return
    const type = this.#announcer.typeOf(batch, arrivalMs)
    const reason = this.#refusal(batch, length, type)
    if (type === undefined || reason !== undefined) {
      countDrop(this.#stats, reason ?? 'type_limit', batch.count)
      this.#losses.add(batch.page, batch.count)
      return
    }
    const page = this.#pageFor(length)
    const writer = this.#announcer.writerOf(batch, arrivalMs)
    type.lastNumber = page.number
    writer.lastNumber = page.number
    const { clock, count, symbols } = batch
    const ofClient = batch.page === undefined ? {} : { page: batch.page }
    const heldBytes = BATCH_BYTES + length + this.#texts.bytesOf(batch)
    page.append(
      {
        entry: { type: type.key, writer: writer.key, clock, count, arrivalMs, ...ofClient },
        type,
        writer,
        table: symbols.nextTextId > symbols.firstTextId ? symbols : undefined,
        heldBytes,
      },
      batch.bytes.subarray(0, length),
    )
    this.#bytes += heldBytes
  }

  /** Forgets a source that stopped reporting, after its records are written. */
  retire(source: SourceInfo): void {
    this.#announcer.retire(source)
  }

  /** Whether a full page waits to be sent. */
  get hasFullPage(): boolean {
    return this.#pages.length > 1
  }

  /**
   * Sends the next page, with the names that it needs, and returns its sequence. Undefined if nothing waits or
   * `inFlightLimit` pages are unacknowledged. A page that cannot be sent is dropped and counted as `failed`, and the
   * error is thrown.
   */
  post(inFlightLimit: number, nowMs: number, send: (posted: Posted) => void): number | undefined {
    if (this.#posted.length >= inFlightLimit) return undefined
    const page = this.#next()
    if (page === undefined) return undefined
    page.isSealed = true
    const sequence = ++this.#sequence
    this.#posted.push({ sequence, page })
    const { id, memory, entries } = page
    let oldest = page.number
    for (const { number } of this.#all()) oldest = Math.min(oldest, number)
    try {
      const announcement = this.#announcer.announce(page.names, oldest, nowMs)
      send({ page: { sequence, id, afterAcked: this.#acked, memory, entries }, announcement })
    } catch (error) {
      this.#posted.pop()
      this.#drop(page, 'failed')
      throw error
    }
    return sequence
  }

  /**
   * A page is on disk, except the records of clients that are behind: its memory is released. Returns the number of
   * written records.
   */
  acknowledge(sequence: number, behind: readonly bigint[] = []): number {
    const index = this.#posted.findIndex((posted) => posted.sequence === sequence)
    const page = this.#posted[index]?.page
    if (page === undefined) return 0
    this.#posted.splice(index, 1)
    this.#acked = sequence
    return this.#release(behind.length === 0 ? page : this.#withoutLate(page, (client) => behind.includes(client)))
  }

  /**
   * A new worker knows no pages, so everything without acknowledgement is sent again. From pages up to `sequence`,
   * which the previous worker wrote, only the records of clients are sent again: some may have been left for later, and
   * those already written are recognised by their number.
   */
  restart(sequence: number): number {
    let written = 0
    const again: QueuedPage[] = [...this.#lanes.clear()]
    for (const posted of this.#posted.splice(0)) {
      if (posted.sequence > sequence) {
        again.push(posted.page)
        continue
      }
      const { rest, parts } = posted.page.split(() => true, this.#nextId)
      written += this.#release(rest)
      again.push(...parts.map(([, part]) => part))
    }
    this.#pages = [...again.sort((a, b) => (a.isBefore(b) ? -1 : 1)), ...this.#pages]
    this.#announcer.restart(this.#pages.map(({ names }) => names))
    return written
  }

  /** Drops everything that waits. */
  clear(): void {
    this.#pages = []
    this.#lanes.clear()
    this.#posted.length = 0
    this.#bytes = 0
  }

  *#all(): Generator<QueuedPage> {
    for (const { page } of this.#posted) yield page
    yield* this.#lanes.pages()
    yield* this.#pages
  }

  /** Alternates between clients that are behind and all others. */
  #next(): QueuedPage | undefined {
    this.#wasLane = !this.#wasLane
    return this.#wasLane ? (this.#nextLate() ?? this.#nextOfAll()) : (this.#nextOfAll() ?? this.#nextLate())
  }

  /** The worker may leave records of a client for later, so later records of that client wait. */
  #nextLate(): QueuedPage | undefined {
    return this.#lanes.next((client) => this.#posted.some(({ page }) => page.holds(client)))
  }

  #nextOfAll(): QueuedPage | undefined {
    for (let page = this.#pages.shift(); page !== undefined; page = this.#pages.shift()) {
      this.#lastUsed = page.used
      const rest = this.#lanes.count === 0 ? page : this.#withoutLate(page, (client) => this.#lanes.has(client))
      if (rest.records > 0) return rest
      this.#release(rest)
    }
    return undefined
  }

  /** Moves the records of clients that are behind to their lanes, and returns the rest of the page. */
  #withoutLate(page: QueuedPage, isLate: (client: bigint) => boolean): QueuedPage {
    const { rest, parts } = page.split(isLate, this.#nextId)
    for (const [client, part] of parts) this.#lanes.add(client, part)
    return rest
  }

  readonly #nextId = (): number => ++this.#lastId

  #refusal(batch: Batch, length: number, type: AnnouncedType | undefined): string | undefined {
    if (type === undefined) return 'type_limit'
    if (batch.bytes.byteLength !== length) return 'wrong_size'
    return this.#makeRoom(BATCH_BYTES + length) ? undefined : 'queue_full'
  }

  #makeRoom(length: number): boolean {
    while (this.#bytes + length > this.#limitBytes) {
      const oldest = this.#lanes.largest() ?? this.#pages.shift()
      if (oldest === undefined) return false
      this.#drop(oldest, 'queue_full')
    }
    return true
  }

  #drop(page: QueuedPage, reason: string): void {
    for (const entry of page.entries) this.#losses.add(entry.page, entry.count)
    countDrop(this.#stats, reason, this.#release(page))
  }

  #pageFor(length: number): QueuedPage {
    const last = this.#pages.at(-1)
    if (last?.hasRoom(length) === true) return last
    this.#keepSpare(last?.shrink())
    // Pages grow while many records come or wait: fewer transactions write the same amount.
    const waitingBytes = this.#pages.reduce((sum, { used }) => sum + used, 0)
    const wanted = Math.min(PAGE_BYTES_MAX, Math.max(PAGE_BYTES_MIN, 2 * this.#lastUsed, waitingBytes))
    const memory = memoryIn(this.#memoryFor(Math.max(wanted, length)))
    const page = new QueuedPage(this.#nextId(), ++this.#lastNumber, memory)
    this.#pages.push(page)
    return page
  }

  /**
   * Reuses the memory of a written page of similar length: new memory must be cleared, which takes longer than the
   * copy. Lengths are powers of two, so that they match.
   */
  #memoryFor(leastBytes: number): SharedArrayBuffer {
    const length = 2 ** Math.ceil(Math.log2(leastBytes))
    const index = this.#spare.findIndex(({ byteLength }) => byteLength >= length && byteLength <= 4 * length)
    return index < 0 ? new SharedArrayBuffer(length) : (this.#spare.splice(index, 1)[0] as SharedArrayBuffer)
  }

  /** Releases a page that was written or dropped. Returns the number of its records. */
  #release(page: QueuedPage): number {
    this.#bytes -= page.heldBytes
    this.#keepSpare(page.release())
    return page.records
  }

  #keepSpare(memory: SharedArrayBuffer | undefined): void {
    if (memory === undefined || memory.byteLength < PAGE_BYTES_MIN || memory.byteLength > PAGE_BYTES_MAX) return
    let bytes = 0
    this.#spare = [memory, ...this.#spare].filter(({ byteLength }) => {
      bytes += byteLength
      return bytes <= SPARE_BYTES_MAX
    })
  }
}
