import { SondeError } from '../../errors.ts'

/** A decoded value. Integers beyond 2^53 are not exact: no server message has them. */
export type Decoded = null | boolean | number | string | Uint8Array | readonly Decoded[] | ReadonlyMap<string, Decoded>

/** The largest message of a server. Unit: bytes. */
const MESSAGE_BYTES_MAX = 8 << 10
/** Values in one message, so that reading a message again with each further byte costs little. */
const VALUES_MAX = 256
const DEPTH_MAX = 4

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/**
 * Decodes the MessagePack objects of a server, in whatever pieces they come. A message beyond the limits is an error,
 * whose message is the predicate of a sentence about the server; nothing is decoded afterwards.
 */
export class ForwardDecoder {
  #rest: Uint8Array = new Uint8Array(0)

  /**
   * The messages that these bytes complete.
   *
   * @throws SondeError `FWD_MESSAGE` if they are no message that a server sends.
   */
  push(bytes: Uint8Array): readonly Decoded[] {
    let rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    const messages: Decoded[] = []
    while (rest.length > 0) {
      const reader = new Reader(rest)
      const value = reader.value(1)
      if (value === INCOMPLETE) break
      if (reader.at > MESSAGE_BYTES_MAX) throw tooLarge()
      rest = rest.subarray(reader.at)
      messages.push(value)
    }
    if (rest.length > MESSAGE_BYTES_MAX) throw tooLarge()
    // The bytes given belong to the socket.
    this.#rest = Uint8Array.from(rest)
    return messages
  }
}

function tooLarge(): SondeError {
  return new SondeError('FWD_MESSAGE', `sent a message of more than ${MESSAGE_BYTES_MAX} bytes`)
}

const INCOMPLETE = Symbol('incomplete')

/** Reads one value from the start of bytes. */
class Reader {
  at = 0
  readonly #bytes: Uint8Array
  readonly #data: DataView
  #values = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  value(depth: number): Decoded | typeof INCOMPLETE {
    if (++this.#values > VALUES_MAX)
      throw new SondeError('FWD_MESSAGE', `sent a message of more than ${VALUES_MAX} values`)
    const type = this.#unsigned(1)
    if (type === INCOMPLETE) return INCOMPLETE
    if (type < 0x80) return type
    if (type < 0x90) return this.#map(type & 0x0f, depth)
    if (type < 0xa0) return this.#array(type & 0x0f, depth)
    if (type < 0xc0) return this.#text(type & 0x1f)
    if (type >= 0xe0) return type - 0x100
    switch (type) {
      case 0xc0:
        return null
      case 0xc2:
      case 0xc3:
        return type === 0xc3
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return this.#binary(this.#unsigned(1 << (type - 0xc4)))
      case 0xca:
        return this.#number(4, () => this.#data.getFloat32(this.at))
      case 0xcb:
        return this.#number(8, () => this.#data.getFloat64(this.at))
      case 0xcc:
      case 0xcd:
      case 0xce:
        return this.#unsigned(1 << (type - 0xcc))
      case 0xcf:
        return this.#number(8, () => Number(this.#data.getBigUint64(this.at)))
      case 0xd0:
        return this.#number(1, () => this.#data.getInt8(this.at))
      case 0xd1:
        return this.#number(2, () => this.#data.getInt16(this.at))
      case 0xd2:
        return this.#number(4, () => this.#data.getInt32(this.at))
      case 0xd3:
        return this.#number(8, () => Number(this.#data.getBigInt64(this.at)))
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.#text(this.#unsigned(1 << (type - 0xd9)))
      case 0xdc:
      case 0xdd:
        return this.#array(this.#unsigned(2 << (type - 0xdc)), depth)
      case 0xde:
      case 0xdf:
        return this.#map(this.#unsigned(2 << (type - 0xde)), depth)
      default:
        throw new SondeError('FWD_MESSAGE', `sent byte 0x${type.toString(16)}, which begins no value of a server`)
    }
  }

  #unsigned(width: number): number | typeof INCOMPLETE {
    return this.#number(width, () =>
      width === 1
        ? this.#data.getUint8(this.at)
        : width === 2
          ? this.#data.getUint16(this.at)
          : this.#data.getUint32(this.at),
    )
  }

  #number(width: number, read: () => number): number | typeof INCOMPLETE {
    if (this.at + width > this.#bytes.length) return INCOMPLETE
    const number = read()
    this.at += width
    return number
  }

  #binary(bytes: number | typeof INCOMPLETE): Uint8Array | typeof INCOMPLETE {
    if (bytes === INCOMPLETE) return INCOMPLETE
    if (bytes > MESSAGE_BYTES_MAX) throw tooLarge()
    if (this.at + bytes > this.#bytes.length) return INCOMPLETE
    const binary = this.#bytes.slice(this.at, this.at + bytes)
    this.at += bytes
    return binary
  }

  #text(bytes: number | typeof INCOMPLETE): string | typeof INCOMPLETE {
    const binary = this.#binary(bytes)
    return binary === INCOMPLETE ? INCOMPLETE : utf8.decode(binary)
  }

  #array(count: number | typeof INCOMPLETE, depth: number): readonly Decoded[] | typeof INCOMPLETE {
    if (count === INCOMPLETE) return INCOMPLETE
    checkDepth(depth)
    const array: Decoded[] = []
    // A forged count ends at the limit of values, or where the bytes end.
    for (let i = 0; i < count; i++) {
      const value = this.value(depth + 1)
      if (value === INCOMPLETE) return INCOMPLETE
      array.push(value)
    }
    return array
  }

  #map(count: number | typeof INCOMPLETE, depth: number): ReadonlyMap<string, Decoded> | typeof INCOMPLETE {
    if (count === INCOMPLETE) return INCOMPLETE
    checkDepth(depth)
    const map = new Map<string, Decoded>()
    for (let i = 0; i < count; i++) {
      const key = this.value(depth + 1)
      const value = key === INCOMPLETE ? INCOMPLETE : this.value(depth + 1)
      if (key === INCOMPLETE || value === INCOMPLETE) return INCOMPLETE
      if (typeof key !== 'string') throw new SondeError('FWD_MESSAGE', 'sent a map with a key that is no text')
      map.set(key, value)
    }
    return map
  }
}

function checkDepth(depth: number): void {
  if (depth > DEPTH_MAX) throw new SondeError('FWD_MESSAGE', `sent a message that nests more than ${DEPTH_MAX} deep`)
}
