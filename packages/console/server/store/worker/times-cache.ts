/** Size of the cache of decoded times. */
const LIMIT_BYTES = 8 << 20

/**
 * Decoded times of segments: the charts of a page query many fields of the same series, which share their times.
 */
export class TimesCache {
  readonly #times = new Map<string, Float64Array>()
  #bytes = 0

  /** Times of a series of a segment in milliseconds; `decode` provides them if they are not cached. */
  of(segment: number, owner: number, decode: () => Float64Array | undefined): Float64Array | undefined {
    const key = `${segment} ${owner}`
    const known = this.#times.get(key)
    if (known !== undefined) return known
    const times = decode()
    if (times === undefined) return undefined
    if (this.#bytes + times.byteLength > LIMIT_BYTES) this.clear()
    this.#times.set(key, times)
    this.#bytes += times.byteLength
    return times
  }

  /** Empties the cache: a segment was deleted, and its number may be reused. */
  clear(): void {
    this.#times.clear()
    this.#bytes = 0
  }
}
