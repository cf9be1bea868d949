import { wallOffsetNs } from '@sonde/sdk/internal'
import type { DeviceClock } from '../sources/source.ts'
import { type Bracket, halfOf, middleOf } from './bracket.ts'
import { ClockRate } from './clock-rate.ts'

const MILLION = 1_000_000n
const BILLION = 1_000_000_000n
const SECOND_NS = BILLION

/**
 * Converts ticks of a device clock to times of its host. It keeps the bracket with the smallest error at the time of
 * the last bracket: a wide bracket does not replace a narrow bracket that is still better. Between brackets it uses
 * their rate. A clock that was set or restarted is adopted at once; a 64-bit counter may wrap.
 */
export class ClockModel implements DeviceClock {
  readonly ticksPerSecond: number
  /** Number of times that the clock differed from its model: it was set or restarted. */
  steps = 0
  /** The current bracket; undefined before the first. */
  anchor: Bracket | undefined
  /** Millionths of a tick in a second, so that a frequency need not be a whole number. */
  readonly #microTicks: bigint
  /** A reading says no more than which tick it was. Unit: nanoseconds. */
  readonly #tickNs: bigint
  #rate: ClockRate

  /** @param ticksPerSecond Frequency that the device states. Range: above 0. */
  constructor(ticksPerSecond: number) {
    this.ticksPerSecond = ticksPerSecond
    this.#microTicks = BigInt(Math.round(ticksPerSecond * 1e6))
    this.#tickNs = BigInt(Math.ceil(1e9 / ticksPerSecond))
    this.#rate = this.#newRate()
  }

  /**
   * Takes a reading: host clock before, device clock, host clock after. Unit of the host's: nanoseconds of
   * `process.hrtime`.
   */
  bracket(beforeNs: bigint, ticks: bigint, afterNs: bigint): void {
    const fresh = { beforeNs, ticks, afterNs }
    const halfNs = halfOf(fresh)
    const errorNs = this.errorNs(ticks)
    const isFirst = this.anchor === undefined
    const isStep = !isFirst && magnitude(this.monoNs(ticks) - middleOf(fresh)) > halfNs + errorNs
    if (isStep) {
      this.steps++
      this.#rate = this.#newRate()
    }
    this.#rate.learn(fresh)
    if (isFirst || isStep || halfNs <= errorNs) this.anchor = fresh
  }

  /** The host's monotonic clock when the device clock showed `ticks`. Unit: nanoseconds; 0 before the first bracket. */
  monoNs(ticks: bigint): bigint {
    const { anchor } = this
    if (anchor === undefined) return 0n
    const statedNs = this.#statedNs(anchor.ticks, ticks)
    return middleOf(anchor) + statedNs + (statedNs * BigInt(this.#rate.ppb)) / BILLION
  }

  /** How long so many ticks take by the frequency that the device states. Unit: nanoseconds. */
  ticksNs(ticks: bigint): bigint {
    return (ticks * SECOND_NS * MILLION) / this.#microTicks
  }

  /**
   * The same by the wall clock.
   *
   * @param offsetNs Wall clock less monotonic clock. Default: that of now.
   */
  wallNs(ticks: bigint, offsetNs: bigint = wallOffsetNs()): bigint {
    return this.monoNs(ticks) + offsetNs
  }

  /** How far off {@link monoNs} is at most. Unit: nanoseconds; 0 before the first bracket. */
  errorNs(ticks: bigint): bigint {
    const { anchor } = this
    if (anchor === undefined) return 0n
    const awayNs = Math.abs(Number(this.#statedNs(anchor.ticks, ticks)))
    const rateNs = (awayNs * this.#rate.errorPpb(anchor.ticks, awayNs)) / 1e9
    // Divisions round down: one nanosecond each.
    return halfOf(anchor) + this.#tickNs + BigInt(Math.ceil(rateNs)) + 3n
  }

  #newRate(): ClockRate {
    return new ClockRate((from, to) => Number(this.#statedNs(from, to)), Number(this.#tickNs))
  }

  /** From one reading to another, as the device states its frequency: the shorter way round, where it wraps. */
  #statedNs(from: bigint, to: bigint): bigint {
    return this.ticksNs(BigInt.asIntN(64, to - from))
  }
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value
}
