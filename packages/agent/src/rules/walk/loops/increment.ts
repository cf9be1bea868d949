import type { EdgeList } from '../edge-list.ts'
import { counterFall } from '../falls.ts'
import { ringWord } from '../ring-memory.ts'
import { type LoopParts, type RuleLoop, u64Words } from './loop.ts'

/** Parts of `inc_gt`. */
export interface IncrementParts extends LoopParts {
  readonly value: bigint | number
}

/**
 * `inc_gt` of whole numbers: fires when the value has risen by `value` since the last firing, and ends with the next
 * sample that does not fire. An increase during a gap counts.
 */
export class Increment implements RuleLoop {
  readonly reachSamples = 1
  readonly #parts: IncrementParts
  readonly #limit: Uint32Array
  /** The base value of increases: low word, high word. */
  readonly #from = new Uint32Array(2)
  #hasFrom = false
  #isActive = false
  /** The sample whose fall was already handled. */
  #fallen = -1

  constructor(parts: IncrementParts) {
    this.#parts = parts
    this.#limit = u64Words(parts.value)
  }

  walk(first: number, end: number, edges: EdgeList): void {
    if (!this.#hasFrom) this.#countFrom(first)
    for (let from = first; from < end; ) {
      from = this.#walk(from, end, edges)
      if (from < end) this.#fall(from)
    }
  }

  /** Walks up to the first fall. Returns the sample that it reached. */
  #walk(first: number, end: number, edges: EdgeList): number {
    const { rule, column, falls } = this.#parts
    const { ring, signal } = column
    const { words, strideWords } = ring
    const limitLow = this.#limit[0] as number
    const limitHigh = this.#limit[1] as number
    const followsFalls = falls !== undefined
    const before = ringWord(ring, first === this.#fallen || first === 0 ? first : first - 1, signal.at)
    let beforeLow = words[before] as number
    let beforeHigh = words[before + 1] as number
    let fromLow = this.#from[0] as number
    let fromHigh = this.#from[1] as number
    let isActive = this.#isActive
    const start = ringWord(ring, first, signal.at) | 0
    const stop = (start + (end - first) * strideWords) | 0
    let at = start
    let hasFallen = false
    while (at < stop) {
      for (; at < stop; at = (at + strideWords) | 0) {
        const low = words[at] as number
        const high = words[at + 1] as number
        if (followsFalls) {
          hasFallen = high === beforeHigh ? low < beforeLow : high < beforeHigh
          if (hasFallen) break
          beforeLow = low
          beforeHigh = high
        }
        const borrow = low < fromLow ? 1 : 0
        const risenHigh = (high - fromHigh - borrow) >>> 0
        let isMatch = risenHigh === limitHigh ? (low - fromLow) >>> 0 >= limitLow : risenHigh > limitHigh
        if (isMatch) {
          // A value that may fall has no increase while it is below its base.
          if (!followsFalls && (high === fromHigh ? borrow === 1 : high < fromHigh)) isMatch = false
          else {
            fromLow = low
            fromHigh = high
          }
        }
        if (isMatch !== isActive) break
      }
      if (at >= stop || hasFallen) break
      isActive = !isActive
      edges.note(first + (at - start) / strideWords, rule, isActive)
      at = (at + strideWords) | 0
    }
    this.#from[0] = fromLow
    this.#from[1] = fromHigh
    this.#isActive = isActive
    return first + (at - start) / strideWords
  }

  #countFrom(sample: number): void {
    const { ring, signal } = this.#parts.column
    const at = ringWord(ring, sample, signal.at)
    this.#from.set(ring.words.subarray(at, at + 2))
    this.#hasFrom = true
  }

  #fall(sample: number): void {
    const { signal, column, falls } = this.#parts
    const kind = counterFall(column, sample, sample - 1) ?? 'reset'
    this.#fallen = sample
    falls?.note({ signal, sample, kind })
    if (kind === 'reset') this.#countFrom(sample)
    // The base moves down by 2^32, so the difference stays correct modulo 2^64.
    else this.#from[1] = (this.#from[1] as number) - 1
  }
}
