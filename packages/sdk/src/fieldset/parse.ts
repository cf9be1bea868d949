import { SondeError } from '../errors.ts'
import { type Expression, type Fault, isWholeName, parseExpression } from './tokens.ts'

/** `cset` selects metrics by name, `fset` fields by name within types. */
export type FieldSetKind = 'cset' | 'fset'

/** The lines below one `[type]` of a `.fset`. */
export interface Section {
  /** Name of the type, or its prefix. */
  readonly type: string
  /** Whether `type` is a prefix: it ends in `*` in the file. */
  readonly isPrefix: boolean
  /** Empty: all fields. */
  readonly expressions: readonly Expression[]
}

/** The parsed content of a file. */
export type FieldSetRules =
  | { readonly kind: 'cset'; readonly expressions: readonly Expression[] }
  | { readonly kind: 'fset'; readonly sections: readonly Section[] }

/** Limit of a file. Unit: bytes. */
export const FIELD_SET_BYTES_LIMIT = 64 << 10
const LINE_LIMIT = 4096
/** Limit of tokens. A line with a whole name is looked up and does not count. */
const TOKEN_LIMIT = 1024
const SECTION_LIMIT = 256
const SECTION = /^\[([A-Za-z_][A-Za-z0-9_.:-]{0,127})?(\*)?\]$/

/**
 * Parses the text of a `.cset` or `.fset`. Pure. `file` is its name in errors.
 *
 * @throws SondeError `SET_SYNTAX` or `SET_LIMIT` for the first fault, with file, line, column and the allowed text.
 */
export function parseFieldSet(kind: FieldSetKind, text: string, file: string): FieldSetRules {
  if (Buffer.byteLength(text) > FIELD_SET_BYTES_LIMIT)
    throw limit(file, `is larger than ${FIELD_SET_BYTES_LIMIT} bytes; split it into several sets`)
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/)
  if (lines.length > LINE_LIMIT) throw limit(file, `has more than ${LINE_LIMIT} lines; split it into several sets`)
  const expressions: Expression[] = []
  const sections: (Section & { readonly expressions: Expression[] })[] = []
  let tokens = 0
  for (const [index, line] of lines.entries()) {
    const place = `${file}:${index + 1}`
    const control = line.search(CONTROL)
    if (control >= 0) throw syntax(place, { column: control + 1, fault: 'is a control character', allowed: 'text' })
    if (line.trimStart().startsWith('[')) {
      if (kind === 'cset')
        throw syntax(place, { ...at(line), fault: 'is a section', allowed: 'tokens; sections are for .fset' })
      if (sections.length >= SECTION_LIMIT) throw limit(place, `is one section too many; allowed: ${SECTION_LIMIT}`)
      sections.push(parseSection(line, place))
      continue
    }
    const expression = parseExpression(line)
    if (expression === undefined) continue
    if ('fault' in expression) throw syntax(place, expression)
    if (!isWholeName(expression)) tokens += expression.all.length + expression.none.length
    if (tokens > TOKEN_LIMIT)
      throw limit(place, `has one token too many; allowed: ${TOKEN_LIMIT} a file, beside whole names such as ^port$`)
    if (kind === 'cset') expressions.push(expression)
    else {
      const section = sections.at(-1)
      if (section === undefined)
        throw syntax(place, {
          ...at(line),
          fault: 'is a token before any section',
          allowed: 'a section such as [port] or [port_*]',
        })
      section.expressions.push(expression)
    }
  }
  return kind === 'cset' ? { kind, expressions } : { kind, sections }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: this finds control characters
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/

function parseSection(line: string, place: string): Section & { readonly expressions: Expression[] } {
  const [, type = '', star] = SECTION.exec((line.split('#', 1)[0] ?? '').trim()) ?? []
  if (type === '' && star === undefined) {
    const allowed = 'the name of a type in brackets, with * at its end for all that begin so: [port], [port_*] or [*]'
    throw syntax(place, { ...at(line), fault: 'is no section', allowed })
  }
  return { type, isPrefix: star !== undefined, expressions: [] }
}

/** The index of the first character of a line that is no blank. */
function at(line: string): Pick<Fault, 'column'> {
  return { column: line.length - line.trimStart().length + 1 }
}

function syntax(place: string, { column, fault, allowed }: Fault): SondeError {
  return new SondeError('SET_SYNTAX', `${place}:${column} ${fault}; allowed: ${allowed}`)
}

function limit(place: string, fault: string): SondeError {
  return new SondeError('SET_LIMIT', `${place} ${fault}`)
}
