import type { Batch } from '@sonde/sdk'
import { BLOCK_HEADER_BYTES, type RecordsSource } from '@sonde/sdk/internal'
import type { EventDisk, EventDiskFile } from './disk.ts'
import { EventBlocks } from './event-blocks.ts'
import type { KeptBlock } from './kept-index.ts'
import type { Part, SeriesBook } from './series-book.ts'

/** What an {@link EventFile} is made with. */
export interface EventFileOptions {
  readonly disk: EventDisk
  /** Where it is written; whoever finishes it renames it. */
  readonly path: string
  readonly source: RecordsSource
  readonly createdMs: number
  readonly book: SeriesBook
  /** Called before the file is made: sees that the folder is there, and nobody else's. */
  readonly ready: () => Promise<void>
}

/** The file of samples of one event, while it is written. */
export class EventFile {
  /** Written so far, whole blocks. Unit: bytes. */
  bytes = 0
  /** Records written. */
  records = 0
  readonly blocks: KeptBlock[] = []
  readonly #options: EventFileOptions
  readonly #made = new EventBlocks()
  #file: EventDiskFile | undefined
  #isEnded = false

  constructor(options: EventFileOptions) {
    this.#options = options
  }

  /**
   * Appends the records of a batch. The file is made with the first.
   *
   * @throws what the system says; whole blocks are left.
   */
  async append(part: Part, batch: Pick<Batch, 'type' | 'bytes' | 'count' | 'symbols'>): Promise<void> {
    if (batch.count === 0) return
    const { disk, path, source, createdMs, book, ready } = this.#options
    if (this.#file === undefined) {
      await ready()
      this.#file = await disk.create(path)
      await this.#write(this.#made.beginning(source, createdMs))
    }
    const { before, block } = this.#made.of(batch)
    await this.#write(before)
    const at = this.bytes
    await this.#write([block])
    const records = block.subarray(BLOCK_HEADER_BYTES, BLOCK_HEADER_BYTES + batch.bytes.byteLength)
    const { fromNs, toNs } = book.take(part, records, batch.count, this.#made.symbols)
    this.blocks.push([part.index, at, this.bytes - at, batch.count, String(fromNs), String(toNs)])
    this.records += batch.count
  }

  /**
   * Ends it, and has the disk take it. May be called again where it failed.
   *
   * @throws what the system says.
   */
  async finish(): Promise<void> {
    if (this.#file === undefined) return
    if (!this.#isEnded) await this.#write([this.#made.end()])
    this.#isEnded = true
    await this.#file.sync()
    await this.close()
  }

  /** Closes the descriptor. May be called twice. */
  async close(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    await file?.close()
  }

  /** Size of the file once it is finished; 0 where nothing was written. Unit: bytes. */
  get finalBytes(): number {
    return this.bytes === 0 || this.#isEnded ? this.bytes : this.bytes + this.#made.end().byteLength
  }

  /** Whether its descriptor is open: something was written, and it is not finished. */
  get isOpen(): boolean {
    return this.#file !== undefined
  }

  async #write(blocks: readonly Uint8Array[]): Promise<void> {
    for (const block of blocks) {
      try {
        await this.#file?.write(block, this.bytes)
      } catch (error) {
        // Nobody knows how much was written: what is behind the last whole block goes.
        await this.#file?.truncate(this.bytes).catch(() => undefined)
        throw error
      }
      this.bytes += block.byteLength
    }
  }
}
