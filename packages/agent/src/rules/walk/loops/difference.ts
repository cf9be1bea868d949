import type { EdgeList } from '../edge-list.ts'
import { counterFall } from '../falls.ts'
import { ringWord } from '../ring-memory.ts'
import { type LoopParts, type RuleLoop, u64Words } from './loop.ts'
import { Wraps } from './wraps.ts'

/** Parts of `dt_gt` and `dt_lt`. */
export interface DifferenceParts extends LoopParts {
  readonly value: bigint | number
  readonly isLess: boolean
  readonly overSamples: number
  readonly offSamples: number
}

/**
 * `dt_gt` and `dt_lt` of whole numbers: the increase over `overSamples` samples, modulo 2^64. Begins at once, and ends
 * after `offSamples` consecutive samples that do not match.
 */
export class Difference implements RuleLoop {
  readonly reachSamples: number
  readonly #parts: DifferenceParts
  readonly #limit: Uint32Array
  readonly #isNever: boolean
  readonly #wraps: Wraps
  #isActive = false
  #count = 0
  /** First sample that may be compared with a later sample. */
  #from = 0
  /** The sample whose fall was already handled. */
  #fallen = -1

  constructor(parts: DifferenceParts) {
    const { value, isLess, overSamples } = parts
    this.reachSamples = overSamples
    this.#parts = parts
    this.#isNever = isLess && BigInt(value) === 0n
    this.#limit = u64Words(isLess ? BigInt(value) - 1n : value)
    this.#wraps = new Wraps(overSamples)
  }

  gap(sample: number): void {
    this.#from = sample
    this.#count = 0
    this.#wraps.clear()
  }

  walk(first: number, end: number, edges: EdgeList): void {
    if (this.#isNever) return
    const { falls, overSamples } = this.#parts
    for (let from = first; from < end; ) {
      const ready = this.#from + overSamples
      // Falls are also followed while the history is too short for a comparison.
      if (from < ready) from = falls === undefined ? Math.min(end, ready) : this.#follow(from, Math.min(end, ready))
      else {
        // The number of wraps between two samples is constant for a stretch, and nearly always 0.
        const to = Math.min(end, this.#wraps.nextChange(from))
        const reached = this.#walk(from, to, this.#wraps.before(from), edges)
        if (reached < to) this.#fall(reached)
        from = reached
      }
    }
  }

  /** Walks up to the first fall. Returns the sample that it reached. */
  #walk(first: number, end: number, wraps: number, edges: EdgeList): number {
    const { rule, column, falls, isLess, overSamples, offSamples } = this.#parts
    const { ring, signal } = column
    const { words, strideWords, capacity } = ring
    const limitLow = this.#limit[0] as number
    const limitHigh = this.#limit[1] as number
    const endOfRing = (capacity * strideWords) | 0
    const followsFalls = falls !== undefined
    const before = ringWord(ring, first === this.#fallen || first === 0 ? first : first - 1, signal.at)
    let beforeLow = words[before] as number
    let beforeHigh = words[before + 1] as number
    let isActive = this.#isActive
    let count = this.#count
    let past = ringWord(ring, first - overSamples, signal.at) | 0
    const from = ringWord(ring, first, signal.at) | 0
    const stop = (from + (end - first) * strideWords) | 0
    let at = from
    let hasFallen = false
    while (at < stop) {
      const isWanted = isActive === isLess
      const needed = isActive ? offSamples : 1
      for (; at < stop; at = (at + strideWords) | 0, past = (past + strideWords) | 0) {
        if (past >= endOfRing) past = (past - endOfRing) | 0
        const low = words[at] as number
        const high = words[at + 1] as number
        if (followsFalls) {
          hasFallen = high === beforeHigh ? low < beforeLow : high < beforeHigh
          if (hasFallen) break
          beforeLow = low
          beforeHigh = high
        }
        const pastLow = words[past] as number
        const borrow = low < pastLow ? 1 : 0
        const risenHigh = (high - (words[past + 1] as number) - borrow + wraps) >>> 0
        const isAbove = risenHigh === limitHigh ? (low - pastLow) >>> 0 > limitLow : risenHigh > limitHigh
        if (isAbove !== isWanted) count = 0
        else {
          count = (count + 1) | 0
          if (count >= needed) break
        }
      }
      if (at >= stop || hasFallen) break
      isActive = !isActive
      count = 0
      edges.note(first + (at - from) / strideWords, rule, isActive)
      at = (at + strideWords) | 0
      past = (past + strideWords) | 0
    }
    this.#isActive = isActive
    this.#count = count
    return first + (at - from) / strideWords
  }

  /** Searches for a fall without comparing values. Returns the sample that it reached. */
  #follow(first: number, end: number): number {
    const { column } = this.#parts
    for (let sample = first; sample < end; sample++) {
      if (sample > 0 && sample !== this.#fallen && column.compare(sample, sample - 1) < 0) {
        this.#fall(sample)
        return sample
      }
    }
    return end
  }

  #fall(sample: number): void {
    const { signal, column, falls } = this.#parts
    const kind = counterFall(column, sample, sample - 1) ?? 'reset'
    this.#fallen = sample
    falls?.note({ signal, sample, kind })
    if (kind === 'reset' || !this.#wraps.add(sample)) this.gap(sample)
  }
}
