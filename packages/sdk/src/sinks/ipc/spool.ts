import { crc32 } from '../../internal/crc32.ts'
import type { Batch } from '../../schema/batch.ts'
import { KeptTexts } from '../../schema/texts.ts'
import { FRAME_HEADER_BYTES, PAGE_HEADER_BYTES } from '../../wire/ipc/frame.ts'
import { Blocks, blockBytes } from './blocks.ts'

/** Room for what precedes the records in the frame of a page. */
export const HEADROOM_BYTES = FRAME_HEADER_BYTES + PAGE_HEADER_BYTES

/** Memory that is kept for the next page once nothing is under way. Unit: bytes. */
const KEPT_BYTES = 8 << 20

/** What a page takes beside its block: objects, its place in the list. */
const PAGE_OVERHEAD_BYTES = 256

/** A page that is not acknowledged. */
export interface SpooledPage extends Pick<Batch, 'type' | 'source' | 'clock' | 'count' | 'symbols' | 'bytes'> {
  readonly sequence: number
  /** Records as the accounts of the sink count them: 0 for what it says of itself. */
  readonly countedRecords: number
  /** Room for the header, then the records. */
  readonly block: Buffer
  /** Length of the records. */
  readonly byteLength: number
  readonly crc: number
  /** Memory of the texts that came with it. Unit: bytes. */
  readonly textBytes: number
  /** Sockets that have the block, which must not change until they have taken it. */
  writes: number
}

/**
 * The pages of a client that are not acknowledged, in order. Their number in it is the sequence of a page, which rises
 * by one from 1.
 */
export class Spool {
  /** Bytes of all pages, as the limit counts them. */
  bytes = 0
  /** Records of all pages, as accounts count them. */
  records = 0
  /** Sequence of the oldest page; `next` if there is none. */
  first = 1
  /** Sequence of the newest page that was ever sent. */
  sent = 0
  readonly #pages: (SpooledPage | undefined)[] = []
  /** Where the oldest page is: taking from the front of an array is slow, so it is done many at once. */
  #head = 0
  readonly #blocks: Blocks
  readonly #texts = new KeptTexts()

  /** @param limitBytes What all pages may take, as the sink sees to it. */
  constructor(limitBytes: number) {
    this.#blocks = new Blocks(Math.max(KEPT_BYTES, limitBytes))
  }

  /** Sequence of the next page. */
  get next(): number {
    return this.first + this.#pages.length - this.#head
  }

  /** Copies a batch to the end. */
  add(batch: Batch, { countedRecords }: { readonly countedRecords: number }): void {
    const { type, source, clock, count, symbols } = batch
    const { byteLength } = batch.bytes
    const block = this.#blocks.take(HEADROOM_BYTES + byteLength)
    block.set(batch.bytes, HEADROOM_BYTES)
    const bytes = block.subarray(HEADROOM_BYTES, HEADROOM_BYTES + byteLength)
    const crc = crc32(bytes)
    const textBytes = this.#texts.bytesOf(batch)
    const batched = { type, source, clock, count, symbols, bytes }
    const page = { ...batched, block, byteLength, crc, textBytes, countedRecords, writes: 0 }
    this.bytes += block.length + PAGE_OVERHEAD_BYTES + textBytes
    this.records += countedRecords
    this.#pages.push({ ...page, sequence: this.next })
  }

  /** The page of a sequence; undefined if it is not there any more. */
  get(sequence: number): SpooledPage | undefined {
    return sequence < this.first ? undefined : this.#pages[this.#head + sequence - this.first]
  }

  /** Takes the oldest page away; gives its counted records. */
  shift(): number {
    const page = this.#pages[this.#head]
    return page === undefined ? 0 : this.remove(page)
  }

  /**
   * Removes a page, acknowledged or not; the numbers of other pages do not change. Returns its counted records.
   */
  remove(page: SpooledPage): number {
    this.#pages[this.#head + page.sequence - this.first] = undefined
    while (this.#head < this.#pages.length && this.#pages[this.#head] === undefined) {
      this.#head++
      this.first++
    }
    if (this.#head >= 1024 && this.#head * 2 >= this.#pages.length) {
      this.#pages.splice(0, this.#head)
      this.#head = 0
    }
    return this.#release(page)
  }

  #release({ block, textBytes, countedRecords, writes }: SpooledPage): number {
    this.bytes -= block.length + PAGE_OVERHEAD_BYTES + textBytes
    this.records -= countedRecords
    this.#blocks.give(block, writes > 0)
    if (this.bytes === 0) this.#blocks.trim(KEPT_BYTES)
    return countedRecords
  }
}

/** Memory of a batch in the spool. Unit: bytes. */
export function spooledBytes({ bytes }: Pick<Batch, 'bytes'>): number {
  return blockBytes(HEADROOM_BYTES + bytes.byteLength) + PAGE_OVERHEAD_BYTES
}
