/** A line `key=value`. */
export interface ExpLine {
  readonly key: string
  readonly value: string
  /** Number of the line, from 1. */
  readonly line: number
}

/** A fault of a line, without the value, which may be a secret. */
export interface ExpFault {
  readonly line: number
  /** The fault and the allowed values, as a sentence. */
  readonly words: string
}

/** The lines of a `.exp` file, and the lines that are none. */
export interface ParsedExp {
  readonly lines: readonly ExpLine[]
  readonly faults: readonly ExpFault[]
}

/**
 * Reads lines `key=value` of a `.exp` file. A line whose first letter is `#` is a comment; a value may contain `=` and
 * `#`. Blanks around key and value are removed. Pure.
 */
export function parseExp(text: string): ParsedExp {
  const lines: ExpLine[] = []
  const faults: ExpFault[] = []
  const known = new Map<string, number>()
  for (const [index, raw] of text.split('\n').entries()) {
    const line = index + 1
    const content = raw.trim()
    if (content === '' || content.startsWith('#')) continue
    const at = content.indexOf('=')
    const key = content.slice(0, Math.max(at, 0)).trim()
    const value = content.slice(at + 1).trim()
    const first = known.get(key)
    if (key === '') faults.push({ line, words: 'is no setting; allowed: key=value, or a comment that begins with #' })
    else if (first !== undefined)
      faults.push({ line, words: `${key} is given again, after line ${first}; allowed: once` })
    else lines.push({ key, value, line })
    known.set(key, line)
  }
  return { lines, faults }
}
