import { SondeError } from '@sonde/sdk'

/** Bytes before the data IDs. */
export const SAMPLES_HEADER_BYTES = 64
/** Bytes of a sample before its values. */
export const SAMPLE_HEAD_BYTES = 40
/** Most values of a sample. */
const VALUES_MAX = 1024
/** Bit of a sample's flags: samples before it were skipped. */
const IS_SKIPPED = 1

const MAGIC = 'SONDESMP'
const VERSION = 1

/** Header of a file of samples. */
export interface SampleFileHeader {
  /** In the order of the values. */
  readonly dataIds: readonly bigint[]
  /** Unit: nanoseconds. */
  readonly samplePeriodNs: number
  readonly clock: 'rtc' | 'ticks'
  /** Frequency of a free-running clock; 0 for `rtc`. */
  readonly ticksPerSecond: number
}

/** One sample as the device gave it and the host read it. Words have 32 bits. */
export interface FileSample {
  readonly id: number
  readonly latestLow: number
  readonly earliestLow: number
  readonly latestHigh: number
  readonly earliestHigh: number
  readonly isAfterSkipped: boolean
  readonly monoNs: bigint
  readonly wallNs: bigint
  readonly values: readonly bigint[]
}

/** Size of a sample. Unit: bytes. */
export function sampleBytes(values: number): number {
  return SAMPLE_HEAD_BYTES + 8 * values
}

/** Encodes the header with the data IDs. */
export function encodeSamplesHeader(header: SampleFileHeader): Buffer {
  const bytes = Buffer.alloc(SAMPLES_HEADER_BYTES + 8 * header.dataIds.length)
  bytes.write(MAGIC, 'latin1')
  bytes.writeUInt32LE(VERSION, 8)
  bytes.writeUInt32LE(header.dataIds.length, 12)
  bytes.writeBigUInt64LE(BigInt(header.samplePeriodNs), 16)
  bytes.writeUInt32LE(header.clock === 'rtc' ? 0 : 1, 24)
  bytes.writeBigUInt64LE(BigInt(header.ticksPerSecond), 32)
  for (const [index, id] of header.dataIds.entries()) bytes.writeBigUInt64LE(id, SAMPLES_HEADER_BYTES + 8 * index)
  return bytes
}

/** Writes a sample at an offset. The buffer must be large enough. */
export function encodeSample(bytes: Buffer, at: number, sample: FileSample): void {
  bytes.writeUInt32LE(sample.id, at)
  bytes.writeUInt32LE(sample.latestLow, at + 4)
  bytes.writeUInt32LE(sample.earliestLow, at + 8)
  bytes.writeUInt32LE(sample.latestHigh, at + 12)
  bytes.writeUInt32LE(sample.earliestHigh, at + 16)
  bytes.writeUInt32LE(sample.isAfterSkipped ? IS_SKIPPED : 0, at + 20)
  bytes.writeBigUInt64LE(sample.monoNs, at + 24)
  bytes.writeBigUInt64LE(sample.wallNs, at + 32)
  for (const [index, value] of sample.values.entries())
    bytes.writeBigUInt64LE(value, at + SAMPLE_HEAD_BYTES + 8 * index)
}

/**
 * The number of values of a sample, from the first bytes of a file.
 * @throws SondeError `TRB_SAMPLES`
 */
export function headerValueCount(bytes: Buffer, path: string): number {
  if (bytes.length < SAMPLES_HEADER_BYTES || bytes.toString('latin1', 0, 8) !== MAGIC)
    throw samplesFault(path, `it does not begin with ${MAGIC} and ${SAMPLES_HEADER_BYTES} bytes of header`)
  const version = bytes.readUInt32LE(8)
  if (version !== VERSION) throw samplesFault(path, `version ${version}; allowed: ${VERSION}`)
  const count = bytes.readUInt32LE(12)
  if (count < 1 || count > VALUES_MAX) throw samplesFault(path, `${count} values a sample; allowed: 1 to ${VALUES_MAX}`)
  return count
}

/**
 * Decodes the whole header of a file.
 * @throws SondeError `TRB_SAMPLES`
 */
export function decodeSamplesHeader(bytes: Buffer, path: string): SampleFileHeader {
  const count = headerValueCount(bytes, path)
  if (bytes.length < SAMPLES_HEADER_BYTES + 8 * count) throw samplesFault(path, 'it ends within its data IDs')
  const samplePeriodNs = Number(bytes.readBigUInt64LE(16))
  if (samplePeriodNs < 1 || samplePeriodNs > Number.MAX_SAFE_INTEGER)
    throw samplesFault(path, `a sample period of ${samplePeriodNs} ns; allowed: from 1`)
  const clock = bytes.readUInt32LE(24)
  const ticksPerSecond = Number(bytes.readBigUInt64LE(32))
  if (clock > 1) throw samplesFault(path, `clock ${clock}; allowed: 0 (RTC), 1 (ticks)`)
  if (bytes.readUInt32LE(28) !== 0) throw samplesFault(path, `flags ${bytes.readUInt32LE(28)}; allowed: 0`)
  if (clock === 1 && ticksPerSecond < 1) throw samplesFault(path, '0 ticks a second; allowed: from 1')
  const dataIds = Array.from({ length: count }, (_, index) => bytes.readBigUInt64LE(SAMPLES_HEADER_BYTES + 8 * index))
  if (new Set(dataIds).size < count) throw samplesFault(path, 'a data ID twice; allowed: each once')
  return { dataIds, samplePeriodNs, clock: clock === 0 ? 'rtc' : 'ticks', ticksPerSecond }
}

/** An error of a file of samples. */
export function samplesFault(path: string, why: string, cause?: unknown): SondeError {
  return new SondeError('TRB_SAMPLES', `${path} is not a readable file of samples: ${why}`, { cause })
}
