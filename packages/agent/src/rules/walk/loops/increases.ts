import type { RingColumn } from '../column.ts'
import { WORD } from './loop.ts'
import type { SampleMatcher } from './match-loop.ts'
import { Wraps } from './wraps.ts'

/** The increase of a column over `overSamples` samples. */
export class Increase {
  readonly column: RingColumn
  readonly overSamples: number
  readonly #wraps: Wraps
  #from = 0

  constructor(column: RingColumn, overSamples: number) {
    this.column = column
    this.overSamples = overSamples
    this.#wraps = new Wraps(overSamples)
  }

  /** The increase up to a sample; undefined while the history is too short. */
  over(sample: number): number | undefined {
    const past = sample - this.overSamples
    if (past < this.#from) return undefined
    return this.column.difference(sample, past) + this.#wraps.before(sample) * WORD
  }

  gap(sample: number): void {
    this.#from = sample
    this.#wraps.clear()
  }

  wrap(sample: number): void {
    if (!this.#wraps.add(sample)) this.gap(sample)
  }
}

/** `dt_gt` and `dt_lt` of numbers with fractions, and of whole numbers that may fall. */
export function differenceMatcher(increase: Increase, value: number, isLess: boolean): SampleMatcher {
  return {
    reachSamples: increase.overSamples,
    match(sample) {
      const risen = increase.over(sample)
      if (risen === undefined) return undefined
      return isLess ? risen < value : risen > value
    },
    gap: (sample) => increase.gap(sample),
    reset: (sample) => increase.gap(sample),
    wrap: (sample) => increase.wrap(sample),
  }
}
