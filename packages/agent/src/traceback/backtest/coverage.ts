/** Unit: nanoseconds. */
const BUCKET_NS = 10_000_000_000n

/** The times in which something was recorded, at a resolution of 10 s. */
export class Coverage {
  readonly #buckets = new Set<bigint>()
  #last: bigint | undefined

  /** Something was recorded. Unit: nanoseconds since the Unix epoch. */
  note(ns: bigint): void {
    const bucket = ns / BUCKET_NS
    if (bucket === this.#last) return
    this.#last = bucket
    this.#buckets.add(bucket)
  }

  /** Whether nothing was recorded between two times. False for times that are too close to tell. */
  isSilent(fromNs: bigint, toNs: bigint): boolean {
    const first = fromNs / BUCKET_NS + 1n
    const end = toNs / BUCKET_NS
    for (let bucket = first; bucket < end; bucket++) if (this.#buckets.has(bucket)) return false
    return end > first
  }
}
