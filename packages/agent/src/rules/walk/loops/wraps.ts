/** More wraps of 32 bits within a window are taken for a reset. */
const WRAPS_MAX = 16

/** Wraps of 32 bits of one counter, as far as they lie between a sample and that so many samples before it. */
export class Wraps {
  readonly #overSamples: number
  readonly #at: number[] = []

  constructor(overSamples: number) {
    this.#overSamples = overSamples
  }

  clear(): void {
    this.#at.length = 0
  }

  /** The counter wrapped to this sample. False if there were too many: nothing of them is known any more. */
  add(sample: number): boolean {
    this.before(sample)
    if (this.#at.length >= WRAPS_MAX) {
      this.clear()
      return false
    }
    this.#at.push(sample)
    return true
  }

  /** How many lie between this sample and the past one. Samples are asked for in their order. */
  before(sample: number): number {
    const at = this.#at
    while (at.length > 0 && (at[0] as number) <= sample - this.#overSamples) at.shift()
    return at.length
  }

  /** First sample after this one for which there may be another number of them. */
  nextChange(sample: number): number {
    for (const at of this.#at) if (at + this.#overSamples > sample) return at + this.#overSamples
    return Number.POSITIVE_INFINITY
  }
}
