import type { Batch, BatchSymbols, RecordType } from '@sonde/sdk'
import {
  BLOCK_HEADER_BYTES,
  dtbBlockBytes,
  encodeEndBlock,
  encodeFileHeader,
  encodeOriginBlock,
  encodeSourceBlock,
  encodeSymbolsBlock,
  encodeTypesBlock,
  fillRecordsBlock,
  type RecordsSource,
  SymbolTable,
  schemaFingerprint,
  sealRecordsBlock,
  symbolOffsets,
  typeEntry,
} from '@sonde/sdk/internal'

/** First symbol that a file must announce. The empty text is never announced. */
const FIRST_ID = 1

/** Records with their source. */
export type EventBatch = Pick<Batch, 'type' | 'bytes' | 'count' | 'symbols'> & {
  readonly source: Pick<Batch['source'], 'id' | 'tag' | 'labels' | 'host'>
}

/** A block of records, and the blocks that must come before it in the file. */
export interface MadeBlock {
  readonly before: readonly Uint8Array[]
  /** The whole block with header and padding; the records begin at `BLOCK_HEADER_BYTES`. */
  readonly block: Uint8Array
}

/**
 * Makes the blocks of an event's file: a DTB file with records of many sources, each under its name. Their symbols are
 * replaced by those of the file's own table, so that `sonde read` reads the file like any other.
 */
export class EventBlocks {
  readonly symbols = new SymbolTable()
  readonly #indexes = new Map<string, number>()
  #told = FIRST_ID
  /** Source of the last block. */
  #origin = ''

  /** The first blocks of the file. */
  beginning(source: RecordsSource, createdMs: number): Uint8Array[] {
    const createdUs = BigInt(Math.round(createdMs * 1000))
    const writerId = BigInt(process.pid)
    const header = encodeFileHeader({ fingerprint: schemaFingerprint([]), createdUs, writerId })
    return [header, encodeTypesBlock([]), encodeSourceBlock({ ...source, hasOrigins: true })]
  }

  /** The last block of the file. */
  end(): Uint8Array {
    return encodeEndBlock()
  }

  /** Copies the records of a batch into a block. */
  of({ type, bytes, count, symbols, source }: EventBatch): MadeBlock {
    const block = new Uint8Array(dtbBlockBytes(bytes.byteLength))
    block.set(bytes, BLOCK_HEADER_BYTES)
    const records = new DataView(block.buffer, BLOCK_HEADER_BYTES, bytes.byteLength)
    rename(records, type, symbols, this.symbols)
    const before = [...this.#newOrigin(source), ...this.#newType(type), ...this.#newSymbols()]
    // Windows are requested by the wall clock, and reported records have its times.
    fillRecordsBlock(block, { type, clock: 'wall', count, symbols })
    sealRecordsBlock(block, this.#indexes.get(type.fingerprint) ?? 0)
    return { before, block }
  }

  /** The file has records of several sources, each under its name. */
  #newOrigin({ id, tag, labels, host = '' }: EventBatch['source']): Uint8Array[] {
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

/** Replaces the symbol ids of one table by those of another. */
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
