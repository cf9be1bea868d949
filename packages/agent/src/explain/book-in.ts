import { readRuleBook } from '../rules/read/read-rule-book.ts'
import type { RuleBook } from '../rules/rule.ts'
import { readRulesText } from '../traceback/book/rules-text.ts'

/**
 * Reads the rules of a file. Returns undefined if the file is missing or invalid; the link of the file reports the
 * reason.
 */
export async function bookIn(path: string | undefined): Promise<RuleBook | undefined> {
  if (path === undefined) return undefined
  try {
    return readRuleBook((await readRulesText(path)) ?? '').book
  } catch {
    return undefined
  }
}
