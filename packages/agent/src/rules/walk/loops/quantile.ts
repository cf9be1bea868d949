import type { Limit } from '../limit.ts'
import type { Matcher } from './match-loop.ts'

/** What {@link QuantileMatcher} is made with. */
export interface QuantileParts {
  readonly limit: Limit
  readonly quantile: number
  readonly overSamples: number
  readonly isLess: boolean
}

/**
 * `quantile_gt` and `quantile_lt`, exactly and without sorting: the value of rank r is above a limit when fewer than r
 * values are not, and below it when at least r are.
 */
export class QuantileMatcher implements Matcher {
  readonly reachSamples: number
  readonly #parts: QuantileParts
  readonly #rank: number
  #from = 0
  /** Values of the window that are below the limit, or of `quantile_gt` not above it. */
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
