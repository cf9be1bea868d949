import { SondeError } from '../../errors.ts'
import { UsedTexts } from '../../link/used-texts.ts'
import type { Batch, SourceInfo } from '../../schema/batch.ts'
import type { RecordType } from '../../schema/record-type.ts'
import {
  type DtbBlockHeader,
  type DtbFileHeader,
  decodeBlockHeader,
  decodeFileHeader,
  paddedBytes,
  truncated,
} from './decode-header.ts'
import { decodeSource, decodeSymbols, decodeTexts, decodeTypes, unpackPayload } from './decode-payload.ts'
import { findBlock } from './find-block.ts'
import {
  BLOCK_HEADER_BYTES,
  BLOCK_TYPE,
  DTB_LIMITS,
  FILE_HEADER_BYTES,
  type SourceEntry,
  WRITER_SYMBOL_ID,
} from './format.ts'

/** The bytes of a file, wherever they are. */
export interface DtbInput {
  /** How many there are; may grow. */
  readonly bytes: number
  /** Bytes from a place on, fewer than asked for only if the file ends. Valid until the next call. */
  read(at: number, bytes: number): Uint8Array
}

/** Options of {@link DtbDecoder}. */
export interface DtbDecoderOptions {
  /** Whether to go on behind what does not hold. Default: false, it stops there. */
  readonly salvage?: boolean
  /**
   * The types that files of a schema begin with, in the order of their indexes; undefined if they cannot be had.
   * Asked with `salvage` if the first block, which says so itself, does not hold. Default: they cannot.
   */
  readonly typesOf?: (fingerprint: string) => readonly RecordType[] | undefined
  /**
   * Selects blocks of records; other blocks are skipped without a check of their checksum. Default: all blocks.
   */
  readonly wants?: (header: DtbBlockHeader, type: RecordType) => boolean
}

/** How a file ended, as far as it was read. */
export interface DtbEnd {
  /**
   * `ended`: its writer closed it. `open`: after a whole block; it is being written, or its writer did not close it.
   * `truncated`: within a block, whose writer was killed or is about to write the rest. `damaged`: something else does
   * not hold.
   */
  readonly state: 'ended' | 'open' | 'truncated' | 'damaged'
  /** Where the first block begins that was not read; all before it holds. Unit: bytes. */
  readonly at: number
  /** Bytes from there to the end of the file. */
  readonly ignoredBytes: number
  /** What does not hold, where `state` is `truncated` or `damaged`. */
  readonly fault?: SondeError
}

/** What {@link DtbDecoder.next} came upon. `at` is where the block begins. Unit: bytes. */
export type DtbStep =
  /** Records. Their bytes are valid until the next step. */
  | { readonly kind: 'records'; readonly at: number; readonly header: DtbBlockHeader; readonly batch: Batch }
  /** A block of anything else, of records that are not wanted, or of a type of block that a later version added. */
  | { readonly kind: 'block'; readonly at: number; readonly header: DtbBlockHeader }
  /** A stretch that does not hold, from `at` to `to`; only with `salvage`. */
  | { readonly kind: 'gap'; readonly at: number; readonly to: number; readonly fault: SondeError }
  /** Nothing more for now. Asked again, it looks whether the file has grown. */
  | { readonly kind: 'stop'; readonly end: DtbEnd }

/** What is kept of the texts of a file. */
const KEPT_TEXTS = {
  countMax: DTB_LIMITS.symbolCount,
  charactersMax: DTB_LIMITS.symbolCharacters,
  labelIdEnd: WRITER_SYMBOL_ID,
}

/** The source of records where what said so is lost. */
const LOST = { id: '?', tag: '', labels: {}, host: '' }

/** Why a block may not hold. Anything else that is thrown, such as by the input, is nothing of the file's. */
const FAULTS: ReadonlySet<string> = new Set([
  'DTB_FILE',
  'DTB_TRUNCATED',
  'DTB_BLOCK',
  'DTB_PAYLOAD',
  'DTB_CONTENT',
  'DTB_LIMIT',
])

/**
 * Reads a file of records block by block. For any bytes, it ends, throws no error, and stays within the memory limits
 * of `docs/dtb.md`.
 *
 * @example
 * const file = openDtb(path)
 * const decoder = new DtbDecoder(file)
 * for (let step = decoder.next(); step.kind !== 'stop'; step = decoder.next()) {
 *   if (step.kind !== 'records') continue
 *   const { type, bytes, count, symbols } = step.batch
 *   for (const record of readRecords(type, viewsOf(bytes), count, symbols)) console.log(record)
 * }
 * file.close()
 */
export class DtbDecoder {
  readonly #input: DtbInput
  readonly #options: DtbDecoderOptions
  readonly #types = new Map<number, RecordType>()
  readonly #symbols = new UsedTexts(KEPT_TEXTS, { item: 'DTB_CONTENT', limit: 'DTB_LIMIT' })
  #header: DtbFileHeader | undefined
  #entry: SourceEntry | undefined
  #source: SourceInfo | undefined
  /** The source of the next records, in a file with several sources. */
  #origin: SourceInfo | undefined
  /** By the text of their blocks: views go by the identity of a source. */
  readonly #origins = new Map<string, SourceInfo>()
  #at = 0
  /**
   * Where the block that is read ends, once its header holds: nothing but a damaged payload can be wrong with it then.
   */
  #blockEnd: number | undefined
  /** Whether the block that is read holds records: then its loss changes no source. */
  #isRecords = false
  #isEnded = false

  constructor(input: DtbInput, options: DtbDecoderOptions = {}) {
    this.#input = input
    this.#options = options
  }

  /** The header of the file, once it was read. */
  get header(): DtbFileHeader | undefined {
    return this.#header
  }

  /** The source of the records; undefined until it was read. */
  get source(): SourceEntry | undefined {
    return this.#entry
  }

  /** The types that were announced so far. */
  get types(): ReadonlyMap<number, RecordType> {
    return this.#types
  }

  /** Where the next block begins. Unit: bytes. */
  get at(): number {
    return this.#at
  }

  /** Reads the next block. */
  next(): DtbStep {
    this.#blockEnd = undefined
    this.#isRecords = false
    try {
      if (this.#at === 0) this.#readFileHeader()
      if (this.#at >= this.#input.bytes) return this.#stop(this.#isEnded ? 'ended' : 'open')
      return this.#readBlock()
    } catch (fault) {
      if (!(fault instanceof SondeError) || !FAULTS.has(fault.code)) throw fault
      const stop = () => this.#stop(fault.code === 'DTB_TRUNCATED' ? 'truncated' : 'damaged', fault)
      return this.#options.salvage === true ? (this.#skip(fault) ?? stop()) : stop()
    }
  }

  #stop(state: DtbEnd['state'], fault?: SondeError): DtbStep {
    const ignoredBytes = Math.max(0, this.#input.bytes - this.#at)
    return { kind: 'stop', end: { state, at: this.#at, ignoredBytes, ...(fault === undefined ? {} : { fault }) } }
  }

  #readFileHeader(): void {
    this.#header = decodeFileHeader(this.#input.read(0, FILE_HEADER_BYTES))
    this.#at = FILE_HEADER_BYTES
  }

  #readBlock(): DtbStep {
    const at = this.#at
    if (this.#isEnded && this.#options.salvage !== true) {
      throw new SondeError('DTB_BLOCK', 'something follows the block that ends the file')
    }
    this.#isEnded = false
    const header = decodeBlockHeader(this.#input.read(at, BLOCK_HEADER_BYTES))
    const padded = paddedBytes(header)
    const end = at + BLOCK_HEADER_BYTES + padded
    if (end > this.#input.bytes) throw truncated('the payload of a block')
    this.#blockEnd = end
    this.#isRecords = header.blockType === BLOCK_TYPE.records
    const type = this.#isRecords ? this.#typeOf(header) : undefined
    if (type !== undefined && this.#options.wants?.(header, type) === false) {
      this.#at = end
      return { kind: 'block', at, header }
    }
    const payload = unpackPayload(header, this.#input.read(at + BLOCK_HEADER_BYTES, padded))
    const batch = type === undefined ? this.#learn(header, payload) : this.#batchOf(header, type, payload)
    this.#at = end
    return batch === undefined ? { kind: 'block', at, header } : { kind: 'records', at, header, batch }
  }

  #typeOf({ typeIndex, recordBytes, count, unpackedBytes }: DtbBlockHeader): RecordType {
    const type = this.#types.get(typeIndex)
    if (type === undefined) throw new SondeError('DTB_CONTENT', `records of type ${typeIndex}, which no block declares`)
    const expected = type.layout.recordBytes
    if (recordBytes !== expected || count * recordBytes !== unpackedBytes) {
      throw new SondeError(
        'DTB_CONTENT',
        `${count} records of ${recordBytes} bytes in ${unpackedBytes}; a record of ${type.name} has ${expected}`,
      )
    }
    return type
  }

  #batchOf(header: DtbBlockHeader, type: RecordType, bytes: Uint8Array): Batch {
    const { clock, count, client, pageSequence } = header
    const page = client === 0n ? {} : { page: { client, sequence: pageSequence } }
    const [source, symbols, arrivedMs] = [
      this.#origin ?? this.#sourceInfo(),
      this.#symbols.ofBatches,
      performance.now(),
    ]
    return { type, source, clock, count, bytes, symbols, origin: 'replay', arrivedMs, ...page }
  }

  /** A placeholder for a lost source, when a damaged file is salvaged. */
  #sourceInfo(): SourceInfo {
    if (this.#entry === undefined && this.#options.salvage !== true) {
      throw new SondeError('DTB_CONTENT', 'records come before the block that says whose they are')
    }
    this.#source ??= this.#infoOf(this.#entry ?? LOST)
    return this.#source
  }

  #infoOf({ id, tag, labels, host }: Pick<SourceEntry, 'id' | 'tag' | 'labels' | 'host'>): SourceInfo {
    return { id, tag, labels, symbols: this.#symbols, ...(host === '' ? {} : { host }) }
  }

  #learnOrigin(payload: Uint8Array): void {
    const entry = decodeSource(payload)
    const { id, tag, labels, host } = entry
    const key = JSON.stringify([id, tag, labels, host])
    const known = this.#origins.get(key)
    if (known === undefined && this.#origins.size >= DTB_LIMITS.originCount)
      throw new SondeError('DTB_LIMIT', `more than ${DTB_LIMITS.originCount} sources`)
    this.#origin = known ?? this.#infoOf(entry)
    this.#origins.set(key, this.#origin)
  }

  #learn({ blockType }: DtbBlockHeader, payload: Uint8Array): undefined {
    if (blockType === BLOCK_TYPE.types) this.#learnTypes(payload)
    else if (blockType === BLOCK_TYPE.source) this.#learnSource(decodeSource(payload))
    else if (blockType === BLOCK_TYPE.origin) this.#learnOrigin(payload)
    else if (blockType === BLOCK_TYPE.symbols) {
      const { firstId, texts } = decodeSymbols(payload)
      // A block without a text says nothing; an item without one begins a table.
      if (texts.length > 0) this.#symbols.take(firstId, texts)
    } else if (blockType === BLOCK_TYPE.texts) this.#symbols.take(decodeTexts(payload), [])
    else if (blockType === BLOCK_TYPE.end) this.#isEnded = true
  }

  #learnTypes(payload: Uint8Array): void {
    for (const [index, type] of decodeTypes(payload)) {
      const known = this.#types.get(index)
      if (known !== undefined && known.fingerprint !== type.fingerprint) {
        throw new SondeError('DTB_CONTENT', `index ${index} stands for ${known.name} and for ${type.name}`)
      }
      if (known === undefined) this.#types.set(index, type)
    }
    if (this.#types.size > DTB_LIMITS.typeCount)
      throw new SondeError('DTB_LIMIT', `more than ${DTB_LIMITS.typeCount} types`)
  }

  /** The block of the types that the file begins with is lost; its header says which they were. */
  #recallTypes(): void {
    const fingerprint = this.#header?.fingerprint
    const types = fingerprint === undefined ? undefined : this.#options.typesOf?.(fingerprint)
    for (const [index, type] of types?.entries() ?? []) this.#types.set(index, type)
  }

  #learnSource(entry: SourceEntry): void {
    if (this.#entry !== undefined) throw new SondeError('DTB_CONTENT', 'the file names its source twice')
    this.#entry = entry
    this.#source = undefined
  }

  /**
   * Goes on at the end of the block, where its header holds and another block or nothing follows, else at the next
   * block that can be found. Nothing where the file ends within a block: the rest of it may be about to come.
   */
  #skip(fault: SondeError): DtbStep | undefined {
    const at = this.#at
    const { bytes } = this.#input
    const end = this.#blockEnd
    const follows = end !== undefined && (end === bytes || findBlock(this.#input, end, end) === end)
    const to = follows ? end : findBlock(this.#input, at + 8)
    if (fault.code === 'DTB_TRUNCATED' && to === bytes) return undefined
    if (at === FILE_HEADER_BYTES) this.#recallTypes()
    // A lost block may have named the source of the next records.
    if (this.#entry?.hasOrigins === true && !(follows && this.#isRecords)) this.#origin = this.#infoOf(LOST)
    this.#at = to
    return { kind: 'gap', at, to, fault }
  }
}
