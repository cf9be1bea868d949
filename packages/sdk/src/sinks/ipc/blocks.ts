/** Blocks that are given back wait for the next page, this much of them: what a fast application has under way. */
const FREE_BYTES_MAX = 8 << 20
const SMALLEST_BYTES = 256

/** Smaller blocks are cut out of one of this size: each memory of its own costs microseconds. */
const SLAB_BYTES = 64 << 10

/** Memory for pages, in powers of two, so that steady work allocates nothing. */
export class Blocks {
  /** Free blocks by the power. The one that was given back last goes first: it is still in the processor's cache. */
  readonly #free: Buffer[][] = []
  #freeBytes = 0

  /** A block of at least so many bytes, of any content. */
  take(bytes: number): Buffer {
    const size = blockBytes(bytes)
    if (this.#blocksOf(size).length === 0) this.#allocate(size)
    this.#freeBytes -= size
    return this.#blocksOf(size).pop() as Buffer
  }

  /** Nobody looks at the block any more. */
  give(block: Buffer): void {
    if (this.#freeBytes + block.length > FREE_BYTES_MAX) return
    this.#freeBytes += block.length
    this.#blocksOf(block.length).push(block)
  }

  #blocksOf(size: number): Buffer[] {
    const power = 31 - Math.clz32(size)
    this.#free[power] ??= []
    return this.#free[power]
  }

  #allocate(size: number): void {
    const slab = Buffer.allocUnsafeSlow(Math.max(size, SLAB_BYTES))
    for (let at = 0; at < slab.length; at += size) this.#blocksOf(size).push(slab.subarray(at, at + size))
    this.#freeBytes += slab.length
  }
}

/** Length of the block that holds so many bytes. */
export function blockBytes(bytes: number): number {
  return 2 ** (32 - Math.clz32(Math.max(bytes, SMALLEST_BYTES) - 1))
}
