import { symbolOffsets } from '../../link/symbol-offsets.ts'
import type { Batch } from '../../schema/batch.ts'
import type { RecordType } from '../../schema/record-type.ts'
import { SymbolTable } from '../../schema/symbols.ts'
import type { BatchSymbols } from '../../schema/texts.ts'
import {
  dtbBlockBytes,
  encodeEndBlock,
  encodeFileHeader,
  encodeOriginBlock,
  encodeSourceBlock,
  encodeSymbolsBlock,
  encodeTypesBlock,
  fillRecordsBlock,
  schemaFingerprint,
  sealRecordsBlock,
  typeEntry,
} from './encode.ts'
import { BLOCK_HEADER_BYTES, DTB_LIMITS, type SourceEntry } from './format.ts'

/** First symbol that a file must announce. The empty text is never announced. */
const FIRST_ID = 1
/** Ids of a source from here on are not cached: bytes of strangers may hold any id. */
const CACHED_ID_END = 1 << 16

/** Records with their source. */
export type OriginBatch = Pick<Batch, 'type' | 'bytes' | 'count' | 'symbols'> & {
  /** Default: `wall`. */
  readonly clock?: Batch['clock']
  readonly page?: Batch['page'] | undefined
  readonly source: Pick<Batch['source'], 'id' | 'tag' | 'labels' | 'host'>
}

/** A block of records, and the blocks that must come before it in the file. */
export interface MadeBlock {
  readonly before: readonly Uint8Array[]
  /** The whole block with header and padding; the records begin at `BLOCK_HEADER_BYTES`. */
  readonly block: Uint8Array
}

/**
 * Makes the blocks of a file with records of many sources, each under its name. Their symbols are replaced by those of
 * the file's own table, so that `sonde read` reads the file like any other. Pure.
 */
export class OriginBlocks {
  readonly symbols: SymbolTable
  readonly #indexes = new Map<string, number>()
  readonly #origins = new Set<string>()
  /** Ids of the file by those of a source, for each table of texts. */
  #renamed = new WeakMap<BatchSymbols, number[]>()
  #announced = FIRST_ID
  /** Source of the last block, and its entry as text. */
  #source: OriginBatch['source'] | undefined
  #origin = ''

  readonly #take: (bytes: number) => Uint8Array<ArrayBuffer>

  /**
   * @param symbolCountLimit See {@link SymbolTable}. Default: 65 536; further texts become `…`.
   * @param take Memory for a block, of a number of bytes, with any content. Default: fresh memory.
   */
  constructor(symbolCountLimit?: number, take: (bytes: number) => Uint8Array<ArrayBuffer> = freshMemory) {
    this.symbols = new SymbolTable(symbolCountLimit)
    this.#take = take
  }

  /** The first blocks of the file. */
  beginning(source: SourceEntry, createdUs: bigint, writerId: bigint): Uint8Array[] {
    const header = encodeFileHeader({ fingerprint: schemaFingerprint([]), createdUs, writerId })
    return [header, encodeTypesBlock([]), encodeSourceBlock({ ...source, hasOrigins: true })]
  }

  /** The last block of the file. */
  end(): Uint8Array {
    return encodeEndBlock()
  }

  /** Whether the file can take records of a type, as far as readers limit types and sources. */
  takes({ fingerprint }: Pick<RecordType, 'fingerprint'>): boolean {
    const hasType = this.#indexes.has(fingerprint) || this.#indexes.size < DTB_LIMITS.typeCount
    return hasType && this.#origins.size < DTB_LIMITS.originCount
  }

  /** Copies the records of a batch into a block. */
  of({ type, bytes, count, symbols, source, clock = 'wall', page }: OriginBatch): MadeBlock {
    // Every byte is written below.
    const block = this.#take(dtbBlockBytes(bytes.byteLength))
    block.set(bytes, BLOCK_HEADER_BYTES)
    this.#rename(new DataView(block.buffer, BLOCK_HEADER_BYTES, bytes.byteLength), type, symbols)
    const before = [...this.#newOrigin(source), ...this.#newType(type), ...this.#newSymbols()]
    fillRecordsBlock(block, { type, clock, count, symbols, ...(page === undefined ? {} : { page }) })
    sealRecordsBlock(block, this.#indexes.get(type.fingerprint) ?? 0)
    return { before, block }
  }

  #newOrigin(source: OriginBatch['source']): Uint8Array[] {
    if (source === this.#source) return []
    this.#source = source
    const { id, tag, labels, host = '' } = source
    const entry = { id, tag, labels, schema: '', host, pid: 0, version: '' }
    const text = JSON.stringify(entry)
    if (text === this.#origin) return []
    this.#origin = text
    this.#origins.add(text)
    return [encodeOriginBlock(entry)]
  }

  #newType(type: RecordType): Uint8Array[] {
    if (this.#indexes.has(type.fingerprint)) return []
    const index = this.#indexes.size
    this.#indexes.set(type.fingerprint, index)
    return [encodeTypesBlock([typeEntry(type, index)])]
  }

  #newSymbols(): Uint8Array[] {
    const texts = this.symbols.since(this.#announced)
    if (texts.length === 0) return []
    const block = encodeSymbolsBlock(this.#announced, texts)
    this.#announced += texts.length
    return [block]
  }

  /** Replaces the symbol ids of a source by those of the file. */
  #rename(data: DataView, type: RecordType, from: BatchSymbols): void {
    const { offsets } = symbolOffsets(type)
    if (offsets.length === 0) return
    let known = this.#renamed.get(from)
    if (known === undefined) {
      known = [0]
      this.#renamed.set(from, known)
    }
    const { recordBytes } = type.layout
    const { firstTextId } = from
    for (const offset of offsets) {
      for (let at = offset; at < data.byteLength; at += recordBytes) {
        const id = data.getUint32(at, true)
        // Even places are labels, odd places are texts.
        const place = id < firstTextId ? 2 * id : 2 * (id - firstTextId) + 1
        let own = place < CACHED_ID_END ? known[place] : undefined
        if (own === undefined) {
          own = this.symbols.id(from.text(id))
          if (place < CACHED_ID_END) known[place] = own
        }
        data.setUint32(at, own, true)
      }
    }
  }
}

function freshMemory(bytes: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.allocUnsafeSlow(bytes).buffer)
}
