/** Entries of the hash table. A power of two. */
const TABLE_BITS = 14
/** Farthest match: an offset of two bytes. */
const OFFSET_MAX = 65_535
/** Longest match of one copy element. */
const COPY_BYTES_MAX = 64
/** Behind this many bytes before the end, no match is looked for. */
const MARGIN_BYTES = 15
/** Literals up to this size are copied in a loop, which is faster than a call. */
const SHORT_BYTES = 32

/**
 * Packs bytes in the block format of Snappy (not the framing format). An encoder keeps its table between calls, so one
 * call must end before the next. Source of the format: `format_description.txt` of google/snappy.
 */
export class SnappyEncoder {
  /** The last place of each hash, plus 1; 0 if there was none. */
  readonly #table = new Int32Array(1 << TABLE_BITS)
  #out = Buffer.allocUnsafeSlow(0)

  /** The packed form of the first `length` bytes. It is a copy. */
  pack(input: Buffer, length: number): Buffer {
    const sizeMax = 32 + length + Math.ceil(length / 6)
    if (this.#out.length < sizeMax) this.#out = Buffer.allocUnsafeSlow(sizeMax * 2)
    const end = packInto(this.#out, input, length, this.#table)
    return Buffer.from(this.#out.subarray(0, end))
  }
}

function packInto(out: Buffer, input: Buffer, length: number, table: Int32Array): number {
  let to = 0
  for (let rest = length; ; rest >>>= 7) {
    if (rest < 128) {
      out[to++] = rest
      break
    }
    out[to++] = (rest & 127) | 128
  }
  if (length <= MARGIN_BYTES) return length === 0 ? to : putLiteral(out, to, input, 0, length)
  table.fill(0)
  const view = new DataView(input.buffer, input.byteOffset, length)
  const limit = length - MARGIN_BYTES
  let at = 0
  let literalFrom = 0
  // Data that does not repeat is passed in growing steps.
  let misses = 32
  while (at < limit) {
    const word = view.getUint32(at, true)
    const slot = Math.imul(word, 0x1e35a7bd) >>> (32 - TABLE_BITS)
    const before = table[slot]! - 1
    table[slot] = at + 1
    if (before < 0 || at - before > OFFSET_MAX || view.getUint32(before, true) !== word) {
      at += misses++ >> 5
      continue
    }
    if (literalFrom < at) to = putLiteral(out, to, input, literalFrom, at)
    const matched = matchedBytes(view, before, at, length)
    to = putCopy(out, to, at - before, matched)
    at += matched
    literalFrom = at
    misses = 32
    // The end of a match often begins the next repetition.
    if (at < limit) table[Math.imul(view.getUint32(at - 1, true), 0x1e35a7bd) >>> (32 - TABLE_BITS)] = at
  }
  return literalFrom < length ? putLiteral(out, to, input, literalFrom, length) : to
}

/** The length of a match whose first four bytes are known to be equal. */
function matchedBytes(view: DataView, before: number, at: number, length: number): number {
  let matched = 4
  const words = length - at - 4
  while (matched <= words && view.getInt32(before + matched, true) === view.getInt32(at + matched, true)) matched += 4
  while (at + matched < length && view.getUint8(before + matched) === view.getUint8(at + matched)) matched++
  return matched
}

function putLiteral(out: Buffer, start: number, input: Buffer, from: number, end: number): number {
  let to = start
  const last = end - from - 1
  if (last < 60) out[to++] = last << 2
  else if (last < 1 << 8) {
    out[to++] = 60 << 2
    out[to++] = last
  } else if (last < 1 << 16) {
    out[to++] = 61 << 2
    out[to++] = last & 255
    out[to++] = last >>> 8
  } else {
    out[to++] = 63 << 2
    to = out.writeUInt32LE(last, to)
  }
  if (last >= SHORT_BYTES) return to + input.copy(out, to, from, end)
  for (let at = from; at < end; at++) out[to++] = input[at]!
  return to
}

function putCopy(out: Buffer, start: number, offset: number, length: number): number {
  let to = start
  let rest = length
  // The rest of a long match must not be shorter than four bytes, which a short copy needs.
  while (rest >= COPY_BYTES_MAX + 4) {
    to = putLongCopy(out, to, offset, COPY_BYTES_MAX)
    rest -= COPY_BYTES_MAX
  }
  if (rest > COPY_BYTES_MAX) {
    to = putLongCopy(out, to, offset, COPY_BYTES_MAX - 4)
    rest -= COPY_BYTES_MAX - 4
  }
  if (rest >= 12 || offset >= 2048) return putLongCopy(out, to, offset, rest)
  out[to++] = ((offset >>> 8) << 5) | ((rest - 4) << 2) | 1
  out[to++] = offset & 255
  return to
}

function putLongCopy(out: Buffer, to: number, offset: number, length: number): number {
  out[to] = ((length - 1) << 2) | 2
  out[to + 1] = offset & 255
  out[to + 2] = offset >>> 8
  return to + 3
}
