import type { Integer64 } from '@sonde/sdk/internal'

/** Why the text at the cursor is no number: `huge` is 2^64 or more, `not_available` is `N/A`. */
export type NumberFailure = 'empty' | 'garbage' | 'huge' | 'negative' | 'not_available'

const NEWLINE = 10
const SPACE = 32
const TAB = 9
const ZERO = 48
const EXACT_DIGITS = 15
/** Characters that are told of a line which cannot be read. */
const LINE_TOLD = 100
const U64_LIMIT = 1n << 64n

/**
 * A cursor over the bytes of a kernel file. Numbers are taken straight from the digits, without a string between; a u64
 * comes as a number where that is exact and as a bigint beyond 2^53.
 */
export class KernelText {
  readonly #bytes: Buffer
  readonly #end: number
  /** Place of the cursor. Unit: bytes from the start. */
  at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#end = bytes.length
  }

  /** Whether all is read. */
  get done(): boolean {
    return this.at >= this.#end
  }

  /** Place of the newline that ends this line, or the end of the text. */
  lineEnd(): number {
    const newline = this.#bytes.indexOf(NEWLINE, this.at)
    return newline === -1 ? this.#end : newline
  }

  /** Moves to the start of the next line. */
  nextLine(): void {
    this.at = this.lineEnd() + 1
  }

  /** Whether only blanks remain of this line. Skips them. */
  lineDone(): boolean {
    this.#skipBlanks()
    return this.at >= this.#end || this.#bytes[this.at] === NEWLINE
  }

  /** The last place of a character between the cursor and `end`, or −1. */
  lastIndexOf(character: string, end: number): number {
    const at = this.#bytes.lastIndexOf(character.charCodeAt(0), end - 1)
    return at < this.at ? -1 : at
  }

  /** Whether the text at the cursor starts with these ASCII characters; moves past them when it does. */
  skip(prefix: string): boolean {
    for (let i = 0; i < prefix.length; i++) {
      if (this.at + i >= this.#end || this.#bytes[this.at + i] !== prefix.charCodeAt(i)) return false
    }
    this.at += prefix.length
    return true
  }

  /** Text from the cursor to `end`, without leading blanks; moves to `end`. Bytes that are not UTF-8 read as U+FFFD. */
  textTo(end: number): string {
    this.#skipBlanks()
    const text = this.#bytes.toString('utf8', Math.min(this.at, end), end)
    this.at = end
    return text
  }

  /** The same as bytes, valid as long as the text. */
  bytesTo(end: number): Buffer {
    this.#skipBlanks()
    const bytes = this.#bytes.subarray(Math.min(this.at, end), end)
    this.at = end
    return bytes
  }

  /**
   * The line that begins at a place, cut at 100 characters: what is told of one that cannot be read. Moves to its end.
   */
  lineFrom(start: number): string {
    this.at = start
    return this.textTo(this.lineEnd()).slice(0, LINE_TOLD)
  }

  /** The next run of characters that are not blank; empty at the end of the line. */
  word(): string {
    this.#skipBlanks()
    const start = this.at
    while (this.at < this.#end && !isBlank(this.#bytes[this.at]) && this.#bytes[this.at] !== NEWLINE) this.at++
    return this.#bytes.toString('latin1', start, this.at)
  }

  /** The next decimal u64. The cursor ends behind the word, whatever it was. */
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

  /** The next hexadecimal u32, without `0x`, as softnet_stat has it. */
  hex(): number | NumberFailure {
    const text = this.word()
    if (text === '') return 'empty'
    if (!/^[0-9a-f]+$/i.test(text)) return 'garbage'
    const value = Number.parseInt(text, 16)
    return value > 0xffffffff ? 'huge' : value
  }

  /** The next decimal number with a point, as loadavg has it. */
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

/** Whether a parsed number is one. */
export function isNumber<T extends Integer64>(value: T | NumberFailure): value is T {
  return typeof value !== 'string'
}

/** A sysfs attribute that is one unsigned number. */
export function parseAttribute(bytes: Uint8Array): Integer64 | NumberFailure {
  // Nearly all of them are few digits and a newline; thousands are read in a sweep.
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

/** A sysfs attribute that is one unsigned number; `undefined` if it is anything else. */
export function parseNumber(bytes: Uint8Array): Integer64 | undefined {
  const value = parseAttribute(bytes)
  return isNumber(value) ? value : undefined
}

/** A number that a limit has made safe. */
export function narrow(value: Integer64 | undefined): number | undefined {
  return value === undefined ? undefined : Number(value)
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB
}
