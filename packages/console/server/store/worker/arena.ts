/** Memory that an arena keeps at most between two uses. Unit: bytes. */
const LIMIT_BYTES = 16 << 20

/**
 * Memory for one question, or for one part of a backlog, used again for the next: making and clearing fresh megabytes
 * takes longer than computing on them, and every few of them start a collection of the whole heap. What was taken is
 * valid until `reset`.
 */
export class Arena {
  #memory = new Float64Array(0)
  #used = 0
  #wanted = 0

  /** Memory of any content. */
  take(count: number): Float64Array {
    this.#wanted += count
    if (this.#used + count > this.#memory.length) return new Float64Array(count)
    const taken = this.#memory.subarray(this.#used, this.#used + count)
    this.#used += count
    return taken
  }

  /** So many words of 32 bits, of any content. They start at a multiple of 8 bytes. */
  words(count: number): Uint32Array {
    const { buffer, byteOffset } = this.take((count + 1) >> 1)
    return new Uint32Array(buffer, byteOffset, count)
  }

  /** Takes everything back; the arena grows to what was asked for since the last time. */
  reset(): void {
    const length = Math.min(this.#wanted, LIMIT_BYTES / Float64Array.BYTES_PER_ELEMENT)
    if (length > this.#memory.length) this.#memory = new Float64Array(length)
    this.#used = 0
    this.#wanted = 0
  }
}
