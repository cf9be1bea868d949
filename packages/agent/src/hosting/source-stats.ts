import { type Batch, readRecords, viewsOf } from '@sonde/sdk'
import type { SourcePeriods } from '@sonde/sdk/api'
import { absenceType, periodType } from '@sonde/sdk/internal'
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

/** Limit of types and devices with a reported period. */
const PERIOD_COUNT_LIMIT = 4096
/** Sources repeat their periods every minute: a period without a report for two minutes is obsolete. */
const PERIOD_KEEP_MS = 150_000

/** Counts of the agent for one source. */
export class SourceStats {
  samples = 0
  /** What the source measured. Unit: records. */
  records = 0
  /** Repeated records about absent values and periods. Unit: records. */
  stateRecords = 0
  readonly #periods = new Map<string, { readonly said: SourcePeriods; readonly saidMs: number }>()
  /** Failed reads and samples. */
  get errors(): number {
    return this.failed.count
  }
  readonly failed = new FailedReads()
  restarts = 0
  /** Calls skipped because the previous call had not ended. */
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

  /** The reported periods of the source. */
  get periods(): SourcePeriods[] {
    return Array.from(this.#periods.values(), ({ said }) => said)
  }

  /** Counts a batch that was accepted. */
  accepted(batch: Pick<Batch, 'type' | 'count' | 'bytes' | 'symbols' | 'arrivedMs'>): void {
    const { type, count } = batch
    if (type === absenceType || type === periodType) this.stateRecords += count
    else this.records += count
    if (type === periodType) this.#notePeriods(batch)
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

  #notePeriods({ bytes, count, symbols, arrivedMs }: Pick<Batch, 'count' | 'bytes' | 'symbols' | 'arrivedMs'>): void {
    for (const [key, { saidMs }] of this.#periods) if (arrivedMs - saidMs > PERIOD_KEEP_MS) this.#periods.delete(key)
    const us = (value: bigint | number | undefined) => (value === undefined ? null : Number(value))
    for (const said of readRecords(periodType, viewsOf(bytes), count, symbols)) {
      const { type, device } = said
      const key = `${type}\n${device}`
      if (!this.#periods.has(key) && this.#periods.size >= PERIOD_COUNT_LIMIT) continue
      const [sampleUs, drainUs] = [us(said.sample_us), us(said.drain_us)]
      const period = { type, device, sampleUs, drainUs, reportUs: Number(said.report_us) }
      this.#periods.set(key, { said: period, saidMs: arrivedMs })
    }
  }
}
