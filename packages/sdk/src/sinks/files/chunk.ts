import { END_BLOCK } from '../../disk/record-file.ts'
import type { BlockEntry } from './blocks.ts'
import type { SourceFile } from './contents.ts'

/** Large enough that the call costs little, small enough that a turn is short. Unit: bytes. */
const BYTES_LIMIT = 4 << 20
/** Blocks that the system takes with one call. */
const BLOCK_COUNT_LIMIT = 512

/** Blocks that are written to a file with one call. */
export class Chunk {
  readonly file: SourceFile
  readonly blocks: Uint8Array[] = []
  bytes = 0
  endsFile = false
  /** The entry that a block is; undefined for types and texts. */
  readonly #entries: (BlockEntry | undefined)[] = []

  constructor(file: SourceFile) {
    this.file = file
  }

  get isFull(): boolean {
    return this.bytes >= BYTES_LIMIT || this.blocks.length >= BLOCK_COUNT_LIMIT
  }

  /** The file is closed after this. */
  end(): void {
    this.push(END_BLOCK)
    this.endsFile = true
  }

  push(block: Uint8Array, entry?: BlockEntry): void {
    this.blocks.push(block)
    this.#entries.push(entry)
    this.bytes += block.byteLength
  }

  /** The entries among some of the blocks. */
  entries(from: number, to?: number): BlockEntry[] {
    return this.#entries.slice(from, to).filter((entry) => entry !== undefined)
  }
}
