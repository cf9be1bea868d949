/** Memory of decoded times. */
const LIMIT_BYTES = 8 << 20

/**
 * Decoded times of segments: the charts of a page ask for many fields of the same series, and all of them share their
 * times.
 */
export class TimesCache {
  readonly #times = new Map<string, Float64Array>()
  #bytes = 0

  /** Times of a series of a segment in milliseconds; decoded by `decode` if they are not at hand. */
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

  /** Forgets all: a segment was deleted, and its number may be given to another. */
  clear(): void {
    this.#times.clear()
    this.#bytes = 0
  }
}
