// Numbers of a text exposition, read off its bytes.

const ZERO = 48
const NINE = 57
const PLUS = 43
const MINUS = 45
const POINT = 46
/** A longer number is none: the shortest text of a double has 24 characters at most, a u64 20. Unit: bytes. */
const NUMBER_BYTES_MAX = 256
/** Whole numbers up to here, and their quotients by the powers below, are exact and rounded once. */
const MANTISSA_MAX = 2 ** 53
const POWERS = Float64Array.from({ length: 23 }, (_, power) => Number(`1e${power}`))
const PLAIN = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i
const SPECIAL = /^([+-]?)(inf|infinity|nan)$/i
const WHOLE = /^\+?\d{1,20}$/
const U64_MAX = 2n ** 64n - 1n

/** Whether a byte is a blank within a line. */
export function isBlank(byte: number | undefined): boolean {
  return byte === 32 || byte === 9
}

/** Whether a byte ends a number: a blank, or the end of the line. */
function endsWord(byte: number | undefined): boolean {
  return byte === 32 || byte === 10 || byte === 9 || byte === 13
}

/** Reads a number; {@link end} is where it ended. */
export class NumberReader {
  /** First byte behind the number; -1 where there was none. */
  end = -1

  /** The number that begins at `at`, in bytes that end at `to`; NaN with `end` -1 where there is none. */
  read(bytes: Uint8Array, at: number, to: number): number {
    let place = at
    const first = bytes[place]
    if (first === MINUS || first === PLUS) place++
    const digitsAt = place
    let mantissa = 0
    let decimals = 0
    let byte = place < to ? (bytes[place] as number) : 0
    while (byte >= ZERO && byte <= NINE && mantissa < MANTISSA_MAX) {
      mantissa = mantissa * 10 + byte - ZERO
      byte = ++place < to ? (bytes[place] as number) : 0
    }
    let digits = place - digitsAt
    if (byte === POINT) {
      const pointAt = place
      byte = ++place < to ? (bytes[place] as number) : 0
      while (byte >= ZERO && byte <= NINE && mantissa < MANTISSA_MAX) {
        mantissa = mantissa * 10 + byte - ZERO
        byte = ++place < to ? (bytes[place] as number) : 0
      }
      decimals = place - pointAt - 1
      digits += decimals
    }
    const isPlain = place >= to || endsWord(byte)
    if (!isPlain || digits === 0 || mantissa >= MANTISSA_MAX || decimals > 22) return this.#readOther(bytes, at, to)
    this.end = place
    const value = decimals === 0 ? mantissa : mantissa / (POWERS[decimals] as number)
    return first === MINUS ? -value : value
  }

  /** Exponents, many digits, infinities and NaN. */
  #readOther(bytes: Uint8Array, at: number, to: number): number {
    this.end = -1
    let end = at
    const last = Math.min(to, at + NUMBER_BYTES_MAX + 1)
    while (end < last && !endsWord(bytes[end])) end++
    if (end === at || end - at > NUMBER_BYTES_MAX) return Number.NaN
    const text = numberText(bytes, at, end)
    const value = PLAIN.test(text) ? Number(text) : specialOf(text)
    if (value !== undefined) this.end = end
    return value ?? Number.NaN
  }
}

function specialOf(text: string): number | undefined {
  const match = SPECIAL.exec(text)
  if (match === null) return undefined
  if ((match[2] as string).toLowerCase() === 'nan') return Number.NaN
  return match[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
}

/**
 * The exact whole number at `at`; undefined if it is not a whole number, negative, or over 64 bits. `value` is the
 * result of {@link NumberReader}.
 */
export function exactInteger(bytes: Uint8Array, at: number, value: number): bigint | undefined {
  if (!(value >= 0 && value < 2 ** 65)) return undefined
  if (value < MANTISSA_MAX) return Number.isInteger(value) ? BigInt(value) : undefined
  let end = at
  while (end < bytes.length && end - at <= NUMBER_BYTES_MAX && (bytes[end] as number) > 32) end++
  const text = numberText(bytes, at, end)
  const exact = WHOLE.test(text) ? BigInt(text.replace('+', '')) : Number.isInteger(value) ? BigInt(value) : undefined
  return exact !== undefined && exact <= U64_MAX ? exact : undefined
}

function numberText(bytes: Uint8Array, at: number, end: number): string {
  let text = ''
  for (let i = at; i < end; i++) text += String.fromCharCode(bytes[i] as number)
  return text
}
