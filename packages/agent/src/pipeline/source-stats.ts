import { absenceType, type Batch } from '@sonde/sdk'
import { FailedReads } from './failed-reads.ts'

/** State of a source as people see it. */
export type SourceState = 'starting' | 'reading' | 'absent' | 'denied' | 'stuck' | 'failed'

const DURATION_COUNT = 256

/** What the agent counts of one source. */
export class SourceStats {
  samples = 0
  /** What the source measured. Unit: records. */
  records = 0
  /** What was said again and again about values that cannot be had. Unit: records. */
  absenceRecords = 0
  /** Failed reads and samples. */
  get errors(): number {
    return this.failed.count
  }
  readonly failed = new FailedReads()
  restarts = 0
  sampleSeconds = 0
  lastSampleMs = 0
  readonly dropped = new Map<string, number>()
  readonly #durationsMs = new Float64Array(DURATION_COUNT)
  #firstSampleMs = 0

  /** Counts a batch that was accepted. */
  accepted({ type, count }: Pick<Batch, 'type' | 'count'>): void {
    if (type === absenceType) this.absenceRecords += count
    else this.records += count
  }

  /** Notes a sample that took `durationMs` and ended at `nowMs`. */
  sampled(durationMs: number, nowMs: number): void {
    this.#durationsMs[this.samples % DURATION_COUNT] = durationMs
    if (this.samples === 0) this.#firstSampleMs = nowMs
    this.samples++
    this.sampleSeconds += durationMs / 1000
    this.lastSampleMs = nowMs
  }

  /** Real mean distance of samples. Unit: milliseconds; 0 before the second one. */
  get intervalRealMs(): number {
    return this.samples < 2 ? 0 : (this.lastSampleMs - this.#firstSampleMs) / (this.samples - 1)
  }

  /** 99th percentile of the last 256 samples' durations. Unit: milliseconds. */
  get sampleMsP99(): number {
    const durations = this.#durationsMs.slice(0, Math.min(this.samples, DURATION_COUNT)).sort()
    return durations[Math.floor((durations.length - 1) * 0.99)] ?? 0
  }
}
