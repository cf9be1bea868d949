import type { Integer64 } from '@sonde/sdk/internal'

/** Why the text at the cursor is no number. `huge`: 2^64 or more; `not_available`: `N/A`. */
export type NumberFailure = 'empty' | 'garbage' | 'huge' | 'negative' | 'not_available'

const NEWLINE = 10
const SPACE = 32
const TAB = 9
const ZERO = 48
const EXACT_DIGITS = 15
/** Most characters of a malformed line in a message. */
const LINE_TOLD = 100
const U64_LIMIT = 1n << 64n

/**
 * A cursor over the bytes of a kernel file. Numbers are parsed directly from the digits, without a string. A u64
 * becomes a number if that is exact, and a bigint beyond 2^53.
 */
export class KernelText {
  readonly #bytes: Buffer
  readonly #end: number
  /** Position of the cursor. Unit: bytes from the start. */
  at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#end = bytes.length
  }

  /** Whether the whole text was read. */
  get done(): boolean {
    return this.at >= this.#end
  }

  /** Position of the newline that ends this line, or the end of the text. */
  lineEnd(): number {
    const newline = this.#bytes.indexOf(NEWLINE, this.at)
    return newline === -1 ? this.#end : newline
  }

  /** Moves to the start of the next line. */
  nextLine(): void {
    this.at = this.lineEnd() + 1
  }

  /** Skips blanks; returns whether the line ends there. */
  lineDone(): boolean {
    this.#skipBlanks()
    return this.at >= this.#end || this.#bytes[this.at] === NEWLINE
  }

  /** Last position of a character between the cursor and `end`, or −1. */
  lastIndexOf(character: string, end: number): number {
    const at = this.#bytes.lastIndexOf(character.charCodeAt(0), end - 1)
    return at < this.at ? -1 : at
  }

  /** Whether the text at the cursor starts with these ASCII characters; if so, moves past them. */
  skip(prefix: string): boolean {
    for (let i = 0; i < prefix.length; i++) {
      if (this.at + i >= this.#end || this.#bytes[this.at + i] !== prefix.charCodeAt(i)) return false
    }
    this.at += prefix.length
    return true
  }

  /** Text from the cursor to `end`, without leading blanks; moves to `end`. Invalid UTF-8 becomes U+FFFD. */
  textTo(end: number): string {
    this.#skipBlanks()
    const text = this.#bytes.toString('utf8', Math.min(this.at, end), end)
    this.at = end
    return text
  }

  /** Like {@link textTo}, as bytes that are valid as long as the text. */
  bytesTo(end: number): Buffer {
    this.#skipBlanks()
    const bytes = this.#bytes.subarray(Math.min(this.at, end), end)
    this.at = end
    return bytes
  }

  /** The line that starts at a position, cut at 100 characters, for a message about it. Moves to its end. */
  lineFrom(start: number): string {
    this.at = start
    return this.textTo(this.lineEnd()).slice(0, LINE_TOLD)
  }

  /** The next characters up to a blank; empty at the end of the line. */
  word(): string {
    this.#skipBlanks()
    const start = this.at
    while (this.at < this.#end && !isBlank(this.#bytes[this.at]) && this.#bytes[this.at] !== NEWLINE) this.at++
    return this.#bytes.toString('latin1', start, this.at)
  }

  /** Parses the next decimal u64. The cursor moves behind the word, valid or not. */
  u64(): Integer64 | NumberFailure {
    this.#skipBlanks()
    const start = this.at
    let value = 0
    while (this.at < this.#end) {
      const digit = (this.#bytes[this.at] ?? 0) - ZERO
      if (digit < 0 || digit > 9) break
      value = value * 10 + digit
      this.at++
    }
    const atBlank = this.at >= this.#end || isBlank(this.#bytes[this.at]) || this.#bytes[this.at] === NEWLINE
    if (this.at === start || !atBlank) return this.#notANumber(start)
    return this.at - start <= EXACT_DIGITS ? value : this.#wide(start)
  }

  /** Parses the next hexadecimal u32 without `0x`, as in softnet_stat. */
  hex(): number | NumberFailure {
    const text = this.word()
    if (text === '') return 'empty'
    if (!/^[0-9a-f]+$/i.test(text)) return 'garbage'
    const value = Number.parseInt(text, 16)
    return value > 0xffffffff ? 'huge' : value
  }

  /** Parses the next decimal fraction, as in loadavg. */
  decimal(): number | NumberFailure {
    const text = this.word()
    if (text === '') return 'empty'
    return /^\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : 'garbage'
  }

  #wide(start: number): Integer64 | 'huge' {
    const digits = this.#bytes.toString('latin1', start, this.at).replace(/^0+(?=.)/, '')
    if (digits.length > 20) return 'huge'
    const value = BigInt(digits)
    if (value >= U64_LIMIT) return 'huge'
    return value <= 9007199254740992n ? Number(value) : value
  }

  #notANumber(start: number): NumberFailure {
    this.at = start
    const text = this.word()
    if (text === '') return 'empty'
    if (text === 'N/A' || text === '<unknown>') return 'not_available'
    return /^-\d+$/.test(text) ? 'negative' : 'garbage'
  }

  #skipBlanks(): void {
    while (this.at < this.#end && isBlank(this.#bytes[this.at])) this.at++
  }
}

/** Whether parsing returned a number. */
export function isNumber<T extends Integer64>(value: T | NumberFailure): value is T {
  return typeof value !== 'string'
}

/** Parses a sysfs attribute that contains one unsigned number. */
export function parseAttribute(bytes: Uint8Array): Integer64 | NumberFailure {
  // Most attributes are a few digits and a newline, and a sweep reads thousands.
  const end = bytes[bytes.length - 1] === NEWLINE ? bytes.length - 1 : bytes.length
  if (end > 0 && end <= EXACT_DIGITS) {
    let value = 0
    let at = 0
    for (; at < end; at++) {
      const digit = (bytes[at] ?? 0) - ZERO
      if (digit < 0 || digit > 9) break
      value = value * 10 + digit
    }
    if (at === end) return value
  }
  const text = new KernelText(bytes)
  const value = text.u64()
  return isNumber(value) && !text.lineDone() ? 'garbage' : value
}

/** Parses a sysfs attribute that contains one unsigned number; `undefined` if it contains anything else. */
export function parseNumber(bytes: Uint8Array): Integer64 | undefined {
  const value = parseAttribute(bytes)
  return isNumber(value) ? value : undefined
}

/** Converts to a number; a limit must guarantee that it fits. */
export function narrow(value: Integer64 | undefined): number | undefined {
  return value === undefined ? undefined : Number(value)
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB
}
