import type { RecordFile } from '../../disk/record-file.ts'
import { UsedTextsWriter } from '../../link/used-texts-writer.ts'
import type { SourceInfo } from '../../schema/batch.ts'
import type { RecordType } from '../../schema/record-type.ts'
import {
  encodeFileHeader,
  encodeSourceBlock,
  encodeSymbolsBlock,
  encodeTextsBlock,
  encodeTypesBlock,
  sealRecordsBlock,
  typeEntry,
} from '../../wire/dtb/encode.ts'
import { BLOCK_HEADER_BYTES, DTB_LIMITS, type SourceEntry, WRITER_SYMBOL_ID } from '../../wire/dtb/format.ts'
import type { BlockEntry } from './blocks.ts'
import type { TypeSet } from './type-sets.ts'

/** A file of the records of one source. */
export type SourceFile = RecordFile<Contents>

/** Texts of the sink's own, such as the reasons of losses. */
export interface OwnTexts {
  readonly texts: readonly string[]
}

/**
 * The announced content of a file: types by index, symbols, and the client whose pages it holds. Updated block by
 * block, in the order of writing.
 */
export class Contents {
  /** The types it begins with. */
  readonly typeSet: TypeSet
  /** 0n where it holds no pages. */
  readonly client: bigint
  readonly #symbols: UsedTextsWriter
  readonly #own: OwnTexts
  readonly #entry: SourceEntry
  readonly #writerId: bigint
  readonly #indexes = new Map<string, number>()
  #ownTold = 0
  #beginning: Uint8Array[] = []

  constructor(options: {
    readonly source: SourceInfo
    readonly typeSet: TypeSet
    readonly client: bigint
    readonly own: OwnTexts
    readonly writerId: bigint
    readonly entry: Omit<SourceEntry, 'id' | 'tag' | 'labels' | 'client'>
  }) {
    const { source, typeSet, client, own, writerId, entry } = options
    const { id, tag, labels } = source
    this.typeSet = typeSet
    this.client = client
    this.#symbols = new UsedTextsWriter(0, source.symbols)
    this.#own = own
    this.#writerId = writerId
    const pages = client === 0n ? {} : { client: client.toString(16).padStart(16, '0') }
    this.#entry = { id, tag, labels, ...entry, ...pages }
    for (const type of typeSet.types) this.#indexes.set(type.fingerprint, this.#indexes.size)
  }

  /** The file is there, and nothing in it: header, types and source precede its first records. */
  begin(createdUs: number): void {
    const { fingerprint, block } = this.typeSet
    const header = encodeFileHeader({ fingerprint, createdUs: BigInt(createdUs), writerId: this.#writerId })
    this.#beginning = [header, block, encodeSourceBlock(this.#entry)]
  }

  /** Whether the file can take records of the type: it has it, or room for one more. */
  takes(type: RecordType): boolean {
    return this.#indexes.has(type.fingerprint) || this.#indexes.size < DTB_LIMITS.typeCount
  }

  /**
   * The blocks that must precede an entry: the head of the file, new types and texts. They count as written.
   */
  before(entry: BlockEntry): Uint8Array[] {
    const { type, counted } = entry
    const blocks = this.#beginning
    this.#beginning = []
    if (!this.#indexes.has(type.fingerprint)) {
      blocks.push(encodeTypesBlock([typeEntry(type, this.#indexes.size)]))
      this.#indexes.set(type.fingerprint, this.#indexes.size)
    }
    if (counted === 0) {
      const { texts } = this.#own
      if (texts.length > this.#ownTold) {
        blocks.push(encodeSymbolsBlock(WRITER_SYMBOL_ID + this.#ownTold, texts.slice(this.#ownTold)))
        this.#ownTold = texts.length
      }
    } else {
      const { symbols, count, block: bytes } = entry
      this.#symbols.announce({ type, symbols, count, bytes, offset: BLOCK_HEADER_BYTES }, ({ firstId, texts }) => {
        blocks.push(texts.length === 0 ? encodeTextsBlock(firstId) : encodeSymbolsBlock(firstId, texts))
      })
    }
    return blocks
  }

  /** Whether the file has half of the text that a reader keeps; the sink needs the rest for its own texts. */
  get hasTooMuchText(): boolean {
    return this.#symbols.characters > DTB_LIMITS.symbolCharacters / 2
  }

  /** Makes the block of an entry whole. */
  seal(entry: BlockEntry): Uint8Array {
    sealRecordsBlock(entry.block, this.#indexes.get(entry.type.fingerprint) ?? 0)
    return entry.block
  }
}
