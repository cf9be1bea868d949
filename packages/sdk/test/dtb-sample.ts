import { crc32, deflateRawSync } from 'node:zlib'
import { type Batch, createSource, type RecordOf, type RecordType } from '../src/index.ts'
import {
  dtbBlockBytes,
  encodeEndBlock,
  encodeFileHeader,
  encodeSourceBlock,
  encodeSymbolsBlock,
  encodeTypesBlock,
  fillRecordsBlock,
  schemaFingerprint,
  sealRecordsBlock,
  typeEntry,
} from '../src/wire/dtb/encode.ts'
import { BLOCK_HEADER_BYTES } from '../src/wire/dtb/format.ts'
import { anyRecord, anyType } from './any-type.ts'
import type { Random } from './random.ts'

/** A block of a sample, or its file header. */
export interface SampleBlock {
  readonly at: number
  readonly end: number
  /** What a reader must get: the bytes of records, unpacked; nothing of other blocks. */
  readonly records?: Uint8Array
}

/** A whole file and what is in it. */
export interface SampleFile {
  readonly bytes: Uint8Array
  readonly blocks: readonly SampleBlock[]
}

/** Puts blocks together to a file, and keeps where each one lies. */
class SampleWriter {
  readonly #parts: Uint8Array[] = []
  readonly #blocks: SampleBlock[] = []
  #at = 0

  constructor(types: readonly RecordType[]) {
    this.add(
      encodeFileHeader({ fingerprint: schemaFingerprint(types), createdUs: 1_800_000_000_000_000n, writerId: 7n }),
    )
  }

  add(block: Uint8Array, records?: Uint8Array): void {
    const end = this.#at + block.length
    this.#parts.push(block)
    this.#blocks.push({ at: this.#at, end, ...(records === undefined ? {} : { records }) })
    this.#at = end
  }

  addBatch(batch: Batch, typeIndex: number, { pack = false } = {}): void {
    const block = new Uint8Array(dtbBlockBytes(batch.bytes.length))
    block.set(batch.bytes, BLOCK_HEADER_BYTES)
    fillRecordsBlock(block, batch)
    sealRecordsBlock(block, typeIndex)
    this.add(pack ? deflated(block) : block, Uint8Array.from(batch.bytes))
  }

  file(): SampleFile {
    return { bytes: Buffer.concat(this.#parts), blocks: this.#blocks }
  }
}

/** A file of random types with random records, symbols announced as they come, now and then a compressed block. */
export async function sampleFile(random: Random, recordCount: number): Promise<SampleFile> {
  const types = [anyType(random), anyType(random), anyType(random)]
  const writer = new SampleWriter(types)
  writer.add(encodeTypesBlock(types.slice(0, 2).map(typeEntry)))
  writer.add(encodeSourceBlock({ ...SOURCE, labels: { node: 'a', rack: 'Ü"' } }))
  let announced = 0
  let areAllDeclared = false
  const source = createSource({
    id: SOURCE.id,
    bufferBytes: Math.max(4096 * random.integer(1, 4), ...types.map(({ layout }) => layout.recordBytes)),
    onLoss: (reason) => {
      throw new Error(`a sample was lost: ${reason}`)
    },
    emit(batch) {
      const { symbols } = batch.source
      if (symbols.count > announced) writer.add(encodeSymbolsBlock(announced, symbols.since(announced)))
      announced = symbols.count
      const typeIndex = types.indexOf(batch.type)
      if (typeIndex === 2 && !areAllDeclared) {
        writer.add(encodeTypesBlock([typeEntry(batch.type, 2)]))
        areAllDeclared = true
      }
      const page = random.chance(0.3) ? { page: { client: random.bits64() | 1n, sequence: 5n } } : {}
      writer.addBatch({ ...batch, ...page }, typeIndex, { pack: random.chance(0.2) })
    },
  })
  for (let i = 0; i < recordCount; i++) {
    const type = random.pick(types)
    source.report(type, anyRecord(random, type, 1_790_000_000_000 + i) as RecordOf<RecordType>)
    if (random.chance(0.1)) await source.flush()
  }
  await source.flush()
  if (random.chance(0.7)) writer.add(encodeEndBlock())
  return writer.file()
}

/** Who writes samples. */
const SOURCE = {
  id: 'sample',
  tag: 'test',
  labels: {},
  schema: 'samples',
  host: 'here',
  pid: 1,
  version: '0.1.0',
} as const

/** Packs the payload of a block of records, as somebody may later who wants smaller files. */
function deflated(block: Uint8Array): Uint8Array {
  const header = Buffer.from(block.subarray(0, BLOCK_HEADER_BYTES))
  const payload = deflateRawSync(block.subarray(BLOCK_HEADER_BYTES, BLOCK_HEADER_BYTES + header.readUInt32LE(8)))
  const packed = Buffer.alloc(dtbBlockBytes(payload.length))
  header.writeUInt8(header.readUInt8(5) | 1, 5)
  header.writeUInt32LE(payload.length, 8)
  header.writeUInt32LE(crc32(payload), 56)
  header.writeUInt32LE(crc32(header.subarray(0, 60)), 60)
  packed.set(header)
  packed.set(payload, BLOCK_HEADER_BYTES)
  return packed
}

/** A block of anything, with right checksums. */
export function dtbBlock(blockType: number, payload: Uint8Array, { count = 0, recordBytes = 0 } = {}): Uint8Array {
  const block = Buffer.alloc(dtbBlockBytes(payload.length))
  block.write('DTBK')
  block.writeUInt8(blockType, 4)
  block.writeUInt32LE(payload.length, 8)
  block.writeUInt32LE(payload.length, 12)
  block.writeUInt32LE(count, 16)
  block.writeUInt32LE(recordBytes, 20)
  block.set(payload, BLOCK_HEADER_BYTES)
  block.writeUInt32LE(crc32(payload), 56)
  block.writeUInt32LE(crc32(block.subarray(0, 60)), 60)
  return block
}
