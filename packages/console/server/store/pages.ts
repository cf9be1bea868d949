import { type Batch, type BatchSymbols, countDrop, type SinkStats } from '@sonde/sdk'
import { type ClientLosses, KeptTexts } from '@sonde/sdk/internal'
import { type AnnouncedType, type AnnouncedWriter, Announcer } from './announcer.ts'
import type { Announcement, Page, PageEntry } from './protocol.ts'

const PAGE_BYTES_MIN = 64 << 10
const PAGE_BYTES_MAX = 4 << 20
/** Pages whose memory is kept for the next: those that the worker has and those that are filled meanwhile. */
const SPARE_COUNT = 3

interface OpenPage {
  readonly sequence: number
  readonly memory: SharedArrayBuffer
  readonly bytes: Uint8Array
  readonly entries: PageEntry[]
  readonly types: Set<AnnouncedType>
  readonly writers: Set<AnnouncedWriter>
  /** Tables of texts that its records refer to. */
  readonly tables: Map<BatchSymbols, AnnouncedWriter>
  used: number
  records: number
  payloadBytes: number
}

/**
 * What waits for the disk, in pages of memory that main thread and worker share: an accepted batch is copied once, into the last page. A page stays until it is
 * acknowledged, also while the worker has it, so that a worker that dies loses nothing. Over the limit the oldest page that the worker does not have is dropped
 * and counted as `queue_full`.
 */
export class PageQueue {
  readonly #limitBytes: number
  readonly #stats: SinkStats
  readonly #losses: ClientLosses
  readonly #announcer = new Announcer()
  readonly #texts = new KeptTexts()
  /** In order of sequence; the first `#postedCount` are with the worker. */
  readonly #pages: OpenPage[] = []
  #postedCount = 0
  /** Bytes in the page that was written last. */
  #lastUsed = 0
  /** Memory of pages that were written, the last first. */
  #spare: SharedArrayBuffer[] = []
  #sequence = 0
  #bytes = 0

  constructor(limitBytes: number, stats: SinkStats, losses: ClientLosses) {
    this.#limitBytes = limitBytes
    this.#stats = stats
    this.#losses = losses
  }

  /** Memory of the records that wait. Unit: bytes. */
  get bytes(): number {
    return this.#bytes
  }

  /** Records waiting. */
  get records(): number {
    return this.#pages.reduce((sum, { records }) => sum + records, 0)
  }

  /** Sequence of the last page; 0 where none waits. */
  get lastSequence(): number {
    return this.#pages.at(-1)?.sequence ?? 0
  }

  /** Sequence of the next page to post; infinite where none waits for that. */
  get nextSequence(): number {
    return this.#pages[this.#postedCount]?.sequence ?? Number.POSITIVE_INFINITY
  }

  /** Pages that were posted and not acknowledged. */
  get postedCount(): number {
    return this.#postedCount
  }

  /** How many types and sources are announced. */
  get names(): Readonly<Record<string, number>> {
    return this.#announcer.names
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
    type.lastSequence = page.sequence
    writer.lastSequence = page.sequence
    page.bytes.set(batch.bytes.subarray(0, length), page.used)
    page.entries.push({
      type: type.key,
      writer: writer.key,
      clock: batch.clock,
      count: batch.count,
      offset: page.used,
      arrivalMs,
      ...(batch.page === undefined ? {} : { page: batch.page }),
    })
    page.types.add(type)
    page.writers.add(writer)
    page.used = (page.used + length + 7) & ~7
    page.records += batch.count
    if (batch.symbols.nextTextId > batch.symbols.firstTextId) page.tables.set(batch.symbols, writer)
    const heldBytes = length + this.#texts.bytesOf(batch)
    page.payloadBytes += heldBytes
    this.#bytes += heldBytes
  }

  /** Whether a page is full and waits to be posted. */
  get hasFullPage(): boolean {
    return this.#pages.length - this.#postedCount > 1
  }

  /** The next page to write, with what must be known to read it. Undefined where nothing waits or `inFlightLimit` pages are on their way. */
  post(inFlightLimit: number, nowMs: number): { page: Page; announcement: Announcement } | undefined {
    const next = this.#pages[this.#postedCount]
    if (next === undefined || this.#postedCount >= inFlightLimit) return undefined
    this.#postedCount++
    const { sequence, memory, entries } = next
    return { page: { sequence, memory, entries }, announcement: this.#announcer.announce(next, nowMs) }
  }

  /** A page is on disk: its memory is released. Gives the records it held. */
  acknowledge(sequence: number): number {
    const index = this.#pages.findIndex((page) => page.sequence === sequence)
    const page = this.#pages[index]
    if (page === undefined || index >= this.#postedCount) return 0
    this.#postedCount--
    this.#spare = [page.memory, ...this.#spare].slice(0, SPARE_COUNT)
    return this.#remove(index)
  }

  /** A new worker knows nothing: everything that is not acknowledged is posted again. Pages up to `sequence` were written by the one before. */
  restart(sequence: number): number {
    let written = 0
    while (this.#postedCount > 0 && (this.#pages[0]?.sequence ?? 0) <= sequence) {
      this.#postedCount--
      written += this.#remove(0)
    }
    this.#postedCount = 0
    this.#announcer.restart(this.#pages)
    return written
  }

  /** Gives everything up; returns the records that were lost with it. */
  clear(): number {
    const records = this.#pages.reduce((sum, page) => sum + page.records, 0)
    this.#pages.length = 0
    this.#postedCount = 0
    this.#bytes = 0
    return records
  }

  #refusal(batch: Batch, length: number, type: AnnouncedType | undefined): string | undefined {
    if (type === undefined) return 'type_limit'
    if (batch.bytes.byteLength !== length) return 'wrong_size'
    return this.#makeRoom(length) ? undefined : 'queue_full'
  }

  #makeRoom(length: number): boolean {
    while (this.#bytes + length > this.#limitBytes) {
      if (this.#postedCount >= this.#pages.length) return false
      for (const { page, count } of this.#pages[this.#postedCount]?.entries ?? []) this.#losses.add(page, count)
      countDrop(this.#stats, 'queue_full', this.#remove(this.#postedCount))
    }
    return true
  }

  #pageFor(length: number): OpenPage {
    const last = this.#pages.at(-1)
    const isOpen = this.#pages.length > this.#postedCount
    if (last !== undefined && isOpen && last.used + length <= last.bytes.length) return last
    // As long as much comes, pages grow: fewer transactions write as much.
    const wanted = Math.min(PAGE_BYTES_MAX, Math.max(PAGE_BYTES_MIN, 2 * this.#lastUsed))
    const memory = this.#memoryFor(Math.max(wanted, length + 7) & ~7)
    const page: OpenPage = {
      sequence: ++this.#sequence,
      memory,
      bytes: new Uint8Array(memory),
      entries: [],
      types: new Set(),
      writers: new Set(),
      tables: new Map(),
      used: 0,
      records: 0,
      payloadBytes: 0,
    }
    this.#pages.push(page)
    return page
  }

  /** The memory of a page that was written, where it is about as long: fresh memory has to be cleared, which takes longer than the copy. */
  #memoryFor(length: number): SharedArrayBuffer {
    const index = this.#spare.findIndex(({ byteLength }) => byteLength >= length && byteLength <= 2 * length)
    return index < 0 ? new SharedArrayBuffer(length) : (this.#spare.splice(index, 1)[0] as SharedArrayBuffer)
  }

  #remove(index: number): number {
    const [page] = this.#pages.splice(index, 1)
    this.#lastUsed = page?.used ?? 0
    this.#bytes -= page?.payloadBytes ?? 0
    return page?.records ?? 0
  }
}
