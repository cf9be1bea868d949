// The labels of one series, from the bytes between its braces.

import type { ParseFault } from './parse-faults.ts'

const QUOTE = 34
const BACKSLASH = 92
const COMMA = 44
const EQUALS = 61
const CLOSE = 125

/** Name and labels of a series, as they were read. */
export interface ReadLabels {
  /** Empty if the name stands in front of the braces. */
  readonly name: string
  /** In their order, each name once; labels without a value are left out. */
  readonly labels: readonly (readonly [name: string, value: string])[]
}

/** Whether a byte may stand in the name of a metric (`:` included), or of a label; `first` may be no digit. */
export function isNameByte(byte: number | undefined, isFirst: boolean, isLabel = false): boolean {
  if (byte === undefined) return false
  const letter = byte | 0x20
  if ((letter >= 97 && letter <= 122) || byte === 95) return true
  if (byte >= 48 && byte <= 57) return !isFirst
  return byte === 58 && !isLabel
}

/**
 * Where the braces that open at `at` are closed, by the grammar: the first byte behind them; -1 where they are not
 * within `to`.
 */
export function endOfLabels(bytes: Uint8Array, at: number, to: number): number {
  let isQuoted = false
  for (let i = at + 1; i < to; i++) {
    const byte = bytes[i]
    if (byte === BACKSLASH && isQuoted) i++
    else if (byte === QUOTE) isQuoted = !isQuoted
    else if (byte === CLOSE && !isQuoted) return i + 1
  }
  return -1
}

/** Reads `{…}` by the grammar, names in quotes included. */
export function readLabels(text: string, countMax: number): ReadLabels | ParseFault {
  const pairs: [string, string][] = []
  let name = ''
  let at = pastBlanks(text, 1)
  while (text.charCodeAt(at) !== CLOSE) {
    const key = text.charCodeAt(at) === QUOTE ? quotedAt(text, at) : bareAt(text, at)
    if (key === undefined) return 'labels'
    at = pastBlanks(text, key.end)
    if (text.charCodeAt(at) === EQUALS) {
      const value = quotedAt(text, pastBlanks(text, at + 1))
      if (value === undefined) return 'labels'
      pairs.push([key.text, value.text])
      at = pastBlanks(text, value.end)
    } else if (key.isQuoted && name === '' && pairs.length === 0) {
      name = key.text
    } else return 'labels'
    if (pairs.length > countMax) return 'label_count'
    const next = text.charCodeAt(at)
    if (next === COMMA) at = pastBlanks(text, at + 1)
    else if (next !== CLOSE) return 'labels'
  }
  return at === text.length - 1 ? checked(name, pairs) : 'labels'
}

/**
 * Reads `{…}` whose values hold quotes and backslashes as they are: a value ends at the quote behind which the next
 * label begins, or the braces close.
 */
export function readUnescaped(text: string, countMax: number): ReadLabels | ParseFault {
  const pairs: [string, string][] = []
  let at = 1
  while (at < text.length - 1) {
    const key = bareAt(text, pastBlanks(text, at))
    if (key === undefined || text.charCodeAt(key.end) !== EQUALS || text.charCodeAt(key.end + 1) !== QUOTE)
      return 'labels'
    const from = key.end + 2
    let end = text.indexOf('"', from)
    while (end !== -1 && !endsValue(text, end)) end = text.indexOf('"', end + 1)
    if (end === -1) return 'labels'
    pairs.push([key.text, text.slice(from, end)])
    if (pairs.length > countMax) return 'label_count'
    at = end + 2
  }
  return checked('', pairs)
}

function endsValue(text: string, quoteAt: number): boolean {
  if (quoteAt === text.length - 2) return true
  if (text.charCodeAt(quoteAt + 1) !== COMMA) return false
  if (quoteAt === text.length - 3) return true
  const key = bareAt(text, pastBlanks(text, quoteAt + 2))
  return key !== undefined && text.charCodeAt(key.end) === EQUALS && text.charCodeAt(key.end + 1) === QUOTE
}

function checked(name: string, pairs: readonly [string, string][]): ReadLabels | ParseFault {
  if (new Set(pairs.map(([label]) => label)).size < pairs.length) return 'labels'
  return { name, labels: pairs.filter(([, value]) => value !== '') }
}

interface Word {
  readonly text: string
  readonly end: number
  readonly isQuoted: boolean
}

function bareAt(text: string, at: number): Word | undefined {
  let end = at
  while (isNameByte(text.charCodeAt(end), end === at, true)) end++
  return end === at ? undefined : { text: text.slice(at, end), end, isQuoted: false }
}

function quotedAt(text: string, at: number): Word | undefined {
  if (text.charCodeAt(at) !== QUOTE) return undefined
  let hasEscapes = false
  for (let end = at + 1; end < text.length; end++) {
    const code = text.charCodeAt(end)
    if (code === BACKSLASH) {
      hasEscapes = true
      end++
    } else if (code === QUOTE) {
      const raw = text.slice(at + 1, end)
      return { text: hasEscapes ? unescapeText(raw) : raw, end: end + 1, isQuoted: true }
    }
  }
  return undefined
}

/** A text without its escapes; a backslash before anything else stays. */
export function unescapeText(text: string): string {
  return text.replace(/\\([\\"n])/g, (_, next: string) => (next === 'n' ? '\n' : next))
}

function pastBlanks(text: string, at: number): number {
  let place = at
  while (text.charCodeAt(place) === 32 || text.charCodeAt(place) === 9) place++
  return place
}
