import { countOf } from '@sonde/sdk/internal'
import type { CombinationRule, Rule, RuleBook, SignalRule } from '../rules/rule.ts'

/** The condition of a rule in words: `port_rx_bytes rises by more than 1048576 in 100 samples`. */
export function describeRule(rule: Rule, book: RuleBook): string {
  return 'test' in rule ? describeTest(rule, book) : describeCombination(rule, book)
}

function describeCombination({ of, rules, withinNs }: CombinationRule, book: RuleBook): string {
  const names = rules.map((index) => book.rules[index]?.name ?? '').join(', ')
  return of === 'any' ? `any of ${names}` : `all of ${names}, started within ${withinNs / 1e6} ms`
}

function describeTest({ signal, test }: SignalRule, { signals }: RuleBook): string {
  const name = signals[signal]?.name ?? ''
  const than = test.kind.endsWith('gt') ? 'above' : 'below'
  switch (test.kind) {
    case 'gt':
    case 'lt':
      return `${name} is ${than} ${test.value} for ${countOf(test.onSamples, 'sample')}`
    case 'inc_gt':
      return `${name} rose by ${test.value} since it last fired`
    case 'dt_gt':
    case 'dt_lt':
      return `${name} rises by ${test.kind === 'dt_gt' ? 'more' : 'less'} than ${test.value} in ${countOf(test.overSamples, 'sample')}`
    case 'rate_gt':
    case 'rate_lt':
      return `${name} rises by ${test.kind === 'rate_gt' ? 'more' : 'less'} than ${test.perSecond} a second, over ${test.overNs / 1e6} ms`
    case 'absent':
      return `no sample of ${name} for ${test.forNs / 1e6} ms`
    case 'change':
      return `${name} changes`
    case 'ratio_gt':
    case 'ratio_lt': {
      const to = signals[test.to]?.name ?? ''
      const over = test.overSamples === 0 ? '' : ` by their increase over ${countOf(test.overSamples, 'sample')},`
      return `${name} / ${to}${over} is ${than} ${test.value}`
    }
    case 'quantile_gt':
    case 'quantile_lt':
      return `quantile ${test.quantile} of ${countOf(test.overSamples, 'sample')} of ${name} is ${than} ${test.value}`
  }
}
