import { bothSets, createFieldSet, type FieldSet } from './fieldset.ts'

/**
 * The field set of a list of lines: those before the first section such as `[port]` are a `.cset`, the others a
 * `.fset`, which decides on the types that it names.
 *
 * @throws SondeError `SET_SYNTAX` or `SET_LIMIT` with line and column.
 */
export function inlineSet(lines: readonly string[]): FieldSet {
  const first = lines.findIndex((line) => line.trimStart().startsWith('['))
  const tokens = first === -1 ? lines : lines.slice(0, first)
  const cset = () => createFieldSet('cset', tokens.join('\n'), 'field_set')
  if (first === -1) return cset()
  // Errors have the number of the line in the list.
  const fset = createFieldSet('fset', '\n'.repeat(first) + lines.slice(first).join('\n'), 'field_set')
  return tokens.every(isComment) ? fset : bothSets(cset(), fset)
}

function isComment(line: string): boolean {
  return /^\s*(?:#|$)/.test(line)
}
