import type { Rule, RuleBook, Signal, Test } from '../../rules/rule.ts'

/** What a rule says, in words; empty where the book does not have it. */
export function conditionOf(book: RuleBook | undefined, name: string): string {
  const rule = book?.rules.find((one) => one.name === name)
  return book === undefined || rule === undefined ? '' : wordsOf(book, rule)
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

function wordsOf(book: RuleBook, rule: Rule): string {
  if ('of' in rule) {
    const names = rule.rules.map((index) => book.rules[index]?.name ?? '?').join(', ')
    return `${rule.of} of ${names} within ${msOf(rule.withinNs)}`
  }
  const signal = book.signals[rule.signal]?.name ?? '?'
  return `${signal} ${testWords(rule.test, (index) => book.signals[index]?.name ?? '?')}`
}

function testWords(test: Test, nameOf: (signal: number) => string): string {
  const isAbove = test.kind.endsWith('gt')
  const side = isAbove ? 'above' : 'below'
  switch (test.kind) {
    case 'gt':
    case 'lt':
      return `is ${side} ${test.value} for ${samples(test.onSamples)}`
    case 'inc_gt':
      return `rose by ${test.value} or more since it last did`
    case 'dt_gt':
    case 'dt_lt':
      return `rises by ${isAbove ? 'more' : 'less'} than ${test.value} in ${samples(test.overSamples)}`
    case 'rate_gt':
    case 'rate_lt':
      return `rises by ${isAbove ? 'more' : 'less'} than ${test.perSecond} a second over ${msOf(test.overNs)}`
    case 'absent':
      return `has no sample for ${msOf(test.forNs)}`
    case 'change':
      return 'changes'
    case 'ratio_gt':
    case 'ratio_lt': {
      const over = test.overSamples > 0 ? `, of increases over ${samples(test.overSamples)},` : ''
      return `divided by ${nameOf(test.to)}${over} is ${side} ${test.value} for ${samples(test.onSamples)}`
    }
    case 'quantile_gt':
    case 'quantile_lt':
      return `has its quantile ${test.quantile} of ${samples(test.overSamples)} ${side} ${test.value}`
  }
}

function samples(count: number): string {
  return count === 1 ? '1 sample' : `${count} samples`
}

function msOf(ns: number): string {
  return `${ns / 1e6} ms`
}
