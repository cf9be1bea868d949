const U64_MAX = 2n ** 64n - 1n
const DIGITS = {
  10: /^[ \t\n\v\f\r]*([+-]?)(\d+)/,
  16: /^[ \t\n\v\f\r]*([+-]?)(?:0[xX](?=[0-9a-fA-F]))?([0-9a-fA-F]+)/,
}

/**
 * Parses a text like `strtoul` of C with 64 bits. It reads the leading digits: none give 0, too many give the maximum,
 * and a minus negates modulo 2^64.
 */
export function strtoul(text: string, base: 10 | 16): bigint {
  const [, sign = '', digits = ''] = DIGITS[base].exec(text) ?? []
  if (digits === '') return 0n
  const number = BigInt(base === 16 ? `0x${digits}` : digits)
  if (number > U64_MAX) return U64_MAX
  return sign === '-' ? BigInt.asUintN(64, -number) : number
}
