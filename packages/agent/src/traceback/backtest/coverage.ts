/** Unit: nanoseconds. */
const BUCKET_NS = 10_000_000_000n

/** The times in which something was recorded, at a resolution of 10 s. */
export class Coverage {
  readonly #buckets = new Set<bigint>()
  #last: bigint | undefined
  /** The buckets in order; undefined after a change. */
  #sorted: BigUint64Array | undefined

  /** Something was recorded. Unit: nanoseconds since the Unix epoch. */
  note(ns: bigint): void {
    const bucket = ns / BUCKET_NS
    if (bucket === this.#last) return
    this.#last = bucket
    this.#buckets.add(bucket)
    this.#sorted = undefined
  }

  /** Whether nothing was recorded between two times. False for times that are too close to tell. */
  isSilent(fromNs: bigint, toNs: bigint): boolean {
    const first = fromNs / BUCKET_NS + 1n
    const end = toNs / BUCKET_NS
    if (end <= first) return false
    const next = this.#atOrAfter(first)
    return next === undefined || next >= end
  }

  #atOrAfter(bucket: bigint): bigint | undefined {
    this.#sorted ??= BigUint64Array.from(this.#buckets).sort()
    let [low, high] = [0, this.#sorted.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#sorted[middle] as bigint) < bucket) low = middle + 1
      else high = middle
    }
    return this.#sorted[low]
  }
}
