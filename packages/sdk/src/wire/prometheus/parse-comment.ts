import type { ParseFault } from './parse-faults.ts'
import { unescapeText } from './parse-labels.ts'

/** What a body says of a metric beside its samples. */
export interface ScrapedFamily {
  readonly name: string
  /** `counter`, `gauge`, `histogram`, `summary`, `untyped`, or a type of OpenMetrics; empty if it was not declared. */
  type: string
  /** Empty if it was not told. */
  unit: string
  /** Empty if it was not told. */
  help: string
}

const COMMENT = /^#[ \t]+(HELP|TYPE|UNIT)[ \t]+("(?:[^"\\]|\\.)*"|[^ \t]+)(?:[ \t]+(.*))?$/s
const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const TYPE = /^(counter|gauge|histogram|summary|untyped|unknown|info|stateset|gaugehistogram)$/i

/**
 * Notes what a comment says of a family; others say nothing. What is wrong with it, undefined if nothing is.
 */
export function readComment(
  text: string,
  families: Map<string, ScrapedFamily>,
  familyCount: number,
): ParseFault | undefined {
  const match = COMMENT.exec(text)
  if (match === null) return undefined
  const [, what, given = '', rest = ''] = match
  const name = given.startsWith('"') ? unescapeText(given.slice(1, -1)) : given
  if (!given.startsWith('"') && !NAME.test(name)) return 'comment'
  if (what === 'TYPE' && !TYPE.test(rest.trim())) return 'comment'
  let family = families.get(name)
  if (family === undefined) {
    if (families.size >= familyCount) return 'family_count'
    family = { name, type: '', unit: '', help: '' }
    families.set(name, family)
  }
  if (what === 'TYPE') family.type = rest.trim().toLowerCase()
  else if (what === 'UNIT') family.unit = rest.trim()
  else family.help = unescapeText(rest)
  return undefined
}
