/** Blocks that are given back wait for the next page, this much of them: what a fast application has under way. */
const FREE_BYTES_MAX = 8 << 20
const SMALLEST_BYTES = 256

/** Memory for pages, in powers of two, so that steady work allocates nothing. */
export class Blocks {
  /** Free blocks by the power. The one that was given back last goes first: it is still in the processor's cache. */
  readonly #free: Buffer[][] = []
  #freeBytes = 0

  /** A block of at least so many bytes, of any content. */
  take(bytes: number): Buffer {
    const power = powerOf(bytes)
    const block = this.#free[power]?.pop()
    if (block === undefined) return Buffer.allocUnsafeSlow(2 ** power)
    this.#freeBytes -= block.length
    return block
  }

  /** Nobody looks at the block any more. */
  give(block: Buffer): void {
    if (this.#freeBytes + block.length > FREE_BYTES_MAX) return
    this.#freeBytes += block.length
    const power = powerOf(block.length)
    this.#free[power] ??= []
    this.#free[power].push(block)
  }
}

/** Length of the block that holds so many bytes. */
export function blockBytes(bytes: number): number {
  return 2 ** powerOf(bytes)
}

function powerOf(bytes: number): number {
  return 32 - Math.clz32(Math.max(bytes, SMALLEST_BYTES) - 1)
}
