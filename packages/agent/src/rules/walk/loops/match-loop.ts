import type { EdgeList } from '../edge-list.ts'
import { counterFall } from '../falls.ts'
import type { LoopParts, RuleLoop } from './loop.ts'

/** Whether a sample matches. */
export interface SampleMatcher {
  /** Samples before the current sample that it reads. */
  readonly reachSamples: number
  /** Undefined if the result is unknown: the rule then neither begins nor ends. */
  match(sample: number): boolean | undefined
  /** Samples are missing before this sample. */
  gap(sample: number): void
  /** The counter was reset at this sample. Default: ignored. */
  reset?(sample: number): void
  /** The counter wrapped at 2^32 before this sample. Default: ignored. */
  wrap?(sample: number): void
  /** Whether a counter that the matcher itself follows was reset at the last matched sample. */
  hasReset?(): boolean
}

/** Parts of a {@link MatchLoop}. */
export interface MatchParts extends LoopParts {
  readonly matcher: SampleMatcher
  readonly onSamples: number
  readonly offSamples: number
}

/** Begins after `onSamples` consecutive matches, and ends after `offSamples` consecutive samples that do not match. */
export class MatchLoop implements RuleLoop {
  readonly reachSamples: number
  readonly #parts: MatchParts
  readonly #followsFalls: boolean
  #isActive = false
  #count = 0

  constructor(parts: MatchParts) {
    this.#parts = parts
    const { matcher, falls } = parts
    this.reachSamples = matcher.reachSamples
    this.#followsFalls = falls !== undefined && matcher.reset !== undefined
  }

  gap(sample: number): void {
    this.#count = 0
    this.#parts.matcher.gap(sample)
  }

  walk(first: number, end: number, edges: EdgeList): void {
    const { rule, matcher, onSamples, offSamples } = this.#parts
    for (let sample = first; sample < end; sample++) {
      if (this.#followsFalls && sample > 0) this.#follow(sample)
      const isMatch = matcher.match(sample)
      if (matcher.hasReset?.()) this.#count = 0
      if (isMatch === undefined) continue
      if (isMatch === this.#isActive) {
        this.#count = 0
        continue
      }
      if (++this.#count < (this.#isActive ? offSamples : onSamples)) continue
      this.#isActive = isMatch
      this.#count = 0
      edges.note(sample, rule, isMatch)
    }
  }

  #follow(sample: number): void {
    const { signal, column, falls, matcher } = this.#parts
    const kind = counterFall(column, sample, sample - 1)
    if (kind === undefined) return
    falls?.note({ signal, sample, kind })
    if (kind === 'reset') this.#count = 0
    matcher[kind]?.(sample)
  }
}
