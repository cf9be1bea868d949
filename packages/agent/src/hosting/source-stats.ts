import { absenceType, type Batch } from '@sonde/sdk'
import { FailedReads } from './failed-reads.ts'

const DURATION_COUNT = 256

/** A call of a source that came back. */
export interface SampleCall {
  readonly durationMs: number
  /** By the wall clock. */
  readonly endMs: number
  /** Whether it is of the first duty of the source. */
  readonly isFirstDuty: boolean
}

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
  /** Calls that were left out because the one before was not done. */
  overruns = 0
  sampleSeconds = 0
  lastSampleMs = 0
  readonly dropped = new Map<string, number>()
  readonly #durationsMs = new Float64Array(DURATION_COUNT)
  /** Called with each call that is noted. Default: nobody is told. */
  onSampled: ((call: SampleCall) => void) | undefined
  #rounds = 0
  #firstMs = 0
  #lastMs = 0

  /** Counts a batch that was accepted. */
  accepted({ type, count }: Pick<Batch, 'type' | 'count'>): void {
    if (type === absenceType) this.absenceRecords += count
    else this.records += count
  }

  /**
   * Notes a call that came back. The interval is that of the calls of one duty, the first of the source.
   */
  sampled(call: SampleCall): void {
    const { durationMs, endMs, isFirstDuty } = call
    this.onSampled?.(call)
    this.#durationsMs[this.samples % DURATION_COUNT] = durationMs
    this.samples++
    this.sampleSeconds += durationMs / 1000
    this.lastSampleMs = endMs
    if (!isFirstDuty) return
    if (this.#rounds === 0) this.#firstMs = endMs
    this.#rounds++
    this.#lastMs = endMs
  }

  /** Real mean distance of samples. Unit: milliseconds; 0 before the second one. */
  get intervalRealMs(): number {
    return this.#rounds < 2 ? 0 : (this.#lastMs - this.#firstMs) / (this.#rounds - 1)
  }

  /** 99th percentile of the last 256 samples' durations. Unit: milliseconds. */
  get sampleMsP99(): number {
    const durations = this.#durationsMs.slice(0, Math.min(this.samples, DURATION_COUNT)).sort()
    return durations[Math.floor((durations.length - 1) * 0.99)] ?? 0
  }
}
