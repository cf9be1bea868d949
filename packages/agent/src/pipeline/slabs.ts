/** A piece that is longer than this part of a slab has a slab of its own. */
const SHARED_PART = 1 / 4

/** A stretch of memory that several pieces share. */
interface Slab {
  readonly memory: ArrayBuffer
  /** Pieces that are in use. */
  pieces: number
}

/** A piece of a slab: memory until it is given back. */
export interface Piece {
  readonly bytes: Uint8Array
  readonly slab: Slab
}

/**
 * Memory for pieces that are taken and given back in about the same order, as those of a ring are. A piece for itself would be garbage that nobody collects for
 * minutes; a slab is used again as soon as its last piece is given back. Pieces start at multiples of 8 bytes.
 */
export class Slabs {
  readonly #slabBytes: number
  readonly #free: Slab[] = []
  #current: Slab = emptySlab(0)
  #used = 0

  /** @param slabBytes Large enough that few are needed, small enough that a slab which is half empty wastes little. */
  constructor(slabBytes: number) {
    this.#slabBytes = slabBytes
  }

  /** Memory of any content. */
  take(length: number): Piece {
    if (length > this.#slabBytes * SHARED_PART) return pieceOf(emptySlab(length), 0, length)
    if (this.#used + length > this.#current.memory.byteLength) {
      this.#current = this.#free.pop() ?? emptySlab(this.#slabBytes)
      this.#used = 0
    }
    const piece = pieceOf(this.#current, this.#used, length)
    this.#used = (this.#used + length + 7) & ~7
    return piece
  }

  /** Takes a piece back, once: its bytes may be written over from now on. */
  give({ slab }: Piece): void {
    slab.pieces--
    if (slab.pieces > 0 || slab.memory.byteLength !== this.#slabBytes) return
    if (slab === this.#current) this.#used = 0
    else this.#free.push(slab)
  }
}

function emptySlab(length: number): Slab {
  return { memory: new ArrayBuffer(length), pieces: 0 }
}

function pieceOf(slab: Slab, offset: number, length: number): Piece {
  slab.pieces++
  return { bytes: new Uint8Array(slab.memory, offset, length), slab }
}
