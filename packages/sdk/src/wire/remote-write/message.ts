const FIRST_BYTES = 64 << 10
/** Varints of times are written in two halves: their high half begins at this bit. */
const HIGH_PART = 2 ** 28

/** Bytes of a protobuf message that grows. */
export class MessageBytes {
  bytes = Buffer.allocUnsafeSlow(FIRST_BYTES)
  data = new DataView(this.bytes.buffer)
  /** Number of written bytes. */
  length = 0

  /** Makes room for so many bytes more. Call it before the `put` methods, which do not check. */
  reserve(more: number): void {
    const wanted = this.length + more
    if (wanted <= this.bytes.length) return
    const bytes = Buffer.allocUnsafeSlow(Math.max(wanted, this.bytes.length * 2))
    bytes.set(this.bytes.subarray(0, this.length))
    this.bytes = bytes
    this.data = new DataView(bytes.buffer)
  }

  putByte(byte: number): void {
    this.bytes[this.length++] = byte
  }

  /** A whole number from 0 to 2^32 − 1 as a varint. */
  putVarint(value: number): void {
    const { bytes } = this
    let at = this.length
    let rest = value
    while (rest > 127) {
      bytes[at++] = (rest & 127) | 128
      rest >>>= 7
    }
    bytes[at++] = rest
    this.length = at
  }

  /** A whole number from 0 to 2^53 as a varint; milliseconds since the Unix epoch take 6 bytes. */
  putLongVarint(value: number): void {
    if (value < HIGH_PART) {
      this.putVarint(value)
      return
    }
    const low = value % HIGH_PART
    const { bytes } = this
    const at = this.length
    bytes[at] = (low & 127) | 128
    bytes[at + 1] = ((low >>> 7) & 127) | 128
    bytes[at + 2] = ((low >>> 14) & 127) | 128
    bytes[at + 3] = (low >>> 21) | 128
    this.length = at + 4
    this.putVarint((value - low) / HIGH_PART)
  }

  /** The two words of a double. */
  putDouble(low: number, high: number): void {
    this.data.setUint32(this.length, low, true)
    this.data.setUint32(this.length + 4, high, true)
    this.length += 8
  }

  putBytes(bytes: Uint8Array): void {
    this.bytes.set(bytes, this.length)
    this.length += bytes.length
  }
}

/** Bytes of {@link MessageBytes.putVarint}. */
export function varintBytes(value: number): number {
  return value < 1 << 7 ? 1 : value < 1 << 14 ? 2 : value < 1 << 21 ? 3 : value < 1 << 28 ? 4 : 5
}

/** Bytes of {@link MessageBytes.putLongVarint}. */
export function longVarintBytes(value: number): number {
  return value < HIGH_PART ? varintBytes(value) : 4 + varintBytes(Math.floor(value / HIGH_PART))
}
