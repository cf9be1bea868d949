/** Memory that is kept between two uses. Unit: bytes. */
const KEPT_BYTES = 256 << 10

/**
 * Memory of one step of the codec, reused for the next column: most columns are short, and allocating and clearing
 * memory for each takes longer than packing.
 */
export class Scratch {
  #memory = new Float64Array(0)

  /** Numbers with undefined content, valid until the next call. */
  numbers(count: number): Float64Array {
    if (count > this.#memory.length) {
      const memory = new Float64Array(Math.max(count, Math.min(2 * count, KEPT_BYTES / Float64Array.BYTES_PER_ELEMENT)))
      if (memory.byteLength > KEPT_BYTES) return memory
      this.#memory = memory
    }
    return this.#memory.subarray(0, count)
  }

  /** The same memory as low and high words, for this many numbers. */
  words(count: number): Uint32Array {
    const { buffer, byteOffset } = this.numbers(count)
    return new Uint32Array(buffer, byteOffset, 2 * count)
  }
}
