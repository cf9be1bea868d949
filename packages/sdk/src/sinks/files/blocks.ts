import { BlockMemory } from '../../disk/block-memory.ts'
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

/** Memory that is kept for the next block: what a fast client of the service has under way. Unit: bytes. */
const KEPT_BYTES_LIMIT = 16 << 20

/** Copies batches into blocks, whose memory is used again. */
export class Blocks {
  readonly #memory = new BlockMemory(KEPT_BYTES_LIMIT)
  readonly #texts = new KeptTexts()

  /** The one copy of a batch. */
  entryOf(batch: FiledBatch, counted: number = batch.count): BlockEntry {
    const { type, source, clock, count, bytes, symbols, page, checksum } = batch
    const block = this.#memory.take(dtbBlockBytes(bytes.byteLength))
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
    this.#memory.release(block)
  }
}
