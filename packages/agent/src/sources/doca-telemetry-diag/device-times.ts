import type { DeviceClock, SourceContext } from '../source.ts'

const NS_PER_S = 1_000_000_000n
/** A counter that runs free is followed once so many samples say how fast it is. */
const SAMPLES_MIN = 100
const SAMPLE_IDS = 2 ** 32

/** A reading of the newest sample: when the query began and ended, by the monotonic clock of the host. */
export interface NewestSample {
  readonly ticks: bigint
  readonly sample: number
  readonly beforeNs: bigint
  readonly afterNs: bigint
}

/**
 * Times of samples by the clock that the device stamps them with. A real-time clock counts nanoseconds. Nobody says the
 * frequency of a counter that runs free; samples a known time apart do.
 */
export class DeviceTimes {
  readonly #context: SourceContext
  readonly #device: string
  readonly #periodNs: number
  readonly #hasRealTime: boolean
  #clock: DeviceClock | undefined
  #first: NewestSample | undefined

  constructor(context: SourceContext, device: string, periodNs: number, hasRealTime: boolean) {
    this.#context = context
    this.#device = device
    this.#periodNs = periodNs
    this.#hasRealTime = hasRealTime
    if (hasRealTime) this.#clock = context.clock(device, 'rtc', Number(NS_PER_S))
  }

  /** Whether {@link monoNs} can be asked. */
  get isKnown(): boolean {
    return this.#clock !== undefined
  }

  /** Ticks of a sample, of the two words that it bears. */
  ticksOf(high: number, low: number): bigint {
    return this.#hasRealTime ? BigInt(high) * NS_PER_S + BigInt(low) : (BigInt(high) << 32n) | BigInt(low)
  }

  /** Learns from the newest sample of a query: it was taken within a period before the query, or during it. */
  learn(newest: NewestSample): void {
    this.#clock ??= this.#measured(newest)
    const periodNs = BigInt(Math.round(this.#periodNs))
    this.#clock?.bracket(newest.beforeNs - periodNs, newest.ticks, newest.afterNs)
  }

  /** The host's monotonic clock when the device's showed so many ticks. Unit: nanoseconds. */
  monoNs(ticks: bigint): bigint {
    return this.#clock?.monoNs(ticks) ?? 0n
  }

  wallNs(ticks: bigint): bigint {
    return this.#clock?.wallNs(ticks) ?? 0n
  }

  #measured(newest: NewestSample): DeviceClock | undefined {
    this.#first ??= newest
    const { ticks, sample } = this.#first
    const samples = (newest.sample - sample + SAMPLE_IDS) % SAMPLE_IDS
    const elapsed = newest.ticks - ticks
    if (samples < SAMPLES_MIN || elapsed <= 0n || this.#periodNs <= 0) return undefined
    return this.#context.clock(this.#device, 'frc', (Number(elapsed) / (samples * this.#periodNs)) * 1e9)
  }
}
