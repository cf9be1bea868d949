import type { EdgeList } from '../edge-list.ts'
import { wordOf } from '../ring-memory.ts'
import { type LoopParts, type RuleLoop, wordsOf } from './loop.ts'
import { Wraps } from './wraps.ts'

/** What `dt_gt` and `dt_lt` are made with. */
export interface DifferenceParts extends LoopParts {
  readonly value: bigint | number
  readonly isLess: boolean
  readonly overSamples: number
  readonly offSamples: number
}

/**
 * `dt_gt` and `dt_lt` of whole numbers: the increase over so many samples, modulo 2^64. Begins at once, ends after so
 * many samples in a row that do not match.
 */
export class Difference implements RuleLoop {
  readonly reachSamples: number
  readonly #parts: DifferenceParts
  readonly #limit: Uint32Array
  readonly #isNever: boolean
  readonly #wraps: Wraps
  #isActive = false
  #count = 0
  /** First sample that another may be compared with. */
  #from = 0

  constructor(parts: DifferenceParts) {
    const { value, isLess, overSamples } = parts
    this.reachSamples = overSamples
    this.#parts = parts
    this.#isNever = isLess && BigInt(value) === 0n
    this.#limit = wordsOf(isLess ? BigInt(value) - 1n : value)
    this.#wraps = new Wraps(overSamples)
  }

  gap(sample: number): void {
    this.#from = sample
    this.#count = 0
    this.#wraps.clear()
  }

  reset(sample: number): void {
    this.gap(sample)
  }

  wrap(sample: number): void {
    if (!this.#wraps.add(sample)) this.gap(sample)
  }

  walk(first: number, end: number, edges: EdgeList): void {
    const begin = Math.max(first, this.#from + this.#parts.overSamples)
    // The number of wraps between two samples is the same for a stretch, and nearly always 0.
    for (let from = begin; from < end; ) {
      const to = Math.min(end, this.#wraps.nextChange(from))
      this.#walk(from, to, this.#wraps.before(from), edges)
      from = to
    }
  }

  #walk(first: number, end: number, wraps: number, edges: EdgeList): void {
    const { rule, ring, signal, isLess, overSamples, offSamples } = this.#parts
    const { words, strideWords, capacity } = ring
    const limit = this.#limit
    const limitLow = limit[0] as number
    const limitHigh = limit[1] as number
    const isNever = this.#isNever
    const endOfRing = capacity * strideWords
    let isActive = this.#isActive
    let count = this.#count
    let at = wordOf(ring, first, signal.at)
    let past = wordOf(ring, first - overSamples, signal.at)
    for (let sample = first; sample < end; sample++, at += strideWords, past += strideWords) {
      if (past >= endOfRing) past -= endOfRing
      const low = words[at] as number
      const pastLow = words[past] as number
      const borrow = low < pastLow ? 1 : 0
      const high = ((words[at + 1] as number) - (words[past + 1] as number) - borrow + wraps) >>> 0
      const isAbove = high === limitHigh ? (low - pastLow) >>> 0 > limitLow : high > limitHigh
      if ((isAbove !== isLess && !isNever) === isActive) {
        count = 0
        continue
      }
      if (isActive && ++count < offSamples) continue
      isActive = !isActive
      count = 0
      edges.note(sample, rule, isActive)
    }
    this.#isActive = isActive
    this.#count = count
  }
}
