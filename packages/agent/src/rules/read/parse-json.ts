import { SondeError } from '@sonde/sdk'

/** A value of JSON with its position in the text. Numbers keep their digits: a u64 does not fit a JavaScript number. */
export type JsonNode =
  | { readonly kind: 'object'; readonly at: number; readonly members: readonly JsonMember[] }
  | { readonly kind: 'array'; readonly at: number; readonly items: readonly JsonNode[] }
  | { readonly kind: 'text'; readonly at: number; readonly value: string }
  | { readonly kind: 'number'; readonly at: number; readonly digits: string }
  | { readonly kind: 'true' | 'false' | 'null'; readonly at: number }

/** A key and its value. A repeated key gives two members. */
export interface JsonMember {
  readonly key: string
  readonly at: number
  readonly value: JsonNode
}

/** Most levels of nesting. The language of rules has five. */
const DEPTH_MAX = 32
const BLANK = /[ \t\r\n]*/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them within text
const TEXT = /"((?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*)"/y
const WORD = /true|false|null/y

/**
 * Parses a text strictly as JSON by RFC 8259: no comments, no trailing comma, no text after the value.
 * @throws SondeError `RUL_SYNTAX` with the line and column of the fault, and the allowed text.
 */
export function parseExactJson(text: string): JsonNode {
  const parser = new Parser(text)
  const node = parser.value(0)
  parser.end()
  return node
}

class Parser {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  value(depth: number): JsonNode {
    this.#take(BLANK)
    const at = this.#at
    if (depth > DEPTH_MAX) throw this.#fault(`at most ${DEPTH_MAX} levels`)
    const first = this.#text[at]
    if (first === '{') return { kind: 'object', at, members: this.#list('}', () => this.#member(depth)) }
    if (first === '[') return { kind: 'array', at, items: this.#list(']', () => this.value(depth + 1)) }
    if (first === '"') return { kind: 'text', at, value: this.#textValue() }
    const word = this.#take(WORD)
    if (word !== undefined) return { kind: word as 'true', at }
    const digits = this.#take(NUMBER)
    if (digits === undefined) throw this.#fault('an object, a list, text in double quotes, a number, true or false')
    return { kind: 'number', at, digits }
  }

  end(): void {
    this.#take(BLANK)
    if (this.#at < this.#text.length) throw this.#fault('nothing after the end of the value')
  }

  /** Elements between brackets, separated by commas. */
  #list<T>(close: '}' | ']', element: () => T): T[] {
    const elements: T[] = []
    this.#at++
    this.#take(BLANK)
    if (this.#text[this.#at] === close) {
      this.#at++
      return elements
    }
    for (;;) {
      elements.push(element())
      this.#take(BLANK)
      const next = this.#text[this.#at]
      if (next !== ',' && next !== close) throw this.#fault(`a comma or ${close}`)
      this.#at++
      if (next === close) return elements
    }
  }

  #member(depth: number): JsonMember {
    this.#take(BLANK)
    const at = this.#at
    if (this.#text[at] !== '"') throw this.#fault('a key in double quotes')
    const key = this.#textValue()
    this.#take(BLANK)
    if (this.#text[this.#at] !== ':') throw this.#fault('a colon')
    this.#at++
    return { key, at, value: this.value(depth + 1) }
  }

  #textValue(): string {
    const quoted = this.#take(TEXT)
    if (quoted === undefined) throw this.#fault('text that ends with a double quote, without raw control characters')
    const value = JSON.parse(quoted) as string
    if (!value.isWellFormed()) throw this.#fault('text without half of a surrogate pair')
    return value
  }

  #take(form: RegExp): string | undefined {
    form.lastIndex = this.#at
    const match = form.exec(this.#text)
    if (match === null) return undefined
    this.#at += match[0].length
    return match[0]
  }

  #fault(allowed: string): SondeError {
    // The message does not quote the text: an invalid file may be any file, even one that only root can read.
    const found = characterKind(this.#text[this.#at])
    return new SondeError('RUL_SYNTAX', `${placeIn(this.#text, this.#at)}: found ${found}; allowed: ${allowed}`)
  }
}

/** Describes a character. Only characters of JSON's syntax are shown. */
function characterKind(character: string | undefined): string {
  if (character === undefined) return 'the end'
  if ('{}[]:,"'.includes(character)) return character
  if (/\p{L}/u.test(character)) return 'a letter'
  return /\d/.test(character) ? 'a digit' : 'another character'
}

/** A position in lines and columns, as editors count them. */
function placeIn(text: string, at: number): string {
  const before = text.slice(0, at).split('\n')
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`
}
