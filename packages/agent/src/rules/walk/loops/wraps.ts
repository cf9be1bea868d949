/** More 32-bit wraps within a window count as a reset. */
const WRAPS_MAX = 16

/** The 32-bit wraps of a counter within the last `overSamples` samples. */
export class Wraps {
  readonly #overSamples: number
  readonly #at: number[] = []

  constructor(overSamples: number) {
    this.#overSamples = overSamples
  }

  clear(): void {
    this.#at.length = 0
  }

  /** Notes a wrap at this sample. Returns false and forgets all wraps if there are too many. */
  add(sample: number): boolean {
    this.before(sample)
    if (this.#at.length >= WRAPS_MAX) {
      this.clear()
      return false
    }
    this.#at.push(sample)
    return true
  }

  /** Number of wraps in the window before this sample. Samples must be given in rising order. */
  before(sample: number): number {
    const at = this.#at
    while (at.length > 0 && (at[0] as number) <= sample - this.#overSamples) at.shift()
    return at.length
  }

  /** First later sample for which the number may differ. */
  nextChange(sample: number): number {
    for (const at of this.#at) if (at + this.#overSamples > sample) return at + this.#overSamples
    return Number.POSITIVE_INFINITY
  }
}
