// The rules of the reference application, one sample at a time, as its state machine is written down. Slow on purpose:
// it is the other side of comparisons with the engine, and shares nothing with it.

/** The five rules of the reference application, by their short names. */
export type ReferenceKind = 'gt' | 'lt' | 'inc_gt' | 'dt_gt' | 'dt_lt'

/** A rule as the reference application keeps it. */
export interface ReferenceTest {
  readonly kind: ReferenceKind
  /** The comparison value, modulo 2^64. */
  readonly value: bigint
  /** The history depth: what differences span, and how many samples in a row begin and end most rules. */
  readonly depth: number
}

/** State of a rule of the reference application. */
export class ReferenceRule {
  readonly #test: ReferenceTest
  readonly #threshold: number
  #isActive = false
  #count = 0
  #setNew = true
  #target = 0n

  constructor(test: ReferenceTest) {
    this.#test = test
    this.#threshold = test.kind === 'inc_gt' ? 1 : test.depth
  }

  get isActive(): boolean {
    return this.#isActive
  }

  /** Takes what the ring has stored of the rule's column, the newest last. Gives whether the rule changed. */
  evaluate(stored: readonly bigint[]): boolean {
    const { kind } = this.#test
    if (kind === 'dt_gt' || kind === 'dt_lt') this.#compareDifference(stored)
    else this.#compareValue(stored)
    if (this.#count < this.#threshold) return false
    this.#isActive = !this.#isActive
    this.#count = 0
    return true
  }

  #compareValue(stored: readonly bigint[]): void {
    const isMatch = this.#matchesValue(stored)
    if (this.#isActive !== isMatch) this.#count += 1
    else this.#count = 0
  }

  #matchesValue(stored: readonly bigint[]): boolean {
    const { kind, value } = this.#test
    const newest = previous(stored, 0)
    if (kind === 'gt') return newest > value
    if (kind === 'lt') return newest < value
    if (this.#setNew) {
      const reference = stored.length === 1 ? newest : previous(stored, 1)
      this.#target = wrap(reference + value)
      this.#setNew = false
    }
    const isMatch = newest >= this.#target
    if (isMatch) this.#setNew = true
    return isMatch
  }

  #compareDifference(stored: readonly bigint[]): void {
    const { kind, value, depth } = this.#test
    if (stored.length <= depth) return
    const difference = wrap(previous(stored, 0) - previous(stored, depth))
    const isMatch = kind === 'dt_gt' ? difference > value : difference < value
    if (!this.#isActive && isMatch) this.#count = this.#threshold
    else if (this.#isActive && !isMatch) this.#count += 1
    else this.#count = 0
  }
}

/** The value so many samples ago; 0 is the newest. */
function previous(stored: readonly bigint[], ago: number): bigint {
  const value = stored[stored.length - 1 - ago]
  if (value === undefined) throw new Error(`the ring has no sample ${ago} ago`)
  return value
}

function wrap(value: bigint): bigint {
  return BigInt.asUintN(64, value)
}
