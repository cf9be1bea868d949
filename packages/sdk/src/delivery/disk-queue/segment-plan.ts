import { hostname } from 'node:os'
import type { BlockMemory } from '../../disk/block-memory.ts'
import type { FileContents, RecordFile } from '../../disk/record-file.ts'
import type { Batch } from '../../schema/batch.ts'
import { dtbBlockBytes } from '../../wire/dtb/encode.ts'
import { OriginBlocks } from '../../wire/dtb/origin-blocks.ts'
import type { QueueSegment } from './segment.ts'

/** Symbols of one segment at most: those of a reader. */
const SYMBOL_COUNT_LIMIT = 4_000_000
/** Texts, types and sources of one segment: writer and reader keep them in memory. Unit: bytes. */
const ANNOUNCED_BYTES_LIMIT = 1 << 20

/**
 * The content of a segment, which is encoded when batches are appended, before the file exists. Blocks of a plan follow
 * each other in its file, because they refer to texts of earlier blocks.
 */
export class SegmentPlan implements FileContents {
  /** Size of the encoded blocks. Unit: bytes. */
  bytes = 0
  /** The file, and its place in the queue, once it was made. */
  made: { readonly file: RecordFile<SegmentPlan>; readonly segment: QueueSegment } | undefined
  /** Why the file takes no more. */
  failed: unknown
  readonly #blocks: OriginBlocks
  readonly #name: string
  readonly #writerId: bigint
  #announcedBytes = 0
  #beginning: readonly Uint8Array[] = []

  /** @param memory Memory for blocks of records. */
  constructor(name: string, writerId: bigint, memory: BlockMemory) {
    this.#blocks = new OriginBlocks(SYMBOL_COUNT_LIMIT, (bytes) => memory.take(bytes))
    this.#name = name
    this.#writerId = writerId
  }

  /** The first blocks of the file, to be written with its first records. */
  begin(createdUs: number): void {
    const source = { id: this.#name, tag: '', labels: {}, schema: '', host: hostname(), pid: process.pid, version: '' }
    this.#beginning = this.#blocks.beginning(source, BigInt(createdUs), this.#writerId)
  }

  /** Takes {@link begin}'s blocks. */
  takeBeginning(): readonly Uint8Array[] {
    const beginning = this.#beginning
    this.#beginning = []
    return beginning
  }

  /** Whether a batch belongs into this segment. */
  takes({ type, bytes }: Batch, limitBytes: number): boolean {
    if (this.failed !== undefined || !this.#blocks.takes(type) || this.#announcedBytes >= ANNOUNCED_BYTES_LIMIT)
      return false
    return this.bytes === 0 || this.bytes + dtbBlockBytes(bytes.byteLength) <= limitBytes
  }

  /** Encodes a batch: the last block has its records. */
  encode(batch: Batch): readonly Uint8Array[] {
    const { before, block } = this.#blocks.of(batch)
    const announcedBytes = before.reduce((sum, { byteLength }) => sum + byteLength, 0)
    this.#announcedBytes += announcedBytes
    this.bytes += announcedBytes + block.byteLength
    return [...before, block]
  }
}
