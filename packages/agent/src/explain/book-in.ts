import { readRuleBook } from '../rules/read/read-rule-book.ts'
import type { RuleBook } from '../rules/rule.ts'
import { readRulesText } from '../traceback/book/rules-text.ts'

/** The rules in a file; undefined if there is none, or it does not hold: the link of the file says why. */
export async function bookIn(path: string | undefined): Promise<RuleBook | undefined> {
  if (path === undefined) return undefined
  try {
    return readRuleBook((await readRulesText(path)) ?? '').book
  } catch {
    return undefined
  }
}
