import { type Batch, type BatchSymbols, type RecordType, SymbolTable } from '@sonde/sdk'
import {
  BLOCK_HEADER_BYTES,
  blockBytes,
  encodeEndBlock,
  encodeFileHeader,
  encodeSourceBlock,
  encodeSymbolsBlock,
  encodeTypesBlock,
  fillRecordsBlock,
  type RecordsSource,
  schemaFingerprint,
  sealRecordsBlock,
  symbolPlaces,
  typeEntry,
} from '@sonde/sdk/internal'

/** Id of the first symbol that a file must be told: the empty text needs no telling. */
const FIRST_ID = 1

/** A block of records, and what must precede it in the file. */
export interface MadeBlock {
  readonly before: readonly Uint8Array[]
  /** Whole, header and padding included; the records begin at `BLOCK_HEADER_BYTES`. */
  readonly block: Uint8Array
}

/**
 * Makes the blocks of the file of one event: a DTB file of one source, with records of many. Their labels become those
 * of a table of the file's own, so that `sonde read` reads it as any other.
 */
export class EventBlocks {
  readonly symbols = new SymbolTable()
  readonly #indexes = new Map<string, number>()
  #told = FIRST_ID

  /** What the file begins with. */
  beginning(source: RecordsSource, createdMs: number): Uint8Array[] {
    const createdUs = BigInt(Math.round(createdMs * 1000))
    const writerId = BigInt(process.pid)
    const header = encodeFileHeader({ fingerprint: schemaFingerprint([]), createdUs, writerId })
    return [header, encodeTypesBlock([]), encodeSourceBlock(source)]
  }

  /** What the file ends with. */
  end(): Uint8Array {
    return encodeEndBlock()
  }

  /** Copies the records of a batch into a block. */
  of({ type, bytes, count, symbols }: Pick<Batch, 'type' | 'bytes' | 'count' | 'symbols'>): MadeBlock {
    const block = new Uint8Array(blockBytes(bytes.byteLength))
    block.set(bytes, BLOCK_HEADER_BYTES)
    const records = new DataView(block.buffer, BLOCK_HEADER_BYTES, bytes.byteLength)
    rename(records, type, symbols, this.symbols)
    const before = [...this.#newType(type), ...this.#newSymbols()]
    // The wall clock: windows are asked for by it, and what is reported has it.
    fillRecordsBlock(block, { type, clock: 'wall', count, symbols })
    sealRecordsBlock(block, this.#indexes.get(type.fingerprint) ?? 0)
    return { before, block }
  }

  #newType(type: RecordType): Uint8Array[] {
    if (this.#indexes.has(type.fingerprint)) return []
    const index = this.#indexes.size
    this.#indexes.set(type.fingerprint, index)
    return [encodeTypesBlock([typeEntry(type, index)])]
  }

  #newSymbols(): Uint8Array[] {
    const texts = this.symbols.since(this.#told)
    if (texts.length === 0) return []
    const block = encodeSymbolsBlock(this.#told, texts)
    this.#told += texts.length
    return [block]
  }
}

/** Puts ids of one table in place of those of another. */
function rename(data: DataView, type: RecordType, from: BatchSymbols, to: SymbolTable): void {
  const ids = new Map<number, number>([[0, 0]])
  for (const offset of symbolPlaces(type).offsets) {
    for (let at = offset; at < data.byteLength; at += type.layout.recordBytes) {
      const id = data.getUint32(at, true)
      let own = ids.get(id)
      if (own === undefined) {
        own = to.id(from.text(id))
        ids.set(id, own)
      }
      data.setUint32(at, own, true)
    }
  }
}
