import { createFieldSet, type FieldSet } from './fieldset.ts'

/**
 * The field set that a list of lines is: of a `.fset` if the first is a section such as `[port]`, else of a `.cset`.
 *
 * @throws SondeError `SET_SYNTAX` or `SET_LIMIT` with line and column.
 */
export function inlineSet(lines: readonly string[]): FieldSet {
  const kind = lines[0]?.trimStart().startsWith('[') === true ? 'fset' : 'cset'
  return createFieldSet(kind, lines.join('\n'), 'field_set')
}
