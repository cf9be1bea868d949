import { type Bracket, halfOf, middleOf } from './bracket.ts'

/** A clock of a device is this much faster or slower than it states, at most. Unit: parts per billion. */
const DRIFT_PPB_MAX = 250_000
/**
 * The rate of a clock changes by this much in a second, at most: a crystal follows the temperature of its board, which
 * takes seconds for a degree. A host whose own clock is slewed faster shows as a step. Unit: parts per billion.
 */
const WANDER_PPB_PER_S = 1000
const WANDER_PPB_PER_NS = WANDER_PPB_PER_S / 1e9
const SECOND_NS = 1_000_000_000n
/** Brackets that are kept to learn from, the narrowest of each second. */
const BRACKET_COUNT = 64

/**
 * The rate difference between host clock and device clock, learned from pairs of brackets. A pair far apart gives the
 * past rate precisely; a pair close together gives the current rate. The pair with the smallest error is used, so that
 * a wide bracket does no harm.
 */
export class ClockRate {
  /** Time of the host minus time of the device. Unit: parts per billion. */
  ppb = 0
  /** How far off that was at most, for the reading `#ticks`. */
  #errorPpb = DRIFT_PPB_MAX
  #ticks = 0n
  readonly #past: Bracket[] = []
  readonly #statedNs: (from: bigint, to: bigint) => number
  readonly #tickNs: number

  /**
   * @param statedNs From one reading to another, as the device states its frequency. Unit: nanoseconds.
   * @param tickNs Unit: nanoseconds.
   */
  constructor(statedNs: (from: bigint, to: bigint) => number, tickNs: number) {
    this.#statedNs = statedNs
    this.#tickNs = tickNs
  }

  /**
   * How far off the rate is at most, as the mean of the time from a reading to another that is `awayNs` from it. Unit:
   * parts per billion.
   */
  errorPpb(ticks: bigint, awayNs = 0): number {
    const sinceNs = Math.abs(this.#statedNs(this.#ticks, ticks))
    const learned = this.#errorPpb + (sinceNs + awayNs / 2) * WANDER_PPB_PER_NS
    return Math.min(learned, DRIFT_PPB_MAX + Math.abs(this.ppb))
  }

  /** Takes a bracket, later than those before. */
  learn(fresh: Bracket): void {
    const past = this.#past
    const last = past.at(-1)
    if (last !== undefined && last.afterNs / SECOND_NS === fresh.afterNs / SECOND_NS) {
      if (halfOf(last) <= halfOf(fresh)) return
      past.pop()
    }
    let leastPpb = this.errorPpb(fresh.ticks)
    for (const one of past) {
      const apartNs = this.#statedNs(one.ticks, fresh.ticks)
      if (apartNs <= 0) continue
      const bracketsNs = Number(halfOf(one) + halfOf(fresh)) + this.#tickNs
      // Half a part for the rounding, and an allowance for the error of the host clock.
      const errorPpb = (bracketsNs / apartNs) * 1e9 + (apartNs / 2) * WANDER_PPB_PER_NS + 2
      if (errorPpb >= leastPpb) continue
      leastPpb = errorPpb
      this.#errorPpb = errorPpb
      this.#ticks = fresh.ticks
      const ppb = Math.round((Number(middleOf(fresh) - middleOf(one)) / apartNs - 1) * 1e9)
      this.ppb = Math.max(-DRIFT_PPB_MAX, Math.min(ppb, DRIFT_PPB_MAX))
    }
    past.push(fresh)
    if (past.length > BRACKET_COUNT) past.shift()
  }
}
