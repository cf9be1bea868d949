/** Memory that an arena keeps between two uses. Unit: bytes. */
const LIMIT_BYTES = 16 << 20

/**
 * Memory for one question, or for one part of a backlog, reused for the next: allocating and clearing megabytes takes
 * longer than computing on them, and soon starts a collection of the whole heap. Arrays are valid until `reset`.
 */
export class Arena {
  #memory = new Float64Array(0)
  #used = 0
  #wanted = 0

  /** Memory with undefined content. */
  take(count: number): Float64Array {
    this.#wanted += count
    if (this.#used + count > this.#memory.length) return new Float64Array(count)
    const taken = this.#memory.subarray(this.#used, this.#used + count)
    this.#used += count
    return taken
  }

  /** This many 32-bit words, with undefined content. They start at a multiple of 8 bytes. */
  words(count: number): Uint32Array {
    const { buffer, byteOffset } = this.take((count + 1) >> 1)
    return new Uint32Array(buffer, byteOffset, count)
  }

  /** Frees everything; the arena grows to the size that was requested since the last reset. */
  reset(): void {
    const length = Math.min(this.#wanted, LIMIT_BYTES / Float64Array.BYTES_PER_ELEMENT)
    if (length > this.#memory.length) this.#memory = new Float64Array(length)
    this.#used = 0
    this.#wanted = 0
  }
}
