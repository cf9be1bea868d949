/** Number of words for `count` values of `width` bits. */
export function packedWords(count: number, width: number): number {
  return Math.ceil((count * width) / 32)
}

/**
 * Packs the low `width` bits (0 to 32) of `count` values, lowest bit first, into `out` from word `at`. Returns the
 * index after the last word.
 */
export function packBits(
  values: Uint32Array,
  from: number,
  count: number,
  width: number,
  out: Uint32Array,
  at: number,
): number {
  if (width === 0) return at
  let word = at
  let pending = 0
  let filled = 0
  for (let i = from; i < from + count; i++) {
    const value = values[i] ?? 0
    pending |= value << filled
    filled += width
    if (filled >= 32) {
      out[word++] = pending
      filled -= 32
      pending = filled === 0 ? 0 : value >>> (width - filled)
    }
  }
  if (filled > 0) out[word++] = pending
  return word
}

/**
 * The reverse of {@link packBits}. Writes to every second element of `out` from `to` on. Returns the index after the
 * last word read.
 */
export function unpackBits(
  packed: DataView,
  at: number,
  count: number,
  width: number,
  out: Uint32Array,
  to: number,
): number {
  const end = to + 2 * count
  if (width === 0) {
    for (let i = to; i < end; i += 2) out[i] = 0
    return at
  }
  const mask = width === 32 ? 0xffffffff : (1 << width) - 1
  const last = 4 * (at + packedWords(count, width) - 1)
  let byte = 4 * at
  let bit = 0
  let current = packed.getUint32(byte, true)
  for (let i = to; i < end; i += 2) {
    let value = current >>> bit
    bit += width
    if (bit >= 32 && byte < last) {
      byte += 4
      current = packed.getUint32(byte, true)
      bit -= 32
      if (bit > 0) value |= current << (width - bit)
    }
    out[i] = value & mask
  }
  return (last >> 2) + 1
}
