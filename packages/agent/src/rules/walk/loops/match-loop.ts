import type { EdgeList } from '../edge-list.ts'
import type { RuleLoop } from './loop.ts'

/** Whether a sample matches. */
export interface Matcher extends Pick<RuleLoop, 'reachSamples' | 'reset' | 'wrap'> {
  /** undefined where it cannot be said: that neither begins nor ends anything. */
  match(sample: number): boolean | undefined
  gap(sample: number): void
}

/** What a {@link MatchLoop} is made with. */
export interface MatchParts {
  readonly rule: number
  readonly matcher: Matcher
  readonly onSamples: number
  readonly offSamples: number
}

/** Begins after so many samples in a row that match, and ends after so many that do not. */
export class MatchLoop implements RuleLoop {
  readonly reachSamples: number
  readonly #parts: MatchParts
  #isActive = false
  #count = 0

  constructor(parts: MatchParts) {
    this.#parts = parts
    this.reachSamples = parts.matcher.reachSamples
  }

  gap(sample: number): void {
    this.#count = 0
    this.#parts.matcher.gap(sample)
  }

  reset(sample: number): void {
    const { matcher } = this.#parts
    if (matcher.reset === undefined) return
    this.#count = 0
    matcher.reset(sample)
  }

  wrap(sample: number): void {
    this.#parts.matcher.wrap?.(sample)
  }

  walk(first: number, end: number, edges: EdgeList): void {
    const { rule, matcher, onSamples, offSamples } = this.#parts
    for (let sample = first; sample < end; sample++) {
      const isMatch = matcher.match(sample)
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
}
