/** Views of the same memory for every element width, for encoders and readers. */
export interface Views {
  readonly bytes: Uint8Array
  readonly data: DataView
  readonly u8: Uint8Array
  readonly i8: Int8Array
  readonly u16: Uint16Array
  readonly i16: Int16Array
  readonly u32: Uint32Array
  readonly i32: Int32Array
  readonly f32: Float32Array
  readonly f64: Float64Array
  readonly u64: BigUint64Array
  readonly i64: BigInt64Array
}

/** Views of new, zeroed memory. `bytes` is rounded up to a multiple of 8. */
export function allocateViews(bytes: number): Views {
  const buffer = new ArrayBuffer((bytes + 7) & ~7)
  return makeViews(buffer, 0, buffer.byteLength)
}

/** Limit of memory that is cached. Unit: bytes. */
const LATEST_BYTES_MAX = 1 << 20
/** The last result: several sinks ask for the same batch in turn, and many batches share memory. */
let latest: Views = allocateViews(0)

/** Views of given bytes; bytes that do not start at a multiple of 8 are copied first. */
export function viewsOf(bytes: Uint8Array): Views {
  const { buffer, byteOffset } = bytes
  const wide = (bytes.byteLength + 7) & ~7
  const { u8 } = latest
  if (u8.buffer === buffer && u8.byteOffset === byteOffset && u8.byteLength === wide) return latest
  if (byteOffset % 8 === 0 && byteOffset + wide <= buffer.byteLength) {
    const views = makeViews(buffer as ArrayBuffer, byteOffset, wide)
    if (buffer.byteLength <= LATEST_BYTES_MAX) latest = views
    return views
  }
  const views = allocateViews(wide)
  views.bytes.set(bytes)
  return views
}

function makeViews(buffer: ArrayBuffer, offset: number, length: number): Views {
  return {
    bytes: new Uint8Array(buffer, offset, length),
    data: new DataView(buffer, offset, length),
    u8: new Uint8Array(buffer, offset, length),
    i8: new Int8Array(buffer, offset, length),
    u16: new Uint16Array(buffer, offset, length >> 1),
    i16: new Int16Array(buffer, offset, length >> 1),
    u32: new Uint32Array(buffer, offset, length >> 2),
    i32: new Int32Array(buffer, offset, length >> 2),
    f32: new Float32Array(buffer, offset, length >> 2),
    f64: new Float64Array(buffer, offset, length >> 3),
    u64: new BigUint64Array(buffer, offset, length >> 3),
    i64: new BigInt64Array(buffer, offset, length >> 3),
  }
}
