import { type RecordType, wallNs } from '@sonde/sdk'
import { gapType, seriesKey } from '@sonde/sdk/internal'
import { SAMPLE_1 } from '../../native/doca/layout.ts'
import type { DocaReader } from '../doca/place.ts'
import { FieldAbsences } from '../field-absences.ts'
import type { Duty, SourceContext } from '../source.ts'
import type { Sampler } from './card.ts'
import { placedCounter } from './counters.ts'
import { DeviceTimes } from './device-times.ts'
import { Extremes } from './extremes.ts'
import { FullRate } from './full-rate.ts'
import type { LinkBandwidth } from './link-bandwidth.ts'
import { PciUse } from './pci-use.ts'
import type { SamplingPlan } from './plan.ts'
import { type DiagRow, recordOf, rowsOf } from './rows.ts'
import { docaDiagPciBytesType, docaDiagSampleType, docaDiagSamplingType } from './type.ts'

/** Highest number of queries in one drain. Further samples stay in the device until the next drain. */
const QUERIES_MAX = 64
const SAMPLE_IDS = 2 ** 32

/** Parts of a {@link DiagReader}. */
export interface DiagParts {
  readonly device: string
  readonly sampler: Sampler
  readonly plan: SamplingPlan
  readonly bandwidth: LinkBandwidth
  /** The type of the samples at full rate; undefined if they are not kept. */
  readonly sampleType: RecordType | undefined
  /** Share of a core that draining uses; undefined until it is measured. */
  readonly cpuRatio: () => number | undefined
}

/** Reads the samples of one device: drains them, and reports a record of each type in each interval. */
export class DiagReader implements DocaReader {
  readonly #parts: DiagParts
  readonly #context: SourceContext
  readonly #rows: readonly DiagRow[]
  readonly #times: DeviceTimes
  readonly #sampling: FieldAbsences
  readonly #extremes: Extremes
  readonly #pciUse: PciUse
  readonly #fullRate: FullRate | undefined
  readonly #duties: readonly Duty[]
  /** Values of the newest sample. */
  readonly #latest: DataView
  #latestTicks = 0n
  /** End of the last query that had a sample, by the host's monotonic clock. Unit: nanoseconds. */
  #queriedNs = 0n
  #sample: number | undefined
  #samples = 0
  #skipped = 0
  #drainedMs = Number.NEGATIVE_INFINITY
  /** Whether rules watched when the period was last reported. */
  #isWatched: boolean | undefined
  /** Samples that were skipped since the last record of a gap, and the time of the sample before them. */
  #gap = { samples: 0, fromNs: 0n }

  constructor(parts: DiagParts, context: SourceContext) {
    const { device, sampler, plan, bandwidth, sampleType } = parts
    this.#parts = parts
    this.#context = context
    this.#rows = rowsOf(device, sampler.ids)
    this.#sampling = new FieldAbsences(context.absences, docaDiagSamplingType, { rdma_device: device })
    this.#times = new DeviceTimes(context, device, sampler.periodNs, plan.hasRealTime)
    this.#extremes = new Extremes(sampler.ids.map((id) => placedCounter(id).counter?.extreme))
    this.#pciUse = new PciUse(device, bandwidth, context)
    this.#latest = new DataView(new ArrayBuffer(sampler.ids.length * SAMPLE_1.valueBytes))
    const { ringSamples, querySamples, hasRealTime } = plan
    if (sampleType !== undefined && ringSamples > 0) {
      const ring = { device, type: sampleType, sampler, times: this.#times, hasRealTime, ringSamples, querySamples }
      this.#fullRate = new FullRate(ring, context)
    }
    const reportUs = context.intervalMs * 1000
    const report: Duty = { device, name: 'report', everyUs: reportUs, paces: 'report', run: () => this.#report() }
    const drain: Duty = { device, name: 'drain', everyUs: plan.drainUs, paces: 'drain', run: () => this.#drainIfDue() }
    const sample: Duty = { device, name: 'sample', everyUs: reportUs, paces: 'report', run: () => this.#sampleNow() }
    this.#duties = plan.drainUs > 0 ? [report, drain] : [sample]
    this.#reportRefused()
  }

  duties(): readonly Duty[] {
    return this.#duties
  }

  gone(reason: string): void {
    const { absences } = this.#context
    for (const { type, labels } of this.#rows) absences.gone(type, textsOf(labels), reason)
    absences.gone(docaDiagSamplingType, { rdma_device: this.#parts.device }, reason)
    this.#sampling.forget()
    this.#pciUse.gone(reason)
    this.#fullRate?.lose()
  }

  async close(): Promise<void> {
    await this.#pciUse.close()
    await this.#parts.sampler.close()
  }

  async #sampleNow(): Promise<void> {
    await this.#query()
    await this.#report()
  }

  /** Drains in each call while rules watch, otherwise as rarely as reports and the memory of the device allow. */
  #drainIfDue(): void | Promise<void> {
    const { drainUs, restUs } = this.#parts.plan
    const isWatched = this.#fullRate?.isWatched === true
    if (isWatched !== this.#isWatched) this.#reportPeriod(isWatched)
    const nowMs = performance.now()
    // If the drain waited for the next call, it would be later than it is early now.
    const isDue = (nowMs - this.#drainedMs) * 1000 + drainUs / 2 >= restUs
    if (!isWatched && !isDue) return
    return this.#drain(nowMs)
  }

  #reportPeriod(isWatched: boolean): void {
    this.#isWatched = isWatched
    const { device, sampler, plan } = this.#parts
    const { source, intervalMs } = this.#context
    const drainUs = isWatched ? plan.drainUs : plan.restUs
    source.setPeriod(undefined, { device, sampleUs: sampler.periodNs / 1000, drainUs, reportUs: intervalMs * 1000 })
  }

  async #drain(nowMs: number): Promise<void> {
    const { sampler, plan } = this.#parts
    // A failed drain is due again at once. A pause would look like a success.
    this.#drainedMs = Number.NEGATIVE_INFINITY
    for (let query = 0; query < QUERIES_MAX; query++) {
      await this.#query()
      if (sampler.count < plan.querySamples) break
    }
    this.#drainedMs = nowMs
  }

  async #query(): Promise<void> {
    const { sampler } = this.#parts
    const beforeNs = process.hrtime.bigint()
    const failure = await sampler.query()
    const afterNs = process.hrtime.bigint()
    if (failure !== undefined) throw failure.error
    if (sampler.count > 0) this.#take(beforeNs, afterNs)
  }

  /** Takes the samples of a query. */
  #take(beforeNs: bigint, afterNs: bigint): void {
    const { samples, count, sampleBytes } = this.#parts.sampler
    this.#countSkipped(samples.getUint32(SAMPLE_1.sampleId, true))
    const at = (count - 1) * sampleBytes
    const sample = samples.getUint32(at + SAMPLE_1.sampleId, true)
    const high = samples.getUint32(at + SAMPLE_1.earliestHigh, true)
    const ticks = this.#times.ticksOf(high, samples.getUint32(at + SAMPLE_1.earliestLow, true))
    this.#times.learn({ ticks, sample, beforeNs, afterNs })
    this.#sample = sample
    this.#samples += count
    this.#latestTicks = ticks
    this.#queriedNs = afterNs
    const { byteLength } = this.#latest
    new Uint8Array(this.#latest.buffer).set(new Uint8Array(samples.buffer, at + SAMPLE_1.values, byteLength))
    this.#extremes.take(samples, count, sampleBytes)
    this.#fullRate?.put()
  }

  #countSkipped(first: number): void {
    if (this.#sample === undefined) return
    const skipped = (first - this.#sample - 1 + SAMPLE_IDS) % SAMPLE_IDS
    // If the number falls, the device has restarted.
    if (skipped === 0 || skipped >= SAMPLE_IDS / 2) return
    if (this.#gap.samples === 0) this.#gap.fromNs = this.#times.wallNs(this.#latestTicks)
    this.#gap.samples += skipped
    this.#skipped += skipped
  }

  async #report(): Promise<void> {
    if (this.#samples === 0) return
    const { source } = this.#context
    const time = this.#times.isKnown ? this.#times.wallNs(this.#latestTicks) : wallNs()
    const nowMs = performance.now()
    const newest = (at: number) => this.#extremes.of(at) ?? this.#latest.getBigUint64(at * SAMPLE_1.valueBytes, true)
    let pciBytes: object | undefined
    for (const row of this.#rows) {
      const record = recordOf(row, time, newest, nowMs)
      source.report(row.type, record as never)
      if (row.type === docaDiagPciBytesType) pciBytes = record
    }
    this.#extremes.restart()
    const monoNs = this.#times.isKnown ? this.#times.monoNs(this.#latestTicks) : this.#queriedNs
    if (pciBytes !== undefined) await this.#pciUse.report(time, { bytes: pciBytes, monoNs })
    this.#reportSampling(time)
    this.#reportGap(time)
  }

  #reportSampling(time: bigint): void {
    const { device, sampler, plan, cpuRatio } = this.#parts
    const isDrained = plan.drainUs > 0
    const optional = {
      period_seconds: isDrained ? sampler.periodNs / 1e9 : undefined,
      drain_cpu_ratio: isDrained ? cpuRatio() : undefined,
    }
    const reason = isDrained ? 'it is measured in the first ten seconds' : 'without high_frequency nothing is drained'
    for (const [field, value] of Object.entries(optional))
      if (value === undefined) this.#sampling.absent(field, 'not_sampled', reason)
      else this.#sampling.present(field)
    this.#context.source.report(docaDiagSamplingType, {
      time,
      rdma_device: device,
      device_ticks: this.#latestTicks,
      sample_bytes: sampler.sampleBytes,
      samples_total: this.#samples,
      skipped_samples_total: this.#skipped,
      counters: sampler.ids.length,
      refused_counters: sampler.refused.size,
      ...optional,
    })
  }

  #reportGap(time: bigint): void {
    const { samples, fromNs } = this.#gap
    if (samples === 0) return
    this.#gap = { samples: 0, fromNs: 0n }
    const reason = 'the device overwrote samples before they were read'
    const { name: type } = docaDiagSampleType
    const { source } = this.#context
    const series = seriesKey({ ...source.info.labels, rdma_device: this.#parts.device })
    source.report(gapType, { time, type, series, from_ns: fromNs, to_ns: time, records: samples, reason })
  }

  /** Reports the counters that the device refused as absent, with its reason. */
  #reportRefused(): void {
    const { device, sampler } = this.#parts
    const { absences } = this.#context
    for (const [id, { kind, error }] of sampler.refused)
      for (const { type, labels, fields } of rowsOf(device, [id]))
        for (const { name } of fields) absences.set(type, textsOf(labels), name, kind, error.message)
  }
}

function textsOf(labels: Readonly<Record<string, number | string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]))
}
