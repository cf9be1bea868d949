import type { ReferenceSample } from '../../../packages/agent/test/reference/reference-log.ts'

const HEADER_BYTES = 64
const SAMPLE_HEADER_BYTES = 40
const SKIPPED = 1

/** What a file of samples says beside them. */
export interface SamplesHead {
  readonly samplePeriodNs: number
  readonly clock: 'rtc' | 'ticks'
  readonly dataIds: readonly bigint[]
}

/** A file of samples, as the page on traceback describes it. Words of the header that nothing reads are noise. */
export function samplesFile(
  { samplePeriodNs, clock, dataIds }: SamplesHead,
  samples: readonly ReferenceSample[],
): Buffer {
  const sampleBytes = SAMPLE_HEADER_BYTES + 8 * dataIds.length
  const start = HEADER_BYTES + 8 * dataIds.length
  const file = Buffer.alloc(start + sampleBytes * samples.length)
  file.write('SONDESMP', 0, 'latin1')
  file.writeUInt32LE(1, 8)
  file.writeUInt32LE(dataIds.length, 12)
  file.writeBigUInt64LE(BigInt(samplePeriodNs), 16)
  file.writeUInt32LE(clock === 'rtc' ? 0 : 1, 24)
  file.writeBigUInt64LE(clock === 'rtc' ? 0n : 1_000_000_000n, 32)
  for (const [index, dataId] of dataIds.entries()) file.writeBigUInt64LE(dataId, HEADER_BYTES + 8 * index)
  for (const [index, sample] of samples.entries()) {
    const at = start + sampleBytes * index
    file.writeUInt32LE(index, at)
    file.writeUInt32LE(sample.latestTimestampLow, at + 4)
    file.writeUInt32LE(0x11111111, at + 8)
    file.writeUInt32LE(0x22222222, at + 12)
    file.writeUInt32LE(sample.earliestTimestampHigh, at + 16)
    file.writeUInt32LE(sample.isSkipped ? SKIPPED : 0, at + 20)
    file.writeBigUInt64LE(BigInt(index) * BigInt(samplePeriodNs), at + 24)
    file.writeBigUInt64LE(sample.hostWallNs, at + 32)
    for (const [column, value] of sample.values.entries())
      file.writeBigUInt64LE(value, at + SAMPLE_HEADER_BYTES + 8 * column)
  }
  return file
}
