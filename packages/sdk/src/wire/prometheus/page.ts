/** The bytes of a page, lent to a reader until `release`. */
export interface Lent {
  readonly bytes: Buffer
  /** The bytes are no longer read: they may be written over. Called once. */
  release(): void
}

/**
 * The text of some lines, whose values are overwritten in place. Lent bytes never change: the page continues with a
 * copy, so that a slow reader costs one copy, even if it never releases the bytes.
 */
export class Page {
  #bytes: Buffer = Buffer.alloc(0)
  #readers = 0
  /** Room of every number on this page. Unit: characters. */
  width = 0
  /** Whether the page must be laid out again before its next use. */
  stale = true
  /** Lines on it as of the last layout. */
  lines = 0

  /** Whether someone reads the bytes, so that the next change copies them. */
  get isLent(): boolean {
    return this.#readers > 0
  }

  /** Unit: bytes. */
  get bytes(): number {
    return this.#bytes.length
  }

  /** The bytes, to be written over. */
  writable(): Buffer {
    return this.#readers === 0 ? this.#bytes : this.#replace(Buffer.allocUnsafeSlow(this.#bytes.length), this.#bytes)
  }

  /** Fresh bytes for a layout of this size. */
  resize(bytes: number): Buffer {
    return this.#replace(Buffer.allocUnsafeSlow(bytes))
  }

  /** Lends the bytes as they are now. */
  lend(): Lent {
    const bytes = this.#bytes
    this.#readers++
    return {
      bytes,
      release: () => {
        if (this.#bytes === bytes) this.#readers--
      },
    }
  }

  #replace(bytes: Buffer, from?: Buffer): Buffer {
    if (from !== undefined) bytes.set(from)
    this.#bytes = bytes
    this.#readers = 0
    return bytes
  }
}
