import type { Batch } from '../../schema/batch.ts'
import { KeptTexts } from '../../schema/texts.ts'
import { timeSpanOfBatch } from '../../schema/time-span.ts'
import { dtbBlockBytes, fillRecordsBlock } from '../../wire/dtb/encode.ts'
import { BLOCK_HEADER_BYTES } from '../../wire/dtb/format.ts'

/** The parts of a batch that files keep. */
type FiledBatch = Omit<Batch, 'origin' | 'arrivedMs'>

/** A batch that waits to be written: its block is complete except for the index of the type. */
export interface BlockEntry extends Omit<FiledBatch, 'bytes'> {
  readonly block: Uint8Array
  /** Records that it counts in the statistics; 0 if it is about the sink itself. */
  readonly counted: number
  /** Memory of the texts that came with it. Unit: bytes. */
  readonly textBytes: number
}

const SMALLEST_BYTES = 1024
const LARGEST_BYTES = 1 << 20
/** Memory that is kept for the next block: what a fast client of the service has under way. Unit: bytes. */
const KEPT_BYTES_LIMIT = 16 << 20

/**
 * Copies batches into blocks. Memory of blocks that were written is used again, since fresh memory costs more than the
 * copy.
 */
export class Blocks {
  readonly #free = new Map<number, ArrayBuffer[]>()
  readonly #texts = new KeptTexts()
  #keptBytes = 0

  /** The one copy of a batch. */
  entryOf(batch: FiledBatch, counted: number = batch.count): BlockEntry {
    const { type, source, clock, count, bytes, symbols, page, checksum } = batch
    const block = this.#take(dtbBlockBytes(bytes.byteLength))
    block.set(bytes, BLOCK_HEADER_BYTES)
    const textBytes = this.#texts.bytesOf(batch)
    const entry: BlockEntry = {
      type,
      source,
      clock,
      count,
      block,
      symbols,
      counted,
      textBytes,
      ...(page !== undefined && { page }),
    }
    // Here, and not when it is written: the processor works while the disk does, and has the records at hand.
    const crc = checksum?.bytes === bytes ? checksum.crc32 : undefined
    fillRecordsBlock(block, entry, { crc, timeSpan: timeSpanOfBatch(batch) })
    return entry
  }

  /** Takes the memory of a block back, whose entry must not be used any more. */
  release({ block }: BlockEntry): void {
    const size = block.buffer.byteLength
    if (size > LARGEST_BYTES || this.#keptBytes + size > KEPT_BYTES_LIMIT) return
    const free = this.#free.get(size)
    if (free === undefined) this.#free.set(size, [block.buffer as ArrayBuffer])
    else free.push(block.buffer as ArrayBuffer)
    this.#keptBytes += size
  }

  #take(bytes: number): Uint8Array {
    if (bytes > LARGEST_BYTES) return new Uint8Array(bytes)
    const size = sizeFor(bytes)
    const kept = this.#free.get(size)?.pop()
    if (kept === undefined) return new Uint8Array(new ArrayBuffer(size), 0, bytes)
    this.#keptBytes -= size
    return new Uint8Array(kept, 0, bytes)
  }
}

/** Few sizes, so that memory is found again: powers of two and the middle between them. */
function sizeFor(bytes: number): number {
  let size = SMALLEST_BYTES
  while (size < bytes) size *= 2
  return bytes <= size * 0.75 && size > SMALLEST_BYTES ? size * 0.75 : size
}
