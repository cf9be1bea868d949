import type { RuleBook, Signal } from '../../rules/rule.ts'
import { describeRule } from '../describe-rule.ts'

/** What a rule says, in words; empty where the book does not have it. */
export function conditionOf(book: RuleBook | undefined, name: string): string {
  const rule = book?.rules.find((one) => one.name === name)
  return book === undefined || rule === undefined ? '' : describeRule(rule, book)
}

/** The signal that a rule watches; undefined where the book does not have the rule, or it combines others. */
export function signalOf(
  book: RuleBook | undefined,
  name: string,
): Pick<Signal, 'type' | 'field' | 'labels'> | undefined {
  const rule = book?.rules.find((one) => one.name === name)
  if (rule === undefined || 'of' in rule) return undefined
  const signal = book?.signals[rule.signal]
  return signal === undefined ? undefined : { type: signal.type, field: signal.field, labels: signal.labels }
}

/** The signals that a book lists. */
export function listedIn(book: RuleBook | undefined): readonly Pick<Signal, 'type' | 'field' | 'labels'>[] {
  return (book?.signals ?? []).map(({ type, field, labels }) => ({ type, field, labels }))
}
