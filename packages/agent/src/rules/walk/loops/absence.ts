import type { RingColumn } from '../column.ts'
import type { EdgeList } from '../edge-list.ts'
import type { RuleLoop } from './loop.ts'

/** Parts of {@link AbsenceLoop}. */
export interface AbsenceParts {
  readonly rule: number
  /** Times of the samples. */
  readonly times: RingColumn
  readonly forNs: number
}

/**
 * `absent`: begins a time after the last sample, and ends with the next sample. The beginning is noted at the last
 * sample before the gap, and its time is `forNs` later. A sample exactly at that time is not late.
 */
export class AbsenceLoop implements RuleLoop {
  readonly reachSamples = 1
  readonly #parts: AbsenceParts
  #isActive = false

  constructor(parts: AbsenceParts) {
    this.#parts = parts
  }

  walk(first: number, end: number, edges: EdgeList): void {
    const { rule, times, forNs } = this.#parts
    for (let sample = first; sample < end; sample++) {
      const isLate = !this.#isActive && sample > 0 && times.difference(sample, sample - 1) > forNs
      if (isLate) edges.note(sample - 1, rule, true)
      if (isLate || this.#isActive) edges.note(sample, rule, false)
      this.#isActive = false
    }
  }

  /**
   * Time passes without a sample.
   * @param last The last sample.
   * @param sinceNs Time since the last sample.
   */
  wait(last: number, sinceNs: number, edges: EdgeList): void {
    if (this.#isActive || sinceNs < this.#parts.forNs) return
    this.#isActive = true
    edges.note(last, this.#parts.rule, true)
  }
}
