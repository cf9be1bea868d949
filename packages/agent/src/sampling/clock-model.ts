import { wallNs } from '@sonde/sdk'
import type { DeviceClock } from '../sources/source.ts'

/** A clock of a device is this much faster or slower than it states, at most. Unit: parts per million. */
const DRIFT_PPM = 100n
const MILLION = 1_000_000n
const SECOND_NS = 1_000_000_000n

/** One reading of the device clock between two of the host's monotonic clock. Unit: nanoseconds, and ticks. */
export interface Bracket {
  readonly beforeNs: bigint
  readonly ticks: bigint
  readonly afterNs: bigint
}

/**
 * Ticks of a device clock as times of its host. It keeps the bracket with the smallest error as of the last one: a wide
 * bracket does not replace a narrow one that is still better. A clock that was set, or began anew, is followed at once.
 */
export class ClockModel implements DeviceClock {
  readonly ticksPerSecond: number
  /** Times that the clock was somewhere else than its model allows: it was set, or began anew. */
  steps = 0
  /** What it goes by; undefined before the first bracket. */
  anchor: Bracket | undefined
  /** Millionths of a tick in a second, so that a frequency need not be a whole number. */
  readonly #microTicks: bigint

  /** @param ticksPerSecond Frequency that the device states. Range: above 0. */
  constructor(ticksPerSecond: number) {
    this.ticksPerSecond = ticksPerSecond
    this.#microTicks = BigInt(Math.round(ticksPerSecond * 1e6))
  }

  /**
   * Takes a reading: host clock before, device clock, host clock after. Unit of the host's: nanoseconds of
   * `process.hrtime`.
   */
  bracket(beforeNs: bigint, ticks: bigint, afterNs: bigint): void {
    const fresh = { beforeNs, ticks, afterNs }
    if (this.anchor === undefined) {
      this.anchor = fresh
      return
    }
    const halfNs = halfOf(fresh)
    const errorNs = this.errorNs(ticks)
    const distanceNs = magnitude(this.monoNs(ticks) - middleOf(fresh))
    const isStep = distanceNs > halfNs + errorNs
    if (isStep) this.steps++
    if (isStep || halfNs <= errorNs) this.anchor = fresh
  }

  /** The host's monotonic clock when the device clock showed `ticks`. Unit: nanoseconds; 0 before the first bracket. */
  monoNs(ticks: bigint): bigint {
    const { anchor } = this
    if (anchor === undefined) return 0n
    return middleOf(anchor) + this.ticksNs(ticks - anchor.ticks)
  }

  /** How long so many ticks take. Unit: nanoseconds. */
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

  /** How far off {@link monoNs} is at most. Unit: nanoseconds. */
  errorNs(ticks: bigint): bigint {
    const { anchor } = this
    if (anchor === undefined) return 0n
    const distanceNs = magnitude(this.monoNs(ticks) - middleOf(anchor))
    // Divisions round down: one nanosecond each.
    return halfOf(anchor) + (distanceNs * DRIFT_PPM) / MILLION + 2n
  }
}

/** Wall clock less monotonic clock, now. Unit: nanoseconds. */
export function wallOffsetNs(): bigint {
  return wallNs() - process.hrtime.bigint()
}

/** The middle of a bracket, by the host's monotonic clock. */
export function middleOf({ beforeNs, afterNs }: Bracket): bigint {
  return (beforeNs + afterNs) / 2n
}

/** The error of a bracket. */
export function halfOf({ beforeNs, afterNs }: Bracket): bigint {
  return (afterNs - beforeNs + 1n) / 2n
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value
}
