/**
 * Numbers written into fixed room, padded with zeros on the left: every reader of the format takes `0000042` and
 * `-0042.5`, while blanks around a value are refused by some.
 */

const TWO_32 = 4294967296
const ZERO = 48
const MINUS = 45
const POINT = 46
const POWERS = Float64Array.from({ length: 21 }, (_, power) => 10 ** power)
const PAIRS = Uint8Array.from({ length: 200 }, (_, i) => ZERO + (i % 2 === 0 ? Math.floor(i / 20) : (i >> 1) % 10))

/** Digits of the unsigned integer `high * 2^32 + low`. */
export function digitsOf(high: number, low: number): number {
  const value = high * TWO_32 + low
  let digits = 1
  while (digits < 20 && value >= POWERS[digits]!) digits++
  return digits
}

/**
 * Writes the unsigned integer `high * 2^32 + low`. False, with nothing of use written, where it takes more than `width`
 * digits.
 */
export function writeUnsigned(bytes: Uint8Array, at: number, width: number, high: number, low: number): boolean {
  if (width < 20 && high * TWO_32 + low >= POWERS[width]!) return false
  const end = at + width
  if (high === 0) {
    writeDigits(bytes, at, end, low)
    return true
  }
  // Split at a million: every step below stays under 2^53, so doubles are exact.
  const millions = Math.floor(high / 1e6)
  const rest = (high - millions * 1e6) * TWO_32 + low
  const quotient = Math.floor(rest / 1e6)
  writeDigits(bytes, end - 6, end, rest - quotient * 1e6)
  const upper = millions * TWO_32 + quotient
  if (upper < TWO_32) {
    writeDigits(bytes, at, end - 6, upper)
  } else {
    const top = Math.floor(upper / 1e6)
    writeDigits(bytes, end - 12, end - 6, upper - top * 1e6)
    writeDigits(bytes, at, end - 12, top)
  }
  return true
}

/** Writes the two's complement integer of `high` and `low`; the sign comes first, then the zeros. */
export function writeSigned(bytes: Uint8Array, at: number, width: number, high: number, low: number): boolean {
  if (high < 0x80000000) return writeUnsigned(bytes, at, width, high, low)
  bytes[at] = MINUS
  const negated = -low >>> 0
  return width > 1 && writeUnsigned(bytes, at + 1, width - 1, (~high + (low === 0 ? 1 : 0)) >>> 0, negated)
}

/** Room that {@link writeSigned} needs. */
export function signedWidth(high: number, low: number): number {
  if (high < 0x80000000) return digitsOf(high, low)
  return 1 + digitsOf((~high + (low === 0 ? 1 : 0)) >>> 0, -low >>> 0)
}

/** Writes a finite double as its shortest decimal. False if that takes more than `width` characters. */
export function writeFinite(bytes: Uint8Array, at: number, width: number, value: number): boolean {
  if (value > 0) return writeMagnitude(bytes, at, width, value)
  if (value === 0 && !Object.is(value, -0)) return writeUnsigned(bytes, at, width, 0, 0)
  bytes[at] = MINUS
  return width > 1 && writeMagnitude(bytes, at + 1, width - 1, -value)
}

/** Room that {@link writeFinite} needs. */
export function finiteWidth(value: number): number {
  return Object.is(value, -0) ? 2 : String(value).length
}

/** The text of NaN and the infinities. */
export function specialText(value: number): string {
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
}

function writeMagnitude(bytes: Uint8Array, at: number, width: number, value: number): boolean {
  if (value < 9007199254740992) {
    const whole = Math.floor(value)
    if (whole === value) return writeUnsigned(bytes, at, width, Math.floor(whole / TWO_32), whole >>> 0)
    // At most 15 digits and a correctly rounded quotient: the decimal is the shortest that reads back as the value.
    const milli = Math.round(value * 1e3)
    if (milli < 1e15 && milli / 1e3 === value) return writeDecimal(bytes, at, width, milli, 3)
    const micro = Math.round(value * 1e6)
    if (micro < 1e15 && micro / 1e6 === value) return writeDecimal(bytes, at, width, micro, 6)
  }
  return writeText(bytes, at, width, String(value))
}

/** Writes `scaled / 10^decimals`, which is not whole, without closing zeros. */
function writeDecimal(bytes: Uint8Array, at: number, width: number, scaled: number, decimals: number): boolean {
  const power = POWERS[decimals]!
  const whole = Math.floor(scaled / power)
  let fraction = scaled - whole * power
  let places = decimals
  while (fraction % 10 === 0) {
    fraction /= 10
    places--
  }
  const point = at + width - places - 1
  if (point <= at || !writeUnsigned(bytes, at, point - at, Math.floor(whole / TWO_32), whole >>> 0)) return false
  bytes[point] = POINT
  writeDigits(bytes, point + 1, point + 1 + places, fraction)
  return true
}

function writeText(bytes: Uint8Array, at: number, width: number, text: string): boolean {
  if (text.length > width) return false
  const start = at + width - text.length
  bytes.fill(ZERO, at, start)
  for (let i = 0; i < text.length; i++) bytes[start + i] = text.charCodeAt(i)
  return true
}

/** Writes a u32 into `[at, end)`, zeros first. It must fit. */
export function writeDigits(bytes: Uint8Array, at: number, end: number, value: number): void {
  let rest = value >>> 0
  let place = end
  while (rest >= 10) {
    const quotient = (rest / 100) >>> 0
    const pair = (rest - quotient * 100) * 2
    bytes[--place] = PAIRS[pair + 1]!
    bytes[--place] = PAIRS[pair]!
    rest = quotient
  }
  if (rest > 0) bytes[--place] = ZERO + rest
  while (place > at) bytes[--place] = ZERO
}
