const START_BYTES = 4096
const utf8 = new TextEncoder()

/** The type of a value on the wire: a varint, 8 bytes, bytes with their length, 4 bytes. */
const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const

/** The tag of a field: its number and its type on the wire. */
function tagOf(field: number, wire: keyof typeof WIRE): number {
  return field * 8 + WIRE[wire]
}

/**
 * Writes a protobuf message from its end to its start. The length of an inner message is then known before its tag is
 * written, so nothing is measured or moved. Write the fields of a message in reverse order.
 *
 * @example
 * const end = writer.size
 * writer.text(2, 'eth0')
 * writer.uint(1, 5)
 * writer.close(7, end) // field 7 is the message { 1: 5, 2: "eth0" }
 */
export class ProtobufWriter {
  /** The buffer is filled from its end. */
  #bytes: Uint8Array<ArrayBuffer>
  #data: DataView<ArrayBuffer>
  /** Index of the first byte that is written. */
  #at: number

  constructor(capacityBytes = START_BYTES) {
    this.#bytes = new Uint8Array(capacityBytes)
    this.#data = new DataView(this.#bytes.buffer)
    this.#at = capacityBytes
  }

  /** Bytes written so far. */
  get size(): number {
    return this.#bytes.length - this.#at
  }

  /** Forgets all that was written, and keeps the memory. */
  clear(): void {
    this.#at = this.#bytes.length
  }

  /** Forgets what was written since a former {@link size}. */
  shrink(size: number): void {
    this.#at = this.#bytes.length - size
  }

  /** A copy of all that was written. */
  finish(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(this.#at)
  }

  /** Makes all bytes since `end`, a former {@link size}, the value of a field: an inner message or a packed list. */
  close(field: number, end: number): void {
    this.varint(this.size - end)
    this.varint(tagOf(field, 'bytes'))
  }

  /** Bytes as they are: fields that were encoded before. */
  raw(bytes: Uint8Array): void {
    const { length } = bytes
    this.#reserve(length)
    this.#at -= length
    // A call of `set` costs more than a short loop.
    if (length > 48) this.#bytes.set(bytes, this.#at)
    else for (let i = 0; i < length; i++) this.#bytes[this.#at + i] = bytes[i]!
  }

  /** A field of bytes, or of text that was encoded before. */
  bytes(field: number, bytes: Uint8Array): void {
    this.raw(bytes)
    this.varint(bytes.length)
    this.varint(tagOf(field, 'bytes'))
  }

  /** A field of text. Half of a surrogate pair becomes U+FFFD. */
  text(field: number, text: string): void {
    this.bytes(field, utf8.encode(text))
  }

  /** A field with a whole number from 0 to 2^53. */
  uint(field: number, value: number): void {
    this.varint(value)
    this.varint(tagOf(field, 'varint'))
  }

  /** A field with a whole number of 64 bits with a sign, as an `int64`. */
  int(field: number, value: bigint): void {
    const bits = BigInt.asUintN(64, value)
    if (bits < 0x80n) this.varint(Number(bits))
    else {
      const bytes: number[] = []
      let rest = bits
      for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
      bytes.push(Number(rest))
      this.raw(Uint8Array.from(bytes))
    }
    this.varint(tagOf(field, 'varint'))
  }

  /** A field with 64 bits: a `fixed64`, `sfixed64` or `double` in two words. */
  fixed64(field: number, low: number, high: number): void {
    this.words(low, high)
    this.varint(tagOf(field, 'fixed64'))
  }

  /** A field with 32 bits. */
  fixed32(field: number, value: number): void {
    this.#reserve(4)
    this.#at -= 4
    this.#data.setUint32(this.#at, value, true)
    this.varint(tagOf(field, 'fixed32'))
  }

  /** A field with a `double`. */
  double(field: number, value: number): void {
    this.float64(value)
    this.varint(tagOf(field, 'fixed64'))
  }

  /** A `double` without a tag: an element of a packed list. */
  float64(value: number): void {
    this.#reserve(8)
    this.#at -= 8
    this.#data.setFloat64(this.#at, value, true)
  }

  /** 64 bits without a tag: an element of a packed list. */
  words(low: number, high: number): void {
    this.#reserve(8)
    this.#at -= 8
    this.#data.setUint32(this.#at, low, true)
    this.#data.setUint32(this.#at + 4, high, true)
  }

  /** A whole number from 0 to 2^53 as a varint without a tag. */
  varint(value: number): void {
    this.#reserve(10)
    if (value < 0x80) {
      this.#bytes[--this.#at] = value
      return
    }
    let length = 1
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length++
    this.#at -= length
    let at = this.#at
    let rest = value
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.#bytes[at++] = (rest % 0x80) | 0x80
    this.#bytes[at] = rest
  }

  #reserve(bytes: number): void {
    if (this.#at >= bytes) return
    const { size } = this
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, size + bytes))
    grown.set(this.#bytes.subarray(this.#at), grown.length - size)
    this.#bytes = grown
    this.#data = new DataView(grown.buffer)
    this.#at = grown.length - size
  }
}
