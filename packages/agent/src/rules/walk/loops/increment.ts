import type { EdgeList } from '../edge-list.ts'
import { wordOf } from '../ring-memory.ts'
import { type LoopParts, type RuleLoop, wordsOf } from './loop.ts'

/** What `inc_gt` is made with. */
export interface IncrementParts extends LoopParts {
  readonly value: bigint | number
}

/**
 * `inc_gt` of whole numbers: fires when the value has risen by so much since it fired last, and ends with the next
 * sample that does not fire. What it rose by during a gap counts.
 */
export class Increment implements RuleLoop {
  readonly reachSamples = 0
  readonly #parts: IncrementParts
  readonly #limit: Uint32Array
  /** The value that increases count from: low, high. */
  readonly #from = new Uint32Array(2)
  #hasFrom = false
  #isActive = false

  constructor(parts: IncrementParts) {
    this.#parts = parts
    this.#limit = wordsOf(parts.value)
  }

  reset(sample: number): void {
    const { ring, signal } = this.#parts
    const at = wordOf(ring, sample, signal.at)
    this.#from.set(ring.words.subarray(at, at + 2))
  }

  /** The value that it counts from moves down by 2^32; the difference stays right modulo 2^64. */
  wrap(): void {
    const from = this.#from
    from[1] = (from[1] as number) - 1
  }

  walk(first: number, end: number, edges: EdgeList): void {
    const { rule, ring, signal } = this.#parts
    const { words, strideWords } = ring
    const limit = this.#limit
    const limitLow = limit[0] as number
    const limitHigh = limit[1] as number
    let isActive = this.#isActive
    let at = wordOf(ring, first, signal.at)
    if (!this.#hasFrom && first < end) this.reset(first)
    this.#hasFrom = true
    let fromLow = this.#from[0] as number
    let fromHigh = this.#from[1] as number
    const mayFall = !signal.isCounter
    for (let sample = first; sample < end; sample++, at += strideWords) {
      const low = words[at] as number
      const top = words[at + 1] as number
      const borrow = low < fromLow ? 1 : 0
      const high = (top - fromHigh - borrow) >>> 0
      let isMatch = high === limitHigh ? (low - fromLow) >>> 0 >= limitLow : high > limitHigh
      if (isMatch) {
        // Below the value that it counts from, a gauge has risen by nothing.
        if (mayFall && (top === fromHigh ? borrow === 1 : top < fromHigh)) isMatch = false
        else {
          fromLow = low
          fromHigh = top
        }
      }
      if (isMatch === isActive) continue
      isActive = isMatch
      edges.note(sample, rule, isActive)
    }
    this.#from[0] = fromLow
    this.#from[1] = fromHigh
    this.#isActive = isActive
  }
}
