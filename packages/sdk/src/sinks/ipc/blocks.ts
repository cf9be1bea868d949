const SMALLEST_BYTES = 256

/** Smaller blocks are cut out of one of this size: each memory of its own costs microseconds. */
const SLAB_BYTES = 64 << 10

/** Memory for pages, in powers of two, so that steady work allocates nothing. */
export class Blocks {
  /** Free blocks by power of two. The last returned block is used first: it is still in the processor's cache. */
  readonly #free: Buffer[][] = []
  #freeBytes = 0
  #takenBytes = 0
  readonly #bytesMax: number

  /** @param bytesMax Limit of all free blocks that are kept for later pages. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** A block of at least so many bytes, of any content. */
  take(bytes: number): Buffer {
    const size = blockBytes(bytes)
    if (this.#blocksOf(size).length === 0) this.#allocate(size)
    this.#freeBytes -= size
    this.#takenBytes += size
    return this.#blocksOf(size).pop() as Buffer
  }

  /** The block is done with; it may be taken again unless somebody still looks at it. */
  give(block: Buffer, isSeen: boolean): void {
    this.#takenBytes -= block.length
    if (isSeen || this.#freeBytes + this.#takenBytes + block.length > this.#bytesMax) return
    this.#freeBytes += block.length
    this.#blocksOf(block.length).push(block)
  }

  /** Leaves what waits beyond so much to the collector. */
  trim(bytesMax: number): void {
    for (const blocks of this.#free) {
      while (this.#freeBytes > bytesMax && blocks?.length > 0) this.#freeBytes -= (blocks.pop() as Buffer).length
    }
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
