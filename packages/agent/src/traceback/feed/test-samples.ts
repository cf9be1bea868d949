// Files of samples for tests.

import { SamplesWriter } from './samples-writer.ts'

/** How a file of a test is made. */
export interface TestFile {
  readonly dataIds: readonly bigint[]
  /** Default: 100 µs. Unit: nanoseconds. */
  readonly samplePeriodNs?: number
  readonly clock?: 'rtc' | 'ticks'
  /** Samples that are skipped before a sample, by its index. */
  readonly skippedBefore?: Readonly<Record<number, number>>
  /** Whether the device says so, beside the numbers of the samples. Default: it does. */
  readonly saysSkipped?: boolean
  /** Second of the epoch in which the first sample was. Default: 1 790 000 000. */
  readonly startS?: number
}

const TICKS_PER_SECOND = 1_000_000_000

/** Writes a file of samples, 100 µs apart. */
export function writeSamples(path: string, rows: Iterable<readonly bigint[]>, file: TestFile): void {
  const { dataIds, samplePeriodNs = 100_000, clock = 'rtc', skippedBefore = {}, saysSkipped = true } = file
  const { startS = 1_790_000_000 } = file
  const ticksPerSecond = clock === 'rtc' ? 0 : TICKS_PER_SECOND
  const writer = new SamplesWriter(path, { dataIds, samplePeriodNs, clock, ticksPerSecond })
  let number = 0
  let index = 0
  for (const values of rows) {
    const skipped = skippedBefore[index++] ?? 0
    number += skipped
    const sinceNs = BigInt(number) * BigInt(samplePeriodNs)
    const timeNs = BigInt(startS) * 1_000_000_000n + sinceNs
    const [high, low] =
      clock === 'rtc'
        ? [Number(timeNs / 1_000_000_000n), Number(timeNs % 1_000_000_000n)]
        : [Number(sinceNs >> 32n), Number(sinceNs & 0xffff_ffffn)]
    writer.put({
      id: number >>> 0,
      latestLow: low,
      earliestLow: low,
      latestHigh: high,
      earliestHigh: high,
      isAfterSkipped: skipped > 0 && saysSkipped,
      monoNs: sinceNs,
      wallNs: timeNs,
      values,
    })
    number++
  }
  writer.close()
}
