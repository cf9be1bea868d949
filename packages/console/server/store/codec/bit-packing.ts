/** Words that `count` values of `width` bits take. */
export function packedWords(count: number, width: number): number {
  return Math.ceil((count * width) / 32)
}

/**
 * Packs the low `width` bits (0 to 32) of `count` values, lowest bit first, to `out` from word `at`; returns the word
 * after.
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
 * The reverse of {@link packBits}, to every second element of `out` from `to` on; returns the word after the last one
 * read.
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
