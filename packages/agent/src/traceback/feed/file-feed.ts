import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { SondeError } from '@sonde/sdk'
import { messageOf } from '@sonde/sdk/internal'
import { idsText } from '../../native/doca/ids.ts'
import { type DeviceRing, SAMPLE_AT } from './device-ring.ts'
import type { FeedInfo, FeedRequest, SampleFeed } from './sample-feed.ts'
import {
  decodeSamplesHeader,
  headerValueCount,
  SAMPLE_HEAD_BYTES,
  SAMPLES_HEADER_BYTES,
  type SampleFileHeader,
  sampleBytes,
  samplesFault,
} from './samples-format.ts'

/** Prefix of `-d` for a file of samples. */
export const FILE_PREFIX = 'file:'
/** Bytes that are read at once; at least one sample. */
const CHUNK_BYTES = 1024 * 1024
const SECOND_NS = 1_000_000_000n
const DENIED = new Set(['EACCES', 'EPERM'])

/**
 * Opens a file of samples as a device: `file:SAMPLES`. Values are found by data ID, so the file may contain more data
 * IDs.
 * @throws SondeError `TRB_DENIED` without permission to read it, `TRB_SAMPLES` if it is not a file of samples,
 * `TRB_DEVICE` if a data ID is missing or the period differs from an exact request.
 */
export async function openFileFeed(request: FeedRequest): Promise<SampleFeed> {
  const path = request.device.slice(FILE_PREFIX.length)
  let file: FileHandle
  try {
    // O_NONBLOCK, because a pipe would wait for its other end.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (cause) {
    if (DENIED.has((cause as NodeJS.ErrnoException).code ?? ''))
      throw new SondeError('TRB_DENIED', `${path} cannot be read: give this user the permission, or run as root`, {
        cause,
      })
    throw samplesFault(path, messageOf(cause), cause)
  }
  try {
    if (!(await file.stat()).isFile()) throw samplesFault(path, 'it is no regular file')
    const first = await readAt(file, 0, SAMPLES_HEADER_BYTES)
    const header = decodeSamplesHeader(
      await readAt(file, 0, SAMPLES_HEADER_BYTES + 8 * headerValueCount(first, path)),
      path,
    )
    return new FileFeed({ file, path, header, request })
  } catch (error) {
    await file.close()
    throw error instanceof SondeError ? error : samplesFault(path, messageOf(error), error)
  }
}

async function readAt(file: FileHandle, at: number, size: number): Promise<Buffer> {
  const bytes = Buffer.alloc(size)
  const { bytesRead } = await file.read(bytes, 0, size, at)
  return bytes.subarray(0, bytesRead)
}

interface OpenedFile {
  readonly file: FileHandle
  readonly path: string
  readonly header: SampleFileHeader
  readonly request: FeedRequest
}

class FileFeed implements SampleFeed {
  readonly info: FeedInfo
  readonly #opened: OpenedFile
  readonly #columns: readonly number[]
  readonly #sampleBytes: number
  readonly #buffer: Buffer
  #at: number
  #isClosed = false
  /** Time and ticks of the first sample, if the device's clock is free-running. */
  #origin: { readonly ticks: bigint; readonly wallNs: bigint } | undefined

  constructor(opened: OpenedFile) {
    const { header, request, path } = opened
    this.#opened = opened
    this.#columns = request.dataIds.map((id) => header.dataIds.indexOf(id))
    const missing = request.dataIds.filter((_, index) => (this.#columns[index] as number) < 0)
    if (missing.length > 0) throw new SondeError('TRB_DEVICE', `${path} has no samples of ${idsText(missing)}`)
    checkExact(opened)
    this.#sampleBytes = sampleBytes(header.dataIds.length)
    this.#buffer = Buffer.alloc(Math.max(this.#sampleBytes, CHUNK_BYTES))
    this.#at = SAMPLES_HEADER_BYTES + 8 * header.dataIds.length
    this.info = { device: request.device, samplePeriodNs: header.samplePeriodNs, clock: header.clock }
  }

  async read(ring: DeviceRing, limit: number, stop: AbortSignal): Promise<number | 'end'> {
    if (stop.aborted) return 0
    const { file, path } = this.#opened
    const size = this.#sampleBytes
    const wanted = Math.min(limit, Math.floor(this.#buffer.length / size)) * size
    const { bytesRead } = await file.read(this.#buffer, 0, wanted, this.#at)
    const count = Math.floor(bytesRead / size)
    if (count === 0) {
      if (bytesRead > 0)
        throw samplesFault(path, `its last sample, at byte ${this.#at}, is cut off after ${bytesRead} bytes`)
      return 'end'
    }
    for (let index = 0; index < count; index++) this.#put(ring, index * size)
    this.#at += count * size
    return count
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#opened.file.close()
  }

  #put(ring: DeviceRing, at: number): void {
    const bytes = this.#buffer
    const word = ring.push()
    const { words } = ring
    const latestLow = bytes.readUInt32LE(at + 4)
    const earliestHigh = bytes.readUInt32LE(at + 16)
    const wallNs = bytes.readBigUInt64LE(at + 32)
    words[word + SAMPLE_AT.raw] = latestLow
    words[word + SAMPLE_AT.raw + 1] = earliestHigh
    words[word + SAMPLE_AT.id] = bytes.readUInt32LE(at)
    words[word + SAMPLE_AT.flags] = bytes.readUInt32LE(at + 20)
    setBig(words, word + SAMPLE_AT.wall, wallNs)
    const stamp = { earliestHigh, earliestLow: bytes.readUInt32LE(at + 8) }
    setBig(words, word + SAMPLE_AT.time, this.#timeOf(stamp, wallNs))
    for (let index = 0; index < this.#columns.length; index++) {
      const from = at + SAMPLE_HEAD_BYTES + 8 * (this.#columns[index] as number)
      words[word + SAMPLE_AT.values + 2 * index] = bytes.readUInt32LE(from)
      words[word + SAMPLE_AT.values + 2 * index + 1] = bytes.readUInt32LE(from + 4)
    }
  }

  /**
   * Both words belong to the earliest value. The low word of another value would make the time wrong by up to a second.
   */
  #timeOf({ earliestHigh, earliestLow }: { earliestHigh: number; earliestLow: number }, wallNs: bigint): bigint {
    const { clock, ticksPerSecond } = this.#opened.header
    if (clock === 'rtc') return BigInt(earliestHigh) * SECOND_NS + BigInt(earliestLow)
    const ticks = (BigInt(earliestHigh) << 32n) | BigInt(earliestLow)
    this.#origin ??= { ticks, wallNs }
    return this.#origin.wallNs + ((ticks - this.#origin.ticks) * SECOND_NS) / BigInt(ticksPerSecond)
  }
}

function checkExact({ header, request, path }: OpenedFile): void {
  if (!request.isExact) return
  if (header.samplePeriodNs !== request.samplePeriodNs)
    throw new SondeError(
      'TRB_DEVICE',
      `${path} has a sample period of ${header.samplePeriodNs} ns; allowed: ${request.samplePeriodNs} ns, as the rules say`,
    )
  if (header.clock !== 'rtc') throw new SondeError('TRB_DEVICE', `${path} has times in ticks; allowed: RTC`)
}

function setBig(words: Uint32Array, at: number, value: bigint): void {
  words[at] = Number(value & 0xffff_ffffn)
  words[at + 1] = Number((value >> 32n) & 0xffff_ffffn)
}
