/** Size of the output memory of a device. V8 does not move a buffer of this size, and a library may write too much. */
const MEMORY_BYTES = 8192
const OUT_BYTES = 8

/** The output memory for the calls of one device: allocated once, and larger than the reported size of any call. */
export class DocaMemory {
  readonly #bytes = Buffer.from(new ArrayBuffer(MEMORY_BYTES))
  /** Where a call writes a number or an address. */
  readonly out: Buffer = this.#bytes.subarray(0, OUT_BYTES)
  /** Where a call writes a second number. */
  readonly second: Buffer = this.#bytes.subarray(OUT_BYTES, 2 * OUT_BYTES)
  readonly text: Buffer = this.#bytes.subarray(64)

  /** The same as {@link out}, of zeros. */
  get cleared(): Buffer {
    return this.out.fill(0)
  }

  /** Zeroed memory for a structure. It is much larger than any known structure, because a newer library writes more. */
  get structure(): Buffer {
    return this.text.fill(0)
  }

  get flag(): boolean {
    return this.out[0] !== 0
  }

  get number(): number {
    return this.out.readUInt32LE()
  }

  get address(): bigint {
    return this.out.readBigUInt64LE()
  }
}
