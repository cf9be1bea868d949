import { type Batch, type BatchSymbols, type RecordType, SymbolTable } from '@sonde/sdk'
import {
  BLOCK_HEADER_BYTES,
  blockBytes,
  encodeEndBlock,
  encodeFileHeader,
  encodeOriginBlock,
  encodeSourceBlock,
  encodeSymbolsBlock,
  encodeTypesBlock,
  fillRecordsBlock,
  type RecordsSource,
  schemaFingerprint,
  sealRecordsBlock,
  symbolOffsets,
  typeEntry,
} from '@sonde/sdk/internal'

/** Id of the first symbol that a file must be told: the empty text needs no telling. */
const FIRST_ID = 1

/** Records that are kept, and whose they are. */
export type KeptBatch = Pick<Batch, 'type' | 'bytes' | 'count' | 'symbols'> & {
  readonly source: Pick<Batch['source'], 'id' | 'tag' | 'labels' | 'host'>
}

/** A block of records, and what must precede it in the file. */
export interface MadeBlock {
  readonly before: readonly Uint8Array[]
  /** Whole, header and padding included; the records begin at `BLOCK_HEADER_BYTES`. */
  readonly block: Uint8Array
}

/**
 * Makes the blocks of the file of one event: a DTB file with records of many sources, each of which
 * keeps its name. Their labels become those of a table of the file's own, so that `sonde read` reads it as any other.
 */
export class EventBlocks {
  readonly symbols = new SymbolTable()
  readonly #indexes = new Map<string, number>()
  #told = FIRST_ID
  /** Whose records the last block was of. */
  #origin = ''

  /** What the file begins with. */
  beginning(source: RecordsSource, createdMs: number): Uint8Array[] {
    const createdUs = BigInt(Math.round(createdMs * 1000))
    const writerId = BigInt(process.pid)
    const header = encodeFileHeader({ fingerprint: schemaFingerprint([]), createdUs, writerId })
    return [header, encodeTypesBlock([]), encodeSourceBlock({ ...source, hasOrigins: true })]
  }

  /** What the file ends with. */
  end(): Uint8Array {
    return encodeEndBlock()
  }

  /** Copies the records of a batch into a block. */
  of({ type, bytes, count, symbols, source }: KeptBatch): MadeBlock {
    const block = new Uint8Array(blockBytes(bytes.byteLength))
    block.set(bytes, BLOCK_HEADER_BYTES)
    const records = new DataView(block.buffer, BLOCK_HEADER_BYTES, bytes.byteLength)
    rename(records, type, symbols, this.symbols)
    const before = [...this.#newOrigin(source), ...this.#newType(type), ...this.#newSymbols()]
    // The wall clock: windows are asked for by it, and what is reported has it.
    fillRecordsBlock(block, { type, clock: 'wall', count, symbols })
    sealRecordsBlock(block, this.#indexes.get(type.fingerprint) ?? 0)
    return { before, block }
  }

  /** Records of several sources are in the file: each keeps the name of its own. */
  #newOrigin({ id, tag, labels, host = '' }: KeptBatch['source']): Uint8Array[] {
    const entry = { id, tag, labels, schema: '', host, pid: 0, version: '' }
    const text = JSON.stringify(entry)
    if (text === this.#origin) return []
    this.#origin = text
    return [encodeOriginBlock(entry)]
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
  for (const offset of symbolOffsets(type).offsets) {
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
