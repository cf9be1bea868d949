const BIN_MS = 30_000
const BIN_COUNT = 20

/**
 * The last 10 minutes of a signal in 20 bins of half a minute: 320 bytes at any rate. It gives the mean for
 * comparisons, and the number of events beyond the window.
 */
export class Past {
  readonly #sums = new Float64Array(BIN_COUNT)
  readonly #weights = new Float64Array(BIN_COUNT)
  #newest = Number.NaN
  /** Sums of all bins. They are kept because they are read more often than the bins change. */
  #sum = 0
  #weightMs = 0
  #isSummed = true

  /** Adds a value that lasted `weightMs`, or a number of events. */
  add(timeMs: number, sum: number, weightMs: number): void {
    const bin = Math.floor(timeMs / BIN_MS)
    this.#advance(bin)
    const at = bin % BIN_COUNT
    this.#sums[at] = (this.#sums[at] ?? 0) + sum
    this.#weights[at] = (this.#weights[at] ?? 0) + weightMs
    this.#isSummed = false
  }

  /** Mean over time; NaN with less than `leastMs` of values. */
  mean(leastMs: number): number {
    this.#addUp()
    return this.#weightMs < leastMs || this.#weightMs === 0 ? Number.NaN : this.#sum / this.#weightMs
  }

  /** Sum of the last 10 minutes. */
  total(): number {
    this.#addUp()
    return this.#sum
  }

  #addUp(): void {
    if (this.#isSummed) return
    this.#sum = total(this.#sums)
    this.#weightMs = total(this.#weights)
    this.#isSummed = true
  }

  /** Moves to the bin of a time. After a step back of the clock, or a long pause, all bins are cleared. */
  #advance(bin: number): void {
    if (bin === this.#newest) return
    const isNext = bin > this.#newest && bin < this.#newest + BIN_COUNT
    const from = isNext ? this.#newest + 1 : bin - BIN_COUNT + 1
    for (let i = from; i <= bin; i++) {
      const at = ((i % BIN_COUNT) + BIN_COUNT) % BIN_COUNT
      this.#sums[at] = 0
      this.#weights[at] = 0
    }
    this.#newest = bin
  }
}

function total(values: Float64Array): number {
  let sum = 0
  for (const value of values) sum += value
  return sum
}
