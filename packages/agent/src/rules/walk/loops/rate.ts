import type { Column } from '../column.ts'
import { WORD } from './loop.ts'
import type { Matcher } from './match-loop.ts'

const SECOND_NS = 1e9
/** More wraps of 32 bits within the window are taken for a reset. */
const WRAPS_MAX = 1024

/** What {@link RateMatcher} is made with. */
export interface RateParts {
  readonly column: Column
  /** Times of the samples. */
  readonly times: Column
  readonly perSecond: number
  readonly overNs: number
  readonly isLess: boolean
}

/** `rate_gt` and `rate_lt`: the increase a second, since the newest sample that is so long ago. */
export class RateMatcher implements Matcher {
  /** As far back as the ring goes, and no further. */
  readonly reachSamples = 1
  readonly #parts: RateParts
  /** First sample that another may be compared with. */
  #from = 0
  /** The newest sample that is so long ago, as far as was seen. */
  #past = 0
  readonly #wraps: number[] = []

  constructor(parts: RateParts) {
    this.#parts = parts
  }

  match(sample: number): boolean | undefined {
    const { column, times, overNs, perSecond, isLess } = this.#parts
    let past = Math.max(this.#past, this.#from, column.ring.oldest)
    if (past >= sample || times.difference(sample, past) < overNs) return undefined
    while (past + 1 < sample && times.difference(sample, past + 1) >= overNs) past++
    this.#past = past
    const wraps = this.#wraps
    while (wraps.length > 0 && (wraps[0] as number) <= past) wraps.shift()
    const risen = column.difference(sample, past) + wraps.length * WORD
    // Both sides are rounded once, so that an equal rate is equal; a quotient would not be.
    const [left, right] = [risen * SECOND_NS, perSecond * times.difference(sample, past)]
    return isLess ? left < right : left > right
  }

  gap(sample: number): void {
    this.#from = sample
    this.#past = sample
    this.#wraps.length = 0
  }

  reset(sample: number): void {
    this.gap(sample)
  }

  wrap(sample: number): void {
    if (this.#wraps.length >= WRAPS_MAX) this.gap(sample)
    else this.#wraps.push(sample)
  }
}
