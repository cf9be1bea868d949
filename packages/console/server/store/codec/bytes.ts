import { SondeError } from '@sonde/sdk'

/** The only error of the decoder: the bytes are no column of this format, or were damaged. */
export function corrupt(what: string): SondeError {
  return new SondeError('STO_CHUNK_CORRUPT', `a stored chunk cannot be read: ${what}; it is skipped and counted`)
}

/** Initial memory. Most columns are short, and memory for the largest would have to be cleared. Unit: bytes. */
const FIRST_BYTES = 256
/** Memory that a writer keeps for its next use. Unit: bytes. */
const KEPT_BYTES = 64 << 10

/** Appends to a buffer that grows. Integers are little-endian. */
export class ByteWriter {
  #bytes = new Uint8Array(FIRST_BYTES)
  #length = 0

  get length(): number {
    return this.#length
  }

  u8(value: number): void {
    this.#reserve(1)
    this.#bytes[this.#length++] = value
  }

  u32(value: number): void {
    this.#reserve(4)
    const at = this.#length
    this.#bytes[at] = value
    this.#bytes[at + 1] = value >>> 8
    this.#bytes[at + 2] = value >>> 16
    this.#bytes[at + 3] = value >>> 24
    this.#length = at + 4
  }

  /** A 64-bit integer, zigzag, then seven bits a byte: small absolute values are short. */
  varint64(low: number, high: number): void {
    this.#reserve(10)
    const sign = high >> 31
    let lo = ((low << 1) ^ sign) >>> 0
    let hi = (((high << 1) | (low >>> 31)) ^ sign) >>> 0
    while (hi !== 0 || lo > 0x7f) {
      this.#bytes[this.#length++] = (lo & 0x7f) | 0x80
      lo = ((lo >>> 7) | (hi << 25)) >>> 0
      hi >>>= 7
    }
    this.#bytes[this.#length++] = lo
  }

  /** An unsigned number below 2^31, seven bits a byte. */
  varint(value: number): void {
    this.#reserve(5)
    let rest = value
    while (rest > 0x7f) {
      this.#bytes[this.#length++] = (rest & 0x7f) | 0x80
      rest >>>= 7
    }
    this.#bytes[this.#length++] = rest
  }

  append(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.#length)
    this.#length += bytes.length
  }

  setU32(at: number, value: number): void {
    for (let byte = 0; byte < 4; byte++) this.#bytes[at + byte] = value >>> (8 * byte)
  }

  /** The written bytes, as a view that is valid until the next {@link begin}. */
  written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  /** Starts again at the beginning of the same memory. */
  begin(): void {
    this.#length = 0
    if (this.#bytes.length > KEPT_BYTES) this.#bytes = new Uint8Array(FIRST_BYTES)
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + bytes))
    grown.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = grown
  }
}

/** Reads bytes of {@link ByteWriter}. A read past the end throws the decoder's typed error. */
export class ByteReader {
  readonly #bytes: Uint8Array
  #at: number
  /** Low and high word of the last {@link varint64}. Two fields avoid an allocation for each value. */
  low = 0
  high = 0

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes
    this.#at = at
  }

  get remaining(): number {
    return this.#bytes.length - this.#at
  }

  u8(): number {
    const value = this.#bytes[this.#at++]
    if (value === undefined) throw corrupt('it ends early')
    return value
  }

  u32(): number {
    const bytes = this.take(4)
    return ((bytes[0] ?? 0) | ((bytes[1] ?? 0) << 8) | ((bytes[2] ?? 0) << 16) | ((bytes[3] ?? 0) << 24)) >>> 0
  }

  varint(): number {
    let value = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.u8()
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
    throw corrupt('a length has no end')
  }

  varint64(): void {
    let lo = 0
    let hi = 0
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.u8()
      const bits = byte & 0x7f
      if (shift < 32) lo |= bits << shift
      if (shift > 25 && shift < 32) hi |= bits >>> (32 - shift)
      if (shift >= 32) hi |= bits << (shift - 32)
      if (byte < 0x80) {
        const sign = -(lo & 1)
        this.low = (((lo >>> 1) | (hi << 31)) ^ sign) >>> 0
        this.high = ((hi >>> 1) ^ sign) | 0
        return
      }
    }
    throw corrupt('an integer has no end')
  }

  /** The next bytes, as a view. */
  take(count: number): Uint8Array {
    if (count > this.remaining) throw corrupt('it ends early')
    const view = this.#bytes.subarray(this.#at, this.#at + count)
    this.#at += count
    return view
  }
}
