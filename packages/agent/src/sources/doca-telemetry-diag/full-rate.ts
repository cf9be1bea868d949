import { type RecordType, viewsOf } from '@sonde/sdk'
import { encoderOf } from '@sonde/sdk/internal'
import { SAMPLE_1 } from '../../native/doca/layout.ts'
import type { SampleRing, SourceContext } from '../source.ts'
import type { Sampler } from './card.ts'
import type { DeviceTimes } from './device-times.ts'
import { sampleFieldOf } from './type.ts'

const WORD = 2 ** 32
const RTC_WORD = 1_000_000_000
/** Times that are ahead of the clock advance at least at this share of its speed. */
const SLOWEST = 0.95
/** Bytes of time, ticks, stamp, device and number of the sample, before the values. */
const HEADER_BYTES = 32

/** Parts of a {@link FullRate}. */
export interface FullRateParts {
  readonly device: string
  readonly type: RecordType
  readonly sampler: Sampler
  readonly times: DeviceTimes
  readonly hasRealTime: boolean
  /** Number of samples that are kept. */
  readonly ringSamples: number
  /** Highest number of samples in one query. */
  readonly querySamples: number
}

/** Puts the samples of one device into a ring of the host, each as a packed record. */
export class FullRate {
  readonly #parts: FullRateParts
  readonly #ring: SampleRing
  readonly #recordBytes: number
  /** Records of a query; the device is already filled in. */
  readonly #records: Uint8Array
  readonly #words: Uint32Array
  /** Ticks in one unit of the high word. */
  readonly #unit: number
  /** Words of the first sample of the query. */
  #high = 0
  #low = 0
  #lastNs = 0n

  constructor(parts: FullRateParts, context: SourceContext) {
    const { type, device, ringSamples, querySamples } = parts
    this.#parts = parts
    this.#ring = context.sampled(type, device, ringSamples)
    this.#unit = parts.hasRealTime ? RTC_WORD : WORD
    this.#recordBytes = type.layout.recordBytes
    this.#records = new Uint8Array(querySamples * this.#recordBytes)
    this.#words = new Uint32Array(this.#records.buffer)
    const encode = encoderOf(type, context.source.symbols)
    const ids = Object.fromEntries(parts.sampler.ids.map((id) => [sampleFieldOf(id), 0]))
    const views = viewsOf(this.#records)
    const record = { time: 0, device_ticks: 0, stamp: 0, rdma_device: device, sample: 0, ...ids } as never
    for (let at = 0; at < querySamples; at++) encode(record, views, at * this.#recordBytes)
  }

  /** Whether rules look at each sample. */
  get isWatched(): boolean {
    return this.#ring.isWatched
  }

  /**
   * Puts the samples of the last query into the ring. It creates no object for a sample, because there are 80 000 per
   * second.
   */
  put(): void {
    const { sampler, times } = this.#parts
    const { samples, count, sampleBytes, ids } = sampler
    if (count === 0 || !times.isKnown) return
    const source = new Uint8Array(samples.buffer)
    const valueBytes = ids.length * SAMPLE_1.valueBytes
    const pace = this.#paceOf(samples, (count - 1) * sampleBytes)
    const [timeHigh, timeLow] = wordsOf(pace.firstNs)
    const [ticksHigh, ticksLow] = wordsOf(pace.firstTicks)
    const words = this.#words
    let elapsedNs = 0
    for (let index = 0; index < count; index++) {
      const at = index * sampleBytes
      const elapsed = this.#elapsed(samples, at)
      // The times in a ring must rise, even if a clock was set back.
      elapsedNs = Math.max(elapsedNs, Math.round(elapsed * pace.nsPerTick))
      const to = index * this.#recordBytes
      const word = to >>> 2
      words[word] = timeLow + elapsedNs
      words[word + 1] = timeHigh + Math.floor((timeLow + elapsedNs) / WORD)
      words[word + 2] = ticksLow + elapsed
      words[word + 3] = ticksHigh + Math.floor((ticksLow + elapsed) / WORD)
      words[word + 4] = samples.getUint32(at + SAMPLE_1.latestLow, true)
      words[word + 5] = samples.getUint32(at + SAMPLE_1.earliestHigh, true)
      words[word + 7] = samples.getUint32(at + SAMPLE_1.sampleId, true)
      const values = at + SAMPLE_1.values
      this.#records.set(source.subarray(values, values + valueBytes), to + HEADER_BYTES)
    }
    this.#lastNs = pace.firstNs + BigInt(elapsedNs)
    this.#ring.put(this.#records.subarray(0, count * this.#recordBytes), pace.aheadNs)
  }

  /** Reports that no more samples come. */
  lose(): void {
    this.#ring.lose()
  }

  /** Times between the first and the last sample are interpolated: in so short a time no clock changes its speed. */
  #paceOf(samples: DataView, lastAt: number) {
    const { times } = this.#parts
    const ticksAt = (at: number) =>
      times.ticksOf(
        samples.getUint32(at + SAMPLE_1.earliestHigh, true),
        samples.getUint32(at + SAMPLE_1.earliestLow, true),
      )
    this.#high = samples.getUint32(SAMPLE_1.earliestHigh, true)
    this.#low = samples.getUint32(SAMPLE_1.earliestLow, true)
    const [firstTicks, lastTicks] = [ticksAt(0), ticksAt(lastAt)]
    const [ownNs, endNs] = [times.monoNs(firstTicks), times.monoNs(lastTicks)]
    const span = Number(lastTicks - firstTicks)
    // If two queries shared a time, it would be on both sides of the end of a window.
    const firstNs = ownNs > this.#lastNs ? ownNs : this.#lastNs + 1n
    const aheadNs = firstNs - ownNs
    if (span <= 0 || endNs <= ownNs) return { firstTicks, nsPerTick: 0, firstNs, aheadNs }
    // Earlier times may be ahead, because the clock was known less precisely. They slow down until the clock catches
    // up, because rates are computed from them.
    const nsPerTick = Math.max(Number(endNs - firstNs), Number(endNs - ownNs) * SLOWEST) / span
    return { firstTicks, nsPerTick, firstNs, aheadNs }
  }

  /** Returns the ticks of a sample since the first sample of its query. */
  #elapsed(samples: DataView, at: number): number {
    const high = samples.getUint32(at + SAMPLE_1.earliestHigh, true)
    const low = samples.getUint32(at + SAMPLE_1.earliestLow, true)
    return (high - this.#high) * this.#unit + (low - this.#low)
  }
}

/** Splits a u64 into two words. */
function wordsOf(value: bigint): readonly [high: number, low: number] {
  return [Number(value >> 32n), Number(value & 0xffff_ffffn)]
}
