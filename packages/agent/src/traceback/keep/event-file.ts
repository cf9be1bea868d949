import {
  BLOCK_HEADER_BYTES,
  encodeReservedBlock,
  type OriginBatch,
  OriginBlocks,
  type RecordsSource,
} from '@sonde/sdk/internal'
import type { EventDisk, EventDiskFile } from './disk.ts'
import type { EventHead, HeadEnd } from './event-head.ts'
import type { KeptBlock } from './kept-index.ts'
import type { SeriesBook, SeriesPart } from './series-book.ts'

/** Options of an {@link EventFile}. */
export interface EventFileOptions {
  readonly disk: EventDisk
  /** Path while it is written. The caller renames the finished file. */
  readonly path: string
  readonly source: RecordsSource
  readonly createdMs: number
  readonly book: SeriesBook
  /** Records about the event itself. Default: none. */
  readonly head?: EventHead
  /** Called before the file is created: makes sure that the folder exists and is locked. */
  readonly ready: () => Promise<void>
}

/** The file of samples of one event, while it is written. */
export class EventFile {
  /** Size of the whole blocks so far. Unit: bytes. */
  bytes = 0
  /** Records written. */
  records = 0
  readonly blocks: KeptBlock[] = []
  readonly #options: EventFileOptions
  readonly #made = new OriginBlocks()
  /** End of the event; set before the file is finished. */
  end: HeadEnd | undefined
  /** Offsets of the event's record and of the reserved space for its end. Unit: bytes. */
  #eventAt = 0
  #endAt = 0
  #file: EventDiskFile | undefined
  #isEnded = false

  constructor(options: EventFileOptions) {
    this.#options = options
  }

  /**
   * Appends the records of a batch. The first call creates the file.
   * @throws a system error; whole blocks are kept.
   */
  async append(part: SeriesPart, batch: OriginBatch): Promise<void> {
    if (batch.count === 0) return
    const { disk, path, source, createdMs, book, ready } = this.#options
    if (this.#file === undefined) {
      await ready()
      this.#file = await disk.create(path)
      const createdUs = BigInt(Math.round(createdMs * 1000))
      await this.#write(this.#made.beginning(source, createdUs, BigInt(process.pid)))
      await this.#beginHead()
    }
    // Windows are requested by the wall clock, and an event has no pages.
    const { before, block } = this.#made.of({ ...batch, clock: 'wall', page: undefined })
    await this.#write(before)
    const at = this.bytes
    await this.#write([block])
    const records = block.subarray(BLOCK_HEADER_BYTES, BLOCK_HEADER_BYTES + batch.bytes.byteLength)
    const { fromNs, toNs } = book.take(part, records, batch.count, this.#made.symbols)
    this.blocks.push([part.index, at, this.bytes - at, batch.count, String(fromNs), String(toNs)])
    this.records += batch.count
  }

  /**
   * Ends the file and syncs it to disk. May be called again after a failure.
   * @throws a system error.
   */
  async finish(): Promise<void> {
    if (this.#file === undefined) return
    if (!this.#isEnded) await this.#write([this.#made.end()])
    this.#isEnded = true
    await this.#endHead()
    await this.#file.sync()
    await this.close()
  }

  /** Closes the descriptor. May be called twice. */
  async close(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    await file?.close()
  }

  /** Size of the finished file; 0 if nothing was written. Unit: bytes. */
  get finalBytes(): number {
    return this.bytes === 0 || this.#isEnded ? this.bytes : this.bytes + this.#made.end().byteLength
  }

  /** Whether its descriptor is open: something was written, and the file is not finished. */
  get isOpen(): boolean {
    return this.#file !== undefined
  }

  /** Writes the event, its start, and reserved space for its end, so that the file begins with its subject. */
  async #beginHead(): Promise<void> {
    const { head } = this.#options
    if (head === undefined) return
    // Symbols are announced now, so that the end of the event changes only these blocks.
    for (const batch of head.texts()) await this.#write(this.#made.of(batch).before)
    this.#eventAt = this.bytes
    const [event, opened] = [this.#made.of(head.event()).block, this.#made.of(head.mark()).block]
    await this.#write([event, opened])
    this.#endAt = this.bytes
    await this.#write([encodeReservedBlock(opened.byteLength)])
  }

  async #endHead(): Promise<void> {
    const { head } = this.#options
    const { end } = this
    if (head === undefined || end === undefined) return
    await this.#file?.write(this.#made.of(head.event(end)).block, this.#eventAt)
    await this.#file?.write(this.#made.of(head.mark(end)).block, this.#endAt)
  }

  async #write(blocks: readonly Uint8Array[]): Promise<void> {
    for (const block of blocks) {
      try {
        await this.#file?.write(block, this.bytes)
      } catch (error) {
        // It is unknown how much was written, so the file is cut after the last whole block.
        await this.#file?.truncate(this.bytes).catch(() => undefined)
        throw error
      }
      this.bytes += block.byteLength
    }
  }
}
