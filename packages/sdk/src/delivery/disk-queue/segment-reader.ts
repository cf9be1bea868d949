import type { Disk, DiskFile } from '../../disk/disk.ts'
import { codeOf } from '../../disk/error-code.ts'
import { messageOf, SondeError } from '../../errors.ts'
import type { Batch } from '../../schema/batch.ts'
import { DtbDecoder, type DtbEnd, type DtbInput } from '../../wire/dtb/decode.ts'
import { decodeBlockHeader, paddedBytes } from '../../wire/dtb/decode-header.ts'
import { BLOCK_HEADER_BYTES, BLOCK_TYPE, FILE_HEADER_BYTES } from '../../wire/dtb/format.ts'

/** Size of one read. Unit: bytes. */
const WINDOW_BYTES = 1 << 20

/** Codes of a file that was removed, or replaced by a link. */
const GONE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP'])

/** A part of a file in memory. Batches refer to it, so its bytes never change. */
class Window implements DtbInput {
  start = 0
  #bytes: Uint8Array = new Uint8Array(0)

  /** Where the part ends. Unit: bytes. */
  get bytes(): number {
    return this.start + this.#bytes.length
  }

  read(at: number, bytes: number): Uint8Array {
    return this.#bytes.subarray(at - this.start, at - this.start + bytes)
  }

  hold(start: number, bytes: Uint8Array): void {
    this.start = start
    this.#bytes = bytes
  }
}

/** Records that were read. */
export interface ReadBatch {
  /** Its bytes do not change. */
  readonly batch: Batch
  /** Records of the file before it, with those of damaged blocks. */
  readonly before: number
}

/** Reads the batches of a segment, also while it is written, with one window of the file in memory. */
export class SegmentReader {
  /** Records that were read. */
  readRecords = 0
  /** Records that were read or belong to damaged blocks whose headers say how many they have. */
  passedRecords = 0
  /** How the file ends; set when the reader has come to its end. */
  end: DtbEnd | undefined
  /** What could not be read, if anything. */
  fault: SondeError | undefined
  readonly #disk: Disk
  readonly #path: string
  readonly #window = new Window()
  readonly #decoder: DtbDecoder
  #file: DiskFile | undefined

  constructor(disk: Disk, path: string) {
    this.#disk = disk
    this.#path = path
    this.#decoder = new DtbDecoder(this.#window, { salvage: true })
  }

  /** Where the next block begins. Unit: bytes. */
  get at(): number {
    return this.#decoder.at
  }

  /** The next batch before `endAt`; undefined if there is none so far. */
  async next(endAt: number): Promise<ReadBatch | undefined> {
    for (;;) {
      await this.#load(endAt)
      const step = this.#decoder.next()
      if (step.kind === 'records') {
        const before = this.passedRecords
        this.readRecords += step.batch.count
        this.passedRecords += step.batch.count
        return { batch: step.batch, before }
      }
      if (step.kind === 'gap') {
        this.fault ??= step.fault
        this.passedRecords += recordsOf(this.#window.read(step.at, BLOCK_HEADER_BYTES))
      }
      if (step.kind !== 'stop') continue
      this.end = step.end
      if (this.#window.bytes >= endAt || !(await this.#read(this.#decoder.at, endAt))) return undefined
    }
  }

  async close(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    await file?.close()
  }

  /** Has the window hold the whole next block: a part of it could look like other blocks. */
  async #load(endAt: number): Promise<void> {
    const at = this.#decoder.at
    const headerBytes = at === 0 ? FILE_HEADER_BYTES : BLOCK_HEADER_BYTES
    if (this.#window.bytes < Math.min(endAt, at + headerBytes)) await this.#read(at, endAt)
    const bytes = at === 0 ? headerBytes : blockBytes(this.#window.read(at, headerBytes))
    if (this.#window.bytes < Math.min(endAt, at + bytes)) await this.#read(at, endAt, bytes)
  }

  /** Reads from a place on. False if nothing is there any more: somebody cut or removed the file. */
  async #read(at: number, endAt: number, bytesMin = 0): Promise<boolean> {
    try {
      this.#file ??= await this.#disk.open(this.#path, 'r')
    } catch (error) {
      if (!GONE.has(codeOf(error))) throw error
      this.fault ??= new SondeError('QUE_UNREADABLE', messageOf(error))
      return false
    }
    const bytes = await this.#file.readAt(at, Math.min(endAt - at, Math.max(WINDOW_BYTES, bytesMin)))
    this.#window.hold(at, bytes)
    return bytes.byteLength > 0
  }
}

/** Records of the block with this header; 0 if the header is damaged or makes no sense. */
function recordsOf(header: Uint8Array): number {
  try {
    const { blockType, count, recordBytes, unpackedBytes } = decodeBlockHeader(header)
    const isPlausible = blockType === BLOCK_TYPE.records && recordBytes > 0 && count * recordBytes <= unpackedBytes
    return isPlausible ? count : 0
  } catch (error) {
    if (!(error instanceof SondeError)) throw error
    return 0
  }
}

/** Size of the block with this header; that of the header if it is damaged. */
function blockBytes(header: Uint8Array): number {
  try {
    return BLOCK_HEADER_BYTES + paddedBytes(decodeBlockHeader(header))
  } catch (error) {
    if (!(error instanceof SondeError)) throw error
    return BLOCK_HEADER_BYTES
  }
}
