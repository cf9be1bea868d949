import type { EdgeList } from '../edge-list.ts'
import { wordOf } from '../ring-memory.ts'
import { type LoopParts, type RuleLoop, wordsOf } from './loop.ts'

/** What `gt` and `lt` are made with. */
export interface ThresholdParts extends LoopParts {
  readonly value: bigint | number
  readonly isLess: boolean
  readonly onSamples: number
  readonly offSamples: number
}

/** `gt` and `lt` of whole numbers: begins after so many samples in a row that match, ends after so many that do not. */
export class Threshold implements RuleLoop {
  readonly reachSamples = 0
  readonly #parts: ThresholdParts
  /** A value matches when it is above this limit; of `lt`, when it is not. */
  readonly #limit: Uint32Array
  /** No value is below 0. */
  readonly #isNever: boolean
  #isActive = false
  #count = 0

  constructor(parts: ThresholdParts) {
    const { value, isLess } = parts
    this.#parts = parts
    this.#isNever = isLess && BigInt(value) === 0n
    this.#limit = wordsOf(isLess ? BigInt(value) - 1n : value)
  }

  gap(): void {
    this.#count = 0
  }

  walk(first: number, end: number, edges: EdgeList): void {
    const { rule, ring, signal, isLess, onSamples, offSamples } = this.#parts
    const { words, strideWords } = ring
    const limit = this.#limit
    const low = limit[0] as number
    const high = limit[1] as number
    const isNever = this.#isNever
    let isActive = this.#isActive
    let count = this.#count
    let at = wordOf(ring, first, signal.at)
    for (let sample = first; sample < end; sample++, at += strideWords) {
      const top = words[at + 1] as number
      const isAbove = top === high ? (words[at] as number) > low : top > high
      if ((isAbove !== isLess && !isNever) === isActive) {
        count = 0
        continue
      }
      count++
      if (count < (isActive ? offSamples : onSamples)) continue
      isActive = !isActive
      count = 0
      edges.note(sample, rule, isActive)
    }
    this.#isActive = isActive
    this.#count = count
  }
}
