const SMALLEST_BYTES = 1024
const LARGEST_BYTES = 1 << 20

/**
 * Memory for blocks of records. Memory of blocks that were written is used again, because fresh memory costs more than
 * the copy, and waits for the garbage collector.
 */
export class BlockMemory {
  readonly #free = new Map<number, ArrayBuffer[]>()
  readonly #keptBytesLimit: number
  #keptBytes = 0

  /** @param keptBytesLimit Memory that is kept for later blocks. Unit: bytes. */
  constructor(keptBytesLimit: number) {
    this.#keptBytesLimit = keptBytesLimit
  }

  /** Memory of a size, with any content. Unit: bytes. */
  take(bytes: number): Uint8Array<ArrayBuffer> {
    if (bytes > LARGEST_BYTES) return new Uint8Array(bytes)
    const size = sizeFor(bytes)
    const kept = this.#free.get(size)?.pop()
    if (kept === undefined) return new Uint8Array(new ArrayBuffer(size), 0, bytes)
    this.#keptBytes -= size
    return new Uint8Array(kept, 0, bytes)
  }

  /** Takes memory back, which must not be used any more. */
  release({ buffer }: Uint8Array): void {
    const size = buffer.byteLength
    if (size > LARGEST_BYTES || this.#keptBytes + size > this.#keptBytesLimit) return
    const free = this.#free.get(size)
    if (free === undefined) this.#free.set(size, [buffer as ArrayBuffer])
    else free.push(buffer as ArrayBuffer)
    this.#keptBytes += size
  }
}

/** Few sizes, so that memory is found again: powers of two and the middle between them. */
function sizeFor(bytes: number): number {
  let size = SMALLEST_BYTES
  while (size < bytes) size *= 2
  return bytes <= size * 0.75 && size > SMALLEST_BYTES ? size * 0.75 : size
}
