/** A value that {@link pack} writes. */
export type Packable =
  | null
  | boolean
  | number
  | string
  | Uint8Array
  | readonly Packable[]
  | { readonly [key: string]: Packable }

/** The MessagePack form of a small value: of options, handshakes and log attributes. Records have an encoder. */
export function pack(value: Packable): Buffer {
  if (value === null) return Buffer.of(0xc0)
  if (typeof value === 'boolean') return Buffer.of(value ? 0xc3 : 0xc2)
  if (typeof value === 'number') return packNumber(value)
  if (typeof value === 'string') return packText(Buffer.from(value))
  if (value instanceof Uint8Array)
    return Buffer.concat([value.length < 0x100 ? header(0xc4, value.length, 1) : binaryHeader(value.length), value])
  if (Array.isArray(value)) return Buffer.concat([arrayHeader(value.length), ...value.map(pack)])
  const entries = Object.entries(value)
  return Buffer.concat([mapHeader(entries.length), ...entries.flat().map(pack)])
}

function packNumber(value: number): Buffer {
  if (Number.isInteger(value) && value >= 0 && value < 2 ** 32)
    return value < 0x80 ? Buffer.of(value) : header(0xce, value, 4)
  const bytes = Buffer.alloc(9)
  bytes[0] = Number.isSafeInteger(value) ? 0xd3 : 0xcb
  if (Number.isSafeInteger(value)) bytes.writeBigInt64BE(BigInt(value), 1)
  else bytes.writeDoubleBE(value, 1)
  return bytes
}

/** Text that is UTF-8 already. */
function packText(bytes: Uint8Array): Buffer {
  return Buffer.concat([textHeader(bytes.length), bytes])
}

/** The bytes before a text. */
function textHeader(bytes: number): Buffer {
  if (bytes < 32) return Buffer.of(0xa0 | bytes)
  if (bytes < 0x100) return header(0xd9, bytes, 1)
  return bytes < 0x10000 ? header(0xda, bytes, 2) : header(0xdb, bytes, 4)
}

/** The bytes before the elements of an array. */
export function arrayHeader(count: number): Buffer {
  if (count < 16) return Buffer.of(0x90 | count)
  return count < 0x10000 ? header(0xdc, count, 2) : header(0xdd, count, 4)
}

/** The bytes before the keys and values of a map. */
export function mapHeader(count: number): Buffer {
  if (count < 16) return Buffer.of(0x80 | count)
  return count < 0x10000 ? header(0xde, count, 2) : header(0xdf, count, 4)
}

/** The bytes before a binary. */
export function binaryHeader(bytes: number): Buffer {
  return header(0xc6, bytes, 4)
}

function header(type: number, value: number, width: number): Buffer {
  const bytes = Buffer.alloc(1 + width)
  bytes[0] = type
  bytes.writeUIntBE(value, 1, width)
  return bytes
}
