/** Words that `count` values of `width` bits take. */
export function packedWords(count: number, width: number): number {
  return Math.ceil((count * width) / 32)
}

/** Packs the low `width` bits (0 to 32) of `count` values, lowest bit first, to `out` from word `at`; returns the word after. */
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

/** The reverse of {@link packBits}, to every second element of `out` from `to` on; returns the word after the last one read. */
export function unpackBits(
  packed: Uint32Array,
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
  let bit = 0
  let word = at
  let current = packed[word] ?? 0
  for (let i = to; i < end; i += 2) {
    let value = current >>> bit
    bit += width
    if (bit >= 32) {
      current = packed[++word] ?? 0
      bit -= 32
      if (bit > 0) value |= current << (width - bit)
    }
    out[i] = value & mask
  }
  return bit > 0 ? word + 1 : word
}
