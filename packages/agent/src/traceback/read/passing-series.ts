import type { RecordType } from '@sonde/sdk'
import type { Slot } from '@sonde/sdk/internal'
import { numberSlotOf } from '../keep/series-book.ts'
import { PassingLane } from './passing-lane.ts'
import { rawAt } from './raw-at.ts'
import type { LaneSignal } from './signals.ts'

/** Without sample numbers, a gap begins after this many usual steps. */
const GAP_STEPS = 2.5

/** The requested time span. Times of samples are relative to its start, in milliseconds. */
export interface SampleSpan {
  /** Unit: nanoseconds since the Unix epoch. */
  readonly fromNs: bigint
  /** Unit: milliseconds. Must be above 0. */
  readonly spanMs: number
  /** Number of equal parts, each with a lowest and a highest value. */
  readonly points: number
}

/** Samples of one series in a block, with their positions and targets. */
export interface BlockSamples {
  readonly count: number
  /** Offset in the block. Unit: bytes. */
  readonly at: Int32Array
  /** Part of the time span; -1 outside of it. */
  readonly point: Int32Array
  /** Index among the exact samples; -1 if they do not fit. */
  readonly held: Int32Array
  /** Time since the previous sample. NaN after a gap and for the first sample. Unit: milliseconds. */
  readonly stepMs: Float64Array
}

/** The lanes of one series while its samples are read. */
export class PassingSeries {
  readonly lanes: readonly PassingLane[]
  /** Number of samples within the time span. */
  samples = 0
  /** Times of the exact samples: the neighbour before the time span, the samples within, the neighbour after it. */
  readonly #times: Float64Array
  readonly #type: RecordType
  readonly #key: readonly number[]
  readonly #stretch: SampleSpan
  readonly #usualMs: number
  readonly #number: Slot | undefined
  #hasBefore = false
  #hasAfter = false
  #lastMs = Number.NaN
  #lastNumber = 0

  /** @param usualMs Usual time between two samples; 0 if unknown. */
  constructor(
    { type, key, usualMs }: { readonly type: RecordType; readonly key: readonly number[]; readonly usualMs: number },
    signals: readonly LaneSignal[],
    stretch: SampleSpan,
  ) {
    this.#type = type
    this.#key = key
    this.#stretch = stretch
    this.#usualMs = usualMs
    this.#number = numberSlotOf(type)
    this.#times = new Float64Array(stretch.points + 2)
    this.lanes = signals.map((signal) => new PassingLane(signal, stretch.points))
  }

  /** Whether every sample of the time span fits. */
  get isExact(): boolean {
    return this.samples <= this.#stretch.points
  }

  /** The used part of the exact samples. */
  held(values: Float64Array = this.#times): Float64Array {
    return values.subarray(this.#hasBefore ? 0 : 1, 1 + this.samples + (this.#hasAfter ? 1 : 0))
  }

  /** Takes the records of a block that belong to this series, one lane per step. */
  *take(data: DataView, count: number): Generator<PassingLane> {
    const places = this.#placesIn(data, count)
    for (const lane of this.lanes) {
      lane.take(this.#type.layout, data, places)
      yield lane
    }
  }

  #placesIn(data: DataView, count: number): BlockSamples {
    const { recordBytes } = this.#type.layout
    const [at, point, held] = [new Int32Array(count), new Int32Array(count), new Int32Array(count)]
    const steps = new Float64Array(count)
    let found = 0
    for (let index = 0; index < count && !this.#hasAfter; index++) {
      const offset = index * recordBytes
      if (!this.#isOf(data, offset)) continue
      const ms = this.#msAt(data, offset)
      at[found] = offset
      steps[found] = this.#stepTo(ms, data, offset)
      point[found] = this.#pointOf(ms)
      held[found] = this.#hold(ms)
      found++
    }
    return { count: found, at, point, held, stepMs: steps }
  }

  /** Time since the previous sample; NaN after a gap. */
  #stepTo(ms: number, data: DataView, at: number): number {
    const stepMs = ms - this.#lastMs
    this.#lastMs = ms
    if (this.#number !== undefined) {
      const number = rawAt(this.#number, data, at)
      const isNext = (number - this.#lastNumber) >>> 0 === 1
      this.#lastNumber = number
      return isNext && stepMs > 0 ? stepMs : Number.NaN
    }
    const isGap = this.#usualMs > 0 && stepMs > GAP_STEPS * this.#usualMs
    return stepMs > 0 && !isGap ? stepMs : Number.NaN
  }

  #pointOf(ms: number): number {
    const { spanMs, points } = this.#stretch
    return ms < 0 || ms > spanMs ? -1 : Math.min(points - 1, Math.floor((ms / spanMs) * points))
  }

  /** Index of a sample among the exact samples. */
  #hold(ms: number): number {
    const { spanMs, points } = this.#stretch
    if (ms < 0) {
      if (this.samples > 0) return -1
      this.#hasBefore = true
      this.#times[0] = ms
      return 0
    }
    if (ms > spanMs) this.#hasAfter = true
    else this.samples++
    const index = this.samples + (ms > spanMs ? 1 : 0)
    if (index > points + 1 || this.samples > points) return -1
    this.#times[index] = ms
    return index
  }

  #isOf(data: DataView, at: number): boolean {
    const { labels } = this.#type
    for (let i = 0; i < labels.length; i++) if (rawAt(labels[i] as Slot, data, at) !== this.#key[i]) return false
    return true
  }

  #msAt(data: DataView, at: number): number {
    const { time } = this.#type
    if (time === undefined) return 0
    const raw = data.getBigUint64(at + time.offset, true)
    return Number((time.field.resolution === 'us' ? raw * 1000n : raw) - this.#stretch.fromNs) / 1e6
  }
}
