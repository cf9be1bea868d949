import type { ValueLimit } from '../value-limit.ts'
import type { SampleMatcher } from './match-loop.ts'

/** Parts of {@link QuantileMatcher}. */
export interface QuantileParts {
  readonly limit: ValueLimit
  readonly quantile: number
  readonly overSamples: number
  readonly isLess: boolean
}

/**
 * `quantile_gt` and `quantile_lt`, exact and without sorting. The value of rank r is above a limit if fewer than r
 * values are at or below it. It is below the limit if at least r values are.
 */
export class QuantileMatcher implements SampleMatcher {
  readonly reachSamples: number
  readonly #parts: QuantileParts
  readonly #rank: number
  #from = 0
  /** Number of values in the window below the limit; for `quantile_gt`, at or below the limit. */
  #under = 0

  constructor(parts: QuantileParts) {
    this.reachSamples = parts.overSamples
    this.#parts = parts
    this.#rank = Math.max(1, Math.ceil(parts.quantile * parts.overSamples))
  }

  match(sample: number): boolean | undefined {
    const { overSamples, isLess } = this.#parts
    const leaving = sample - overSamples
    if (leaving >= this.#from && this.#isUnder(leaving)) this.#under--
    if (this.#isUnder(sample)) this.#under++
    if (leaving + 1 < this.#from) return undefined
    return isLess ? this.#under >= this.#rank : this.#under < this.#rank
  }

  gap(sample: number): void {
    this.#from = sample
    this.#under = 0
  }

  #isUnder(sample: number): boolean {
    const order = this.#parts.limit.compare(sample)
    return this.#parts.isLess ? order < 0 : order <= 0
  }
}
