import type { DeviceClock, SourceContext } from '../source.ts'

const NS_PER_S = 1_000_000_000n
/** Samples after which the frequency of a free-running counter can be computed. */
const SAMPLES_MIN = 100
const SAMPLE_IDS = 2 ** 32

/** A reading of the newest sample, with the start and end of the query on the monotonic clock of the host. */
export interface NewestSample {
  readonly ticks: bigint
  readonly sample: number
  readonly beforeNs: bigint
  readonly afterNs: bigint
}

/**
 * Converts the clock of the device to times. A real-time clock counts nanoseconds. The frequency of a free-running
 * counter is unknown, and is computed from samples a known time apart.
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

  /** Whether {@link monoNs} returns times. */
  get isKnown(): boolean {
    return this.#clock !== undefined
  }

  /** Combines the two words of a sample into ticks. */
  ticksOf(high: number, low: number): bigint {
    return this.#hasRealTime ? BigInt(high) * NS_PER_S + BigInt(low) : (BigInt(high) << 32n) | BigInt(low)
  }

  /** Learns from the newest sample of a query. The device took it during the query or within one period before it. */
  learn(newest: NewestSample): void {
    this.#clock ??= this.#measured(newest)
    const periodNs = BigInt(Math.round(this.#periodNs))
    this.#clock?.bracket(newest.beforeNs - periodNs, newest.ticks, newest.afterNs)
  }

  /** Returns the time of the host's monotonic clock at a number of ticks. Unit: nanoseconds. */
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
