import { createFieldSet, type FieldSet } from './fieldset.ts'

/**
 * The field set of a list of lines: a `.fset` if the first line is a section such as `[port]`, else a `.cset`.
 *
 * @throws SondeError `SET_SYNTAX` or `SET_LIMIT` with line and column.
 */
export function inlineSet(lines: readonly string[]): FieldSet {
  const kind = lines[0]?.trimStart().startsWith('[') === true ? 'fset' : 'cset'
  return createFieldSet(kind, lines.join('\n'), 'field_set')
}
