import type { BatchSymbols } from '@sonde/sdk'
import type { AnnouncedType, AnnouncedWriter, PageNames } from './announcer.ts'
import type { PageEntry } from './protocol.ts'

/**
 * The parts of a page that one client gets at a time, when its page is written in parts. A batch is never cut. Unit:
 * bytes.
 */
const PART_BYTES = 256 << 10
/** Batches of a page at most: each takes some 2 µs of either thread on its way from one to the other. */
const BATCH_COUNT_LIMIT = 1024

/** Memory of records, which the parts of a page share. */
export interface PageMemory {
  readonly buffer: SharedArrayBuffer
  readonly bytes: Uint8Array<SharedArrayBuffer>
  /** Pages that lie in it. */
  pages: number
}

/** Memory in which no page lies yet. */
export function memoryIn(buffer: SharedArrayBuffer): PageMemory {
  return { buffer, bytes: new Uint8Array(buffer), pages: 0 }
}

/** A batch in a page, and what it refers to. */
interface QueuedBatch {
  readonly entry: PageEntry
  /** Where it lay in the page when it arrived: the order of the parts of a page. Unit: bytes. */
  readonly place: number
  readonly type: AnnouncedType
  readonly writer: AnnouncedWriter
  /** The table of texts that its records refer to; undefined if they refer to none. */
  readonly table: BatchSymbols | undefined
  /** Memory of its records and texts. Unit: bytes. */
  readonly heldBytes: number
}

/** What of a batch the page itself does not know. */
export type NewBatch = Omit<QueuedBatch, 'entry' | 'place'> & { readonly entry: Omit<PageEntry, 'offset'> }

/** Some batches that wait for the disk and are written together. */
export class QueuedPage {
  /** Names this page, or part of one. */
  readonly id: number
  /** Rises with the time of arrival. All parts of a page have the same. */
  readonly number: number
  records = 0
  /** Memory of records and texts. Unit: bytes. */
  heldBytes = 0
  /** Unit: bytes. */
  used = 0
  /** Takes no further batch. */
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

  /** What the worker must know to read it. */
  get names(): PageNames {
    const tables = new Map<BatchSymbols, AnnouncedWriter>()
    for (const { table, writer } of this.#batches) if (table !== undefined) tables.set(table, writer)
    const types = new Set(this.#batches.map(({ type }) => type))
    return { types, writers: new Set(this.#batches.map(({ writer }) => writer)), tables }
  }

  /** Whether what it holds came before what another holds. */
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

  /** Separates the batches of some clients: gives what is left, and parts of each of these clients. */
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
   * Moves what waits into memory of its own size, where it would keep much more from being used. Gives the memory that
   * it had when no other part needs that.
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

  /** It is no longer needed. Gives its memory when no other part needs that either. */
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
