/** One field of a message: a varint or a number of 4 or 8 bytes as `number`, or the bytes of a value with a length. */
export interface ProtobufField {
  readonly field: number
  readonly wire: number
  /** Value of a varint; 0 for other fields. Signed 64 bits. */
  readonly value: bigint
  /** The bytes of a value of 4 or 8 bytes, or with a length; empty for a varint. */
  readonly bytes: Uint8Array
}

const NONE = new Uint8Array(0)

/**
 * Reads the fields of a message in their order. Unknown fields are for the caller to skip. Ends without an error at
 * the first fault: `isWhole` of the generator's result tells.
 *
 * @returns whether the bytes end with a field.
 */
export function* readFields(bytes: Uint8Array): Generator<ProtobufField, boolean> {
  let at = 0
  const varint = (): bigint | undefined => {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at++]
      if (byte === undefined) return undefined
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    return undefined
  }
  while (at < bytes.length) {
    const tag = varint()
    if (tag === undefined || tag > 0xffff_ffffn) return false
    const [field, wire] = [Number(tag >> 3n), Number(tag & 7n)]
    if (wire === 0) {
      const value = varint()
      if (value === undefined) return false
      yield { field, wire, value: BigInt.asIntN(64, value), bytes: NONE }
      continue
    }
    const length = wire === 1 ? 8n : wire === 5 ? 4n : wire === 2 ? varint() : undefined
    if (length === undefined || length > BigInt(bytes.length - at)) return false
    yield { field, wire, value: 0n, bytes: bytes.subarray(at, at + Number(length)) }
    at += Number(length)
  }
  return true
}
