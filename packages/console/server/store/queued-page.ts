import type { BatchSymbols } from '@sonde/sdk'
import type { AnnouncedType, AnnouncedWriter, PageNames } from './announcer.ts'
import type { PageEntry } from './protocol.ts'

/**
 * Size of the parts of one client when its page is written in parts. A batch is never cut. Unit: bytes.
 */
const PART_BYTES = 256 << 10
/** Largest number of batches in a page: each takes some 2 µs of each thread. */
const BATCH_COUNT_LIMIT = 1024

/** Memory of records, shared by the parts of a page. */
export interface PageMemory {
  readonly buffer: SharedArrayBuffer
  readonly bytes: Uint8Array<SharedArrayBuffer>
  /** Number of pages in it. */
  pages: number
}

/** Memory without a page. */
export function memoryIn(buffer: SharedArrayBuffer): PageMemory {
  return { buffer, bytes: new Uint8Array(buffer), pages: 0 }
}

/** A batch in a page, and the names that it refers to. */
interface QueuedBatch {
  readonly entry: PageEntry
  /** Its offset in the page when it arrived, which orders the parts of a page. Unit: bytes. */
  readonly place: number
  readonly type: AnnouncedType
  readonly writer: AnnouncedWriter
  /** The table of texts that its records refer to; undefined if there is none. */
  readonly table: BatchSymbols | undefined
  /** Size of its records and texts. Unit: bytes. */
  readonly heldBytes: number
}

/** The parts of a batch that the page does not know. */
export type NewBatch = Omit<QueuedBatch, 'entry' | 'place'> & { readonly entry: Omit<PageEntry, 'offset'> }

/** Batches that wait for the disk and are written together. */
export class QueuedPage {
  /** Id of this page, or of a part of a page. */
  readonly id: number
  /** Rises in order of arrival. All parts of a page have the same number. */
  readonly number: number
  records = 0
  /** Size of records and texts. Unit: bytes. */
  heldBytes = 0
  /** Unit: bytes. */
  used = 0
  /** Whether it takes no further batch. */
  isSealed = false
  #memory: PageMemory
  #batches: QueuedBatch[] = []
  readonly #clients = new Set<bigint>()

  constructor(id: number, number: number, memory: PageMemory) {
    this.id = id
    this.number = number
    this.#memory = memory
    memory.pages++
  }

  get memory(): SharedArrayBuffer {
    return this.#memory.buffer
  }

  get entries(): PageEntry[] {
    return this.#batches.map(({ entry }) => entry)
  }

  /** The names that the worker needs to read it. */
  get names(): PageNames {
    const tables = new Map<BatchSymbols, AnnouncedWriter>()
    for (const { table, writer } of this.#batches) if (table !== undefined) tables.set(table, writer)
    const types = new Set(this.#batches.map(({ type }) => type))
    return { types, writers: new Set(this.#batches.map(({ writer }) => writer)), tables }
  }

  /** Whether its content arrived before that of another page. */
  isBefore(other: QueuedPage): boolean {
    const order = this.number - other.number
    return order < 0 || (order === 0 && this.#firstPlace < other.#firstPlace)
  }

  /** Whether it holds records; with a client, records of that client. */
  holds(client?: bigint): boolean {
    return client === undefined ? this.records > 0 : this.#clients.has(client)
  }

  hasRoom(bytes: number): boolean {
    return !this.isSealed && !this.#isFull && this.used + bytes <= this.#memory.bytes.length
  }

  /** Copies a batch. */
  append({ entry, ...batch }: NewBatch, bytes: Uint8Array): void {
    this.#memory.bytes.set(bytes, this.used)
    this.#add({ ...batch, place: this.used, entry: { ...entry, offset: this.used } })
    this.used = (this.used + bytes.length + 7) & ~7
  }

  /** Separates the batches of some clients. Returns the rest, and the parts of each of these clients. */
  split(isSeparate: (client: bigint) => boolean, nextId: () => number): SplitPage {
    const rest = this.#part(nextId())
    const parts: [bigint, QueuedPage][] = []
    const last = new Map<bigint, QueuedPage>()
    for (const batch of this.#batches) {
      const client = batch.entry.page?.client
      if (client === undefined || !isSeparate(client)) {
        rest.#add(batch)
        continue
      }
      let part = last.get(client)
      if (part === undefined || part.#isFull || part.heldBytes + batch.heldBytes > PART_BYTES) {
        part = this.#part(nextId())
        parts.push([client, part])
        last.set(client, part)
      }
      part.#add(batch)
    }
    for (const [, part] of parts) part.shrink()
    this.release()
    return { rest, parts }
  }

  /**
   * Copies a short page into memory of its own size if its memory is much larger. Returns the old memory if no other
   * part needs it.
   */
  shrink(): SharedArrayBuffer | undefined {
    const bytesOf = ({ entry, type }: QueuedBatch) => (entry.count * type.type.layout.recordBytes + 7) & ~7
    const length = this.#batches.reduce((sum, batch) => sum + bytesOf(batch), 0)
    if (2 * length > this.#memory.bytes.length) return undefined
    const from = this.#memory.bytes
    const freed = this.release()
    this.#memory = memoryIn(new SharedArrayBuffer(length))
    this.#memory.pages++
    this.used = 0
    this.#batches = this.#batches.map((batch) => {
      const { offset } = batch.entry
      const entry = { ...batch.entry, offset: this.used }
      this.#memory.bytes.set(from.subarray(offset, offset + bytesOf(batch)), this.used)
      this.used += bytesOf(batch)
      return { ...batch, entry }
    })
    return freed
  }

  /** Marks the page as no longer needed. Returns its memory if no other part needs it. */
  release(): SharedArrayBuffer | undefined {
    this.#memory.pages--
    return this.#memory.pages === 0 ? this.#memory.buffer : undefined
  }

  get #isFull(): boolean {
    return this.#batches.length >= BATCH_COUNT_LIMIT
  }

  get #firstPlace(): number {
    return this.#batches[0]?.place ?? 0
  }

  #add(batch: QueuedBatch): void {
    this.#batches.push(batch)
    this.records += batch.entry.count
    this.heldBytes += batch.heldBytes
    if (batch.entry.page !== undefined) this.#clients.add(batch.entry.page.client)
  }

  #part(id: number): QueuedPage {
    const part = new QueuedPage(id, this.number, this.#memory)
    part.isSealed = true
    return part
  }
}

/** See {@link QueuedPage.split}. */
export interface SplitPage {
  readonly rest: QueuedPage
  readonly parts: readonly (readonly [client: bigint, part: QueuedPage])[]
}
