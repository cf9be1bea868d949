import { SondeError } from '@sonde/sdk'

/** A value of JSON, with its place in the text. Numbers keep their digits: a u64 does not fit a JavaScript number. */
export type JsonNode =
  | { readonly kind: 'object'; readonly at: number; readonly members: readonly JsonMember[] }
  | { readonly kind: 'array'; readonly at: number; readonly items: readonly JsonNode[] }
  | { readonly kind: 'text'; readonly at: number; readonly value: string }
  | { readonly kind: 'number'; readonly at: number; readonly digits: string }
  | { readonly kind: 'true' | 'false' | 'null'; readonly at: number }

/** A key and its value. A key that stands there twice is two members. */
export interface JsonMember {
  readonly key: string
  readonly at: number
  readonly value: JsonNode
}

/** Levels of nesting that are read. The language of rules has five. */
const DEPTH_MAX = 32
const BLANK = /[ \t\r\n]*/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them within text
const TEXT = /"((?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*)"/y
const WORD = /true|false|null/y

/**
 * Parses a text as JSON by RFC 8259 and nothing else: no comments, no trailing comma, no text behind the value.
 *
 * @throws SondeError `RUL_SYNTAX` with line and column of what is wrong, and what is allowed there.
 */
export function parseJson(text: string): JsonNode {
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
    if (this.#at < this.#text.length) throw this.#fault('nothing behind the end of the value')
  }

  /** What stands between brackets, with commas between. */
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
    // Without its text: a file that is no JSON may be any file, also one that only root can read.
    const found = kindOf(this.#text[this.#at])
    return new SondeError('RUL_SYNTAX', `${placeIn(this.#text, this.#at)}: found ${found}; allowed: ${allowed}`)
  }
}

/** What a character is. Only those that JSON is made of are shown. */
function kindOf(character: string | undefined): string {
  if (character === undefined) return 'the end'
  if ('{}[]:,"'.includes(character)) return character
  if (/\p{L}/u.test(character)) return 'a letter'
  return /\d/.test(character) ? 'a digit' : 'another character'
}

/** A place as editors count it. */
function placeIn(text: string, at: number): string {
  const before = text.slice(0, at).split('\n')
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`
}
