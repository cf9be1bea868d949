const BIN_MS = 30_000
const BIN_COUNT = 20

/**
 * What a signal did in the last 10 minutes, in 20 bins of half a minute: 320 bytes, whatever the rate. It gives the
 * mean that a device is compared with, and the number of events that lie further back than a window does.
 */
export class Past {
  readonly #sums = new Float64Array(BIN_COUNT)
  readonly #weights = new Float64Array(BIN_COUNT)
  #newest = Number.NaN
  /** Sums of all bins; asked for more often than anything is added. */
  #sum = 0
  #weightMs = 0
  #isSummed = true

  /** Adds a value that held for `weightMs`, or a number of events that it brought. */
  add(timeMs: number, sum: number, weightMs: number): void {
    const bin = Math.floor(timeMs / BIN_MS)
    this.#advance(bin)
    const at = bin % BIN_COUNT
    this.#sums[at] = (this.#sums[at] ?? 0) + sum
    this.#weights[at] = (this.#weights[at] ?? 0) + weightMs
    this.#isSummed = false
  }

  /** Mean by time; NaN before `leastMs` of values were added. */
  mean(leastMs: number): number {
    this.#addUp()
    return this.#weightMs < leastMs || this.#weightMs === 0 ? Number.NaN : this.#sum / this.#weightMs
  }

  /** Everything added in the last 10 minutes. */
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

  /** A clock that was set back goes on in the bin where it stands, and what lies beyond is forgotten. */
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
