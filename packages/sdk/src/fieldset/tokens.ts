/** A part of a name to search for. */
export interface Token {
  /** Empty only with both anchors; then no name matches. */
  readonly text: string
  /** `^`: the name starts with it. */
  readonly begins: boolean
  /** `$`: the name ends with it. */
  readonly ends: boolean
}

/** One line of a field set: a name matches if it contains all tokens of `all` and no token of `none`. */
export interface Expression {
  readonly all: readonly Token[]
  readonly none: readonly Token[]
}

/** A fault of a line. */
export interface Fault {
  /** Characters from the start of the line, from 1. */
  readonly column: number
  /** The fault, as the predicate of a sentence. */
  readonly fault: string
  /** The allowed text. */
  readonly allowed: string
}

/** Limit of tokens of one line. */
const TOKENS_OF_LINE_LIMIT = 64
const SPECIAL = '^$+-\\#'

/**
 * Parses a token expression such as `^port+xmit-discard`, up to its end or a `#`. Undefined if it is empty. Pure.
 */
export function parseExpression(line: string): Expression | Fault | undefined {
  const from = line.length - line.trimStart().length
  const end = endOf(line)
  if (from >= end) return undefined
  const all: Token[] = []
  const none: Token[] = []
  let at = from
  while (at < end || at === from) {
    // The first token may have no sign: then the name must contain it.
    const isNone = line[at] === '-'
    if (at > from || isNone) at++
    const read = readToken(line, at, end)
    if ('fault' in read) return read
    if (isNone) none.push(read.token)
    else all.push(read.token)
    at = read.next
    if (all.length + none.length > TOKENS_OF_LINE_LIMIT)
      return fault(at, 'is one token too many', `${TOKENS_OF_LINE_LIMIT} tokens a line`)
  }
  return { all, none }
}

/** Whether an expression is a whole name: `^port$`. */
export function isWholeName({ all, none }: Expression): boolean {
  const [token] = all
  return token?.begins === true && token.ends && all.length === 1 && none.length === 0
}

/**
 * The end of the expression of a line: an unescaped `#`, or the trailing blanks. An escaped blank belongs to the
 * expression.
 */
function endOf(line: string): number {
  let end = 0
  for (let at = 0; at < line.length && line[at] !== '#'; at++) {
    if (line[at] === '\\') at++
    else if (isBlank(line[at])) continue
    end = Math.min(at + 1, line.length)
  }
  return end
}

function readToken(line: string, from: number, end: number): { token: Token; next: number } | Fault {
  let at = from
  let text = ''
  const begins = line[at] === '^' && at < end
  if (begins) at++
  let ends = false
  for (; at < end; at++) {
    const character = line[at] as string
    if (character === '+' || character === '-') break
    if (ends) return fault(at, `is ${JSON.stringify(character)} after $`, 'the end of the line, + or -')
    if (character === '$') ends = true
    else if (character === '\\') {
      at++
      const escaped = at < end ? line[at] : undefined
      if (escaped === undefined) return fault(at - 1, 'is a backslash with nothing after it', 'a character after it')
      text += escaped
    } else if (character === '^') return fault(at, 'is ^ inside a token', 'it begins a token, or is written \\^')
    else if (character === '=')
      return fault(at, 'is =, but nothing is renamed or added here', 'tokens; it is written \\=')
    else if (isBlank(character))
      return fault(
        at,
        'is a blank inside an expression',
        '+ or - between tokens; it is written with a backslash before it',
      )
    else text += character
  }
  if (text === '' && !(begins && ends))
    return fault(
      from,
      'is where a token is missing',
      `text, in which ${SPECIAL} are written with a backslash; ^$ fits no name`,
    )
  return { token: { text, begins, ends }, next: at }
}

function isBlank(character: string | undefined): boolean {
  return character === undefined || /\s/.test(character)
}

function fault(at: number, what: string, allowed: string): Fault {
  return { column: at + 1, fault: what, allowed }
}
