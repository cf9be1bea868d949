import { SondeError } from '@sonde/sdk'

/**
 * A value as json-c 0.16 parses it in its lenient mode. Texts are bytes as characters (latin1). Numbers are kept as
 * json-c prints them: whole numbers are clamped, other numbers stay as written.
 */
export type LenientNode =
  | { readonly kind: 'object'; readonly members: ReadonlyMap<string, LenientNode> }
  | { readonly kind: 'array'; readonly items: readonly LenientNode[] }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'number' | 'bool'; readonly printed: string }
  | { readonly kind: 'null' }

/** Most levels of nested values, including the outermost and the innermost. */
const LEVELS_MAX = 32
const BLANK = ' \t\n\r'
const INT64_MIN = -(2n ** 63n)
const UINT64_MAX = 2n ** 64n - 1n
const REPLACEMENT = '\xef\xbf\xbd'
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

/**
 * Parses as json-c 0.16 does in its lenient mode: comments, single quotes, a comma after the last element, words in any
 * case, `NaN` and `Infinity`, leading zeros, and any text after the value. A NUL ends the text.
 * @param bytes The text; each byte is a character.
 * @throws SondeError `RUL_COMPAT` with the position of the byte that json-c refuses.
 */
export function parseLenient(bytes: string): LenientNode {
  const nul = bytes.indexOf('\0')
  return new LenientParser(nul < 0 ? bytes : bytes.slice(0, nul)).root()
}

/** A comment after a value is not closed. json-c then returns that value as the whole, however deep it is nested. */
class EarlyEnd {
  readonly value: LenientNode

  constructor(value: LenientNode) {
    this.value = value
  }
}

class LenientParser {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  root(): LenientNode {
    try {
      this.#blank()
      const value = this.#value(1)
      // Comments after the value are read too: half of a comment is an error.
      this.#blank(value)
      return value
    } catch (error) {
      if (error instanceof EarlyEnd) return error.value
      throw error
    }
  }

  #value(level: number): LenientNode {
    if (level > LEVELS_MAX) throw this.#fault('too many levels')
    const first = this.#peek()
    if (first === '{') return this.#object(level)
    if (first === '[') return this.#array(level)
    if (first === '"' || first === "'") return { kind: 'text', value: this.#textValue(first) }
    if (first === '-' || isDigit(first)) return this.#number(level)
    const lower = first.toLowerCase()
    if (lower === 'n') return this.#null()
    if (lower === 't') return this.#word('true', { kind: 'bool', printed: 'true' })
    if (lower === 'f') return this.#word('false', { kind: 'bool', printed: 'false' })
    if (lower === 'i') return this.#word('infinity', { kind: 'number', printed: 'Infinity' })
    throw this.#fault('a value')
  }

  #object(level: number): LenientNode {
    const members = new Map<string, LenientNode>()
    this.#at++
    for (;;) {
      this.#blank()
      const quote = this.#peek()
      if (quote === '}') break
      if (quote !== '"' && quote !== "'") throw this.#fault('a key in quotes')
      const key = untilNul(this.#textValue(quote))
      this.#blank()
      if (this.#peek() !== ':') throw this.#fault('a colon')
      this.#at++
      this.#blank()
      const value = this.#value(level + 1)
      // A repeated key keeps its position and gets the later value.
      members.set(key, value)
      this.#blank(value)
      if (!this.#separator('}')) break
    }
    this.#at++
    return { kind: 'object', members }
  }

  #array(level: number): LenientNode {
    const items: LenientNode[] = []
    this.#at++
    for (;;) {
      this.#blank()
      if (this.#peek() === ']') break
      const value = this.#value(level + 1)
      items.push(value)
      this.#blank(value)
      if (!this.#separator(']')) break
    }
    this.#at++
    return { kind: 'array', items }
  }

  /** Whether another element may follow; false at the bracket. */
  #separator(close: string): boolean {
    const next = this.#peek()
    if (next === close) return false
    if (next !== ',') throw this.#fault(`a comma or ${close}`)
    this.#at++
    return true
  }

  #null(): LenientNode {
    const second = (this.#text[this.#at + 1] ?? '').toLowerCase()
    if (second === 'a') return this.#word('nan', { kind: 'number', printed: 'NaN' })
    return this.#word('null', { kind: 'null' })
  }

  #word(word: string, node: LenientNode): LenientNode {
    if (this.#text.slice(this.#at, this.#at + word.length).toLowerCase() !== word) throw this.#fault(word)
    this.#at += word.length
    return node
  }

  #number(level: number): LenientNode {
    const start = this.#at
    const isFraction = this.#digits()
    const next = this.#peek()
    if (level > 1 && next !== '' && !`,]}/iI${BLANK}`.includes(next)) throw this.#fault('the end of a number')
    const written = this.#text.slice(start, this.#at)
    if (written === '-' && next.toLowerCase() === 'i')
      return this.#word('infinity', { kind: 'number', printed: '-Infinity' })
    if (isFraction) {
      const printed = withoutOpenExponent(written)
      if (!/^-?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(printed)) throw this.#fault('a number')
      return { kind: 'number', printed }
    }
    if (written === '-') throw this.#fault('a number')
    const whole = BigInt(written.replace(/^-/, '')) * (written.startsWith('-') ? -1n : 1n)
    const clamped = whole < INT64_MIN ? INT64_MIN : whole > UINT64_MAX ? UINT64_MAX : whole
    return { kind: 'number', printed: String(clamped) }
  }

  /** Skips the characters that json-c accepts as parts of a number. Returns whether the number is a fraction. */
  #digits(): boolean {
    let isFraction = false
    let isExponent = false
    let isSignOk = true
    let isPlusOk = false
    for (; ; this.#at++) {
      const next = this.#peek()
      const isE = next === 'e' || next === 'E'
      const isSign = (isSignOk && next === '-') || (isPlusOk && next === '+')
      const isPart = isDigit(next) || (isE && !isExponent) || isSign || (next === '.' && !isFraction)
      if (!isPart) return isFraction
      isSignOk = isE || next === '.'
      isPlusOk = isSignOk
      if (isE) isExponent = true
      if (isSignOk) isFraction = true
    }
  }

  #textValue(quote: string): string {
    let value = ''
    this.#at++
    for (;;) {
      const next = this.#peek()
      if (next === '') throw this.#fault('the end of a text')
      this.#at++
      if (next === quote) return value
      value += next === '\\' ? this.#escape() : next
    }
  }

  #escape(): string {
    const letter = this.#peek()
    const plain = Object.hasOwn(ESCAPES, letter) ? ESCAPES[letter] : undefined
    if (plain === undefined && letter !== 'u') throw this.#fault('an escape')
    this.#at++
    return plain ?? this.#unicode()
  }

  /** Reads the digits after `\u`. Half of a surrogate pair becomes the replacement character. */
  #unicode(): string {
    const code = this.#hex()
    if (code < 0xd800 || code > 0xdfff) return utf8(code)
    if (code > 0xdbff) return REPLACEMENT
    if (this.#text.slice(this.#at, this.#at + 2) !== '\\u') {
      if (this.#peek() !== '\\') return REPLACEMENT
      this.#at++
      return REPLACEMENT + this.#escape()
    }
    this.#at += 2
    const low = this.#hex()
    if (low >= 0xdc00 && low <= 0xdfff) return utf8(((code & 0x3ff) << 10) + (low & 0x3ff) + 0x10000)
    this.#at -= 4
    return REPLACEMENT + this.#unicode()
  }

  #hex(): number {
    const digits = this.#text.slice(this.#at, this.#at + 4)
    if (!/^[0-9a-f]{4}$/i.test(digits)) throw this.#fault('four hexadecimal digits')
    this.#at += 4
    return Number.parseInt(digits, 16)
  }

  /** Skips blanks and comments. `behind` is the value before them, if any. */
  #blank(behind?: LenientNode): void {
    for (;;) {
      while (this.#peek() !== '' && BLANK.includes(this.#peek())) this.#at++
      if (this.#peek() !== '/') return
      const kind = this.#text[this.#at + 1]
      if (kind !== '*' && kind !== '/') throw this.#fault('a comment')
      const end = kind === '/' ? this.#text.indexOf('\n', this.#at) : this.#commentEnd()
      if (end < 0) {
        throw behind === undefined ? this.#fault('the end of a comment') : new EarlyEnd(behind)
      }
      this.#at = end
    }
  }

  /** Position after a comment of stars; -1 if it is not closed. json-c reads two stars as one, so `**` hides a `/`. */
  #commentEnd(): number {
    let at = this.#at + 2
    for (;;) {
      const star = this.#text.indexOf('*', at)
      if (star < 0) return -1
      if (this.#text[star + 1] === '/') return star + 2
      at = star + 2
    }
  }

  #peek(): string {
    return this.#text[this.#at] ?? ''
  }

  #fault(expected: string): SondeError {
    return new SondeError('RUL_COMPAT', `no JSON at byte ${this.#at}: json-c expects ${expected} there`)
  }
}

function isDigit(character: string): boolean {
  return character >= '0' && character <= '9' && character !== ''
}

/** `1e+` is read as `1`. */
function withoutOpenExponent(text: string): string {
  return text.length > 1 ? text[0] + text.slice(1).replace(/[-+eE]+$/, '') : text
}

/** The part of a text before its first NUL: C sees no more. */
export function untilNul(text: string): string {
  const nul = text.indexOf('\0')
  return nul < 0 ? text : text.slice(0, nul)
}

function utf8(code: number): string {
  return Buffer.from(String.fromCodePoint(code)).toString('latin1')
}
