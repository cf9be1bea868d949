import type { EdgeList } from '../edge-list.ts'
import { ringWord } from '../ring-memory.ts'
import type { IncrementParts } from './increment.ts'
import { type RuleLoop, u64Words } from './loop.ts'

/**
 * `inc_gt` as in the reference application. After each firing, the target becomes a sum modulo 2^64: the value of the
 * sample that fired plus the rule's value.
 */
export class ReferenceIncrement implements RuleLoop {
  readonly reachSamples = 1
  readonly #parts: IncrementParts
  readonly #value: Uint32Array
  readonly #target = new Uint32Array(2)
  #isNew = true
  #isActive = false

  constructor(parts: IncrementParts) {
    this.#parts = parts
    this.#value = u64Words(parts.value)
  }

  walk(first: number, end: number, edges: EdgeList): void {
    const { rule, column } = this.#parts
    const { words, strideWords } = column.ring
    const target = this.#target
    let targetLow = target[0] as number
    let targetHigh = target[1] as number
    let isNew = this.#isNew
    let isActive = this.#isActive
    let at = ringWord(column.ring, first, column.signal.at)
    for (let sample = first; sample < end; sample++, at += strideWords) {
      if (isNew) {
        this.#aim(sample, at)
        targetLow = target[0] as number
        targetHigh = target[1] as number
      }
      const high = words[at + 1] as number
      const isMatch = high === targetHigh ? (words[at] as number) >= targetLow : high > targetHigh
      isNew = isMatch
      if (isMatch === isActive) continue
      isActive = isMatch
      edges.note(sample, rule, isActive)
    }
    this.#isNew = isNew
    this.#isActive = isActive
  }

  #aim(sample: number, at: number): void {
    const { ring, signal } = this.#parts.column
    const { words } = ring
    const from = sample === 0 ? at : ringWord(ring, sample - 1, signal.at)
    const low = (words[from] as number) + (this.#value[0] as number)
    this.#target[0] = low
    this.#target[1] = (words[from + 1] as number) + (this.#value[1] as number) + (low > 0xffff_ffff ? 1 : 0)
  }
}
