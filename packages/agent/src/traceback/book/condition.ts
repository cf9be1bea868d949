import type { RecordType } from '@sonde/sdk'
import type { RuleBook, Signal } from '../../rules/rule.ts'
import { describeRule } from '../describe-rule.ts'

/** The condition of a rule in words; empty if the book has no such rule. The types are those that are reported. */
export function ruleCondition(book: RuleBook | undefined, name: string, types: readonly RecordType[]): string {
  const rule = book?.rules.find((one) => one.name === name)
  return book === undefined || rule === undefined ? '' : describeRule(rule, book, types)
}

/** The signals that a rule watches, or those of the rules that it combines; empty if the book has no such rule. */
export function ruleSignals(
  book: RuleBook | undefined,
  name: string,
): readonly Pick<Signal, 'type' | 'field' | 'labels'>[] {
  const rule = book?.rules.find((one) => one.name === name)
  if (book === undefined || rule === undefined) return []
  const rules = 'of' in rule ? rule.rules.flatMap((index) => book.rules[index] ?? []) : [rule]
  return rules.flatMap((one) => {
    const signal = 'of' in one ? undefined : book.signals[one.signal]
    return signal === undefined ? [] : [{ type: signal.type, field: signal.field, labels: signal.labels }]
  })
}

/** The signals that a book lists. */
export function bookSignals(book: RuleBook | undefined): readonly Pick<Signal, 'type' | 'field' | 'labels'>[] {
  return (book?.signals ?? []).map(({ type, field, labels }) => ({ type, field, labels }))
}
