import type { EdgeList } from '../edge-list.ts'
import { ringWord } from '../ring-memory.ts'
import { type LoopParts, type RuleLoop, u64Words } from './loop.ts'

/** Parts of `gt` and `lt`. */
export interface ThresholdParts extends LoopParts {
  readonly value: bigint | number
  readonly isLess: boolean
  readonly onSamples: number
  readonly offSamples: number
}

/**
 * `gt` and `lt` of whole numbers. Begins after `onSamples` consecutive matches, and ends after `offSamples` consecutive
 * samples that do not match.
 */
export class Threshold implements RuleLoop {
  readonly reachSamples = 0
  readonly #parts: ThresholdParts
  /** `gt` matches values above this limit; `lt` matches all other values. */
  readonly #limit: Uint32Array
  /** No value is below 0. */
  readonly #isNever: boolean
  #isActive = false
  #count = 0

  constructor(parts: ThresholdParts) {
    const { value, isLess } = parts
    this.#parts = parts
    this.#isNever = isLess && BigInt(value) === 0n
    this.#limit = u64Words(isLess ? BigInt(value) - 1n : value)
  }

  gap(): void {
    this.#count = 0
  }

  walk(first: number, end: number, edges: EdgeList): void {
    if (this.#isNever) return
    const { rule, column, isLess, onSamples, offSamples } = this.#parts
    const { words, strideWords } = column.ring
    const limitLow = this.#limit[0] as number
    const limitHigh = this.#limit[1] as number
    let isActive = this.#isActive
    let count = this.#count
    const from = ringWord(column.ring, first, column.signal.at) | 0
    const stop = (from + (end - first) * strideWords) | 0
    let at = from
    while (at < stop) {
      // Whether a sample counts if it is above the limit.
      const isWanted = isActive === isLess
      const needed = isActive ? offSamples : onSamples
      for (; at < stop; at = (at + strideWords) | 0) {
        const high = words[at + 1] as number
        if ((high > limitHigh || (high === limitHigh && (words[at] as number) > limitLow)) !== isWanted) count = 0
        else {
          count = (count + 1) | 0
          if (count >= needed) break
        }
      }
      if (at >= stop) break
      isActive = !isActive
      count = 0
      edges.note(first + (at - from) / strideWords, rule, isActive)
      at = (at + strideWords) | 0
    }
    this.#isActive = isActive
    this.#count = count
  }
}
