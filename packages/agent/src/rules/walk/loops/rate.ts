import type { RingColumn } from '../column.ts'
import { WORD } from './loop.ts'
import type { SampleMatcher } from './match-loop.ts'

const SECOND_NS = 1e9
/** More 32-bit wraps within the window count as a reset. */
const WRAPS_MAX = 1024

/** Parts of {@link RateMatcher}. */
export interface RateParts {
  readonly column: RingColumn
  /** Times of the samples. */
  readonly times: RingColumn
  readonly perSecond: number
  readonly overNs: number
  readonly isLess: boolean
}

/** `rate_gt` and `rate_lt`: the increase per second since the newest sample that is at least `overNs` old. */
export class RateMatcher implements SampleMatcher {
  /** The ring limits how far it looks back. */
  readonly reachSamples = 1
  readonly #parts: RateParts
  /** First sample that may be compared with a later sample. */
  #from = 0
  /** The newest sample so far that is old enough. */
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
    // Each side is rounded once, so equal rates compare as equal. A quotient would be rounded differently.
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
