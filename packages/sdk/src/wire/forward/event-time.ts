import type { Batch } from '../../schema/batch.ts'
import type { RecordType } from '../../schema/record-type.ts'

/** Number arithmetic is exact for times that are less than this apart. Unit: ns. */
const NEAR_NS = 2 ** 52
/** The first second that an EventTime cannot carry, in 2106. */
const SECONDS_END = 2 ** 32

/** The time of an event. */
export interface EventTime {
  /** Since the Unix epoch. */
  seconds: number
  nanoseconds: number
}

/**
 * Computes the times of the records of a batch without a bigint for each: the next time is near the one before. A
 * record without a time, or with one that an EventTime cannot carry, gets the time of arrival: receivers replace a time
 * of 0 with their own clock.
 */
export class EventTimes {
  readonly #time: EventTime = { seconds: 0, nanoseconds: 0 }
  readonly #arrival: EventTime
  readonly #offset: number
  readonly #isMicroseconds: boolean
  #nearLow = 0
  #nearHigh = -1
  #nearSeconds = 0
  #nearNanoseconds = 0

  constructor(type: RecordType, { arrivedMs }: Pick<Batch, 'arrivedMs'>) {
    const wallMs = performance.timeOrigin + arrivedMs
    const seconds = Math.floor(wallMs / 1000)
    this.#arrival = { seconds, nanoseconds: Math.floor((wallMs - seconds * 1000) * 1e6) }
    this.#offset = type.time?.offset ?? -1
    this.#isMicroseconds = type.time?.field.resolution === 'us'
  }

  /** The time of the record at `at`; valid until the next call. */
  of(data: DataView, at: number): EventTime {
    if (this.#offset < 0) return this.#arrival
    const low = data.getUint32(at + this.#offset, true)
    const high = data.getUint32(at + this.#offset + 4, true)
    const apartNs = ((high - this.#nearHigh) * 2 ** 32 + (low - this.#nearLow)) * (this.#isMicroseconds ? 1000 : 1)
    if (this.#nearHigh < 0 || Math.abs(apartNs) > NEAR_NS) this.#settle(low, high)
    else {
      const sum = this.#nearNanoseconds + apartNs
      const seconds = Math.floor(sum / 1e9)
      this.#time.seconds = this.#nearSeconds + seconds
      this.#time.nanoseconds = sum - seconds * 1e9
    }
    const { seconds } = this.#time
    return seconds < SECONDS_END && (seconds > 0 || this.#time.nanoseconds > 0) && seconds >= 0
      ? this.#time
      : this.#arrival
  }

  /** Computes a time with bigints; the next times count from it. */
  #settle(low: number, high: number): void {
    const ticks = (BigInt(high) << 32n) | BigInt(low)
    const perSecond = this.#isMicroseconds ? 1_000_000n : 1_000_000_000n
    this.#nearLow = low
    this.#nearHigh = high
    this.#nearSeconds = Number(ticks / perSecond)
    this.#nearNanoseconds = Number(ticks % perSecond) * (this.#isMicroseconds ? 1000 : 1)
    this.#time.seconds = this.#nearSeconds
    this.#time.nanoseconds = this.#nearNanoseconds
  }
}
