/** A piece that is longer than this part of the largest slab has a slab of its own. */
const SHARED_PART = 1 / 4
/** The first slab; each further slab is twice as long, up to the largest. Unit: bytes. */
const FIRST_BYTES = 4 << 10
/** Empty slabs that are kept: a ring frees about as many slabs as it takes. */
const SPARE_COUNT = 2

/** A stretch of memory that several pieces share. */
interface Slab {
  readonly memory: ArrayBuffer
  /** Pieces that are in use. */
  pieces: number
}

/** A piece of a slab, valid until its release. */
export interface Piece {
  readonly bytes: Uint8Array
  readonly slab: Slab
}

/**
 * An allocator for pieces that are released in roughly the order of allocation, as in a ring. Separate buffers would
 * stay as garbage for minutes; a slab is reused as soon as its last piece is released. Pieces start at multiples of 8
 * bytes.
 */
export class Slabs {
  /** Memory of the slabs that hold pieces. Unit: bytes. */
  bytes = 0
  readonly #largestBytes: number
  #current: Slab = { memory: new ArrayBuffer(0), pieces: 0 }
  #used = 0
  readonly #spare: Slab[] = []

  /**
   * @param largestBytes Large enough that few slabs are needed, small enough that a slab which is half empty wastes
   * little.
   */
  constructor(largestBytes: number) {
    this.#largestBytes = largestBytes
  }

  /** Memory of any content. */
  take(length: number): Piece {
    if (length > this.#largestBytes * SHARED_PART) return this.#pieceOf(this.#slabOf(length), 0, length)
    if (this.#used + length > this.#current.memory.byteLength) {
      this.#current = this.#next(length)
      this.#used = 0
    }
    const piece = this.#pieceOf(this.#current, this.#used, length)
    this.#used = (this.#used + length + 7) & ~7
    return piece
  }

  /** Takes a piece back, once: its bytes may be written over from now on. */
  give({ slab }: Piece): void {
    slab.pieces--
    if (slab.pieces > 0) return
    this.bytes -= slab.memory.byteLength
    if (slab === this.#current) this.#used = 0
    else if (this.#isWorthKeeping(slab)) this.#spare.push(slab)
    if (this.#spare.length > SPARE_COUNT) this.#spare.shift()
  }

  #next(length: number): Slab {
    const bytes = Math.max(FIRST_BYTES, 2 * this.#current.memory.byteLength, 4 * length)
    return this.#slabOf(Math.min(this.#largestBytes, bytes))
  }

  /** A spare slab of about this length, else a new slab. */
  #slabOf(bytes: number): Slab {
    const at = this.#spare.findIndex(({ memory }) => memory.byteLength >= bytes && memory.byteLength <= 2 * bytes)
    return this.#spare.splice(at, at < 0 ? 0 : 1)[0] ?? { memory: new ArrayBuffer(bytes), pieces: 0 }
  }

  /**
   * New memory is dear: it counts towards the next collection of all garbage. A few small slabs cost little, and a huge
   * slab is rare.
   */
  #isWorthKeeping({ memory: { byteLength } }: Slab): boolean {
    return byteLength > this.#largestBytes * SHARED_PART && byteLength <= this.#largestBytes
  }

  #pieceOf(slab: Slab, offset: number, length: number): Piece {
    if (slab.pieces === 0) this.bytes += slab.memory.byteLength
    slab.pieces++
    return { bytes: new Uint8Array(slab.memory, offset, length), slab }
  }
}
