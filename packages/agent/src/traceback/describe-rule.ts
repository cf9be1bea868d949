import type { RecordType } from '@sonde/sdk'
import { countOf } from '@sonde/sdk/internal'
import type { CombinationRule, Rule, RuleBook, Signal, SignalRule } from '../rules/rule.ts'
import { limitWords } from './limit-words.ts'

/**
 * The condition of a rule in words: `PCIe speed is below 32 GT/s for 1 sample`. Without the type of a field, its limit
 * has no unit.
 */
export function describeRule(rule: Rule, book: RuleBook, types: readonly RecordType[] = []): string {
  return 'test' in rule ? describeTest(rule, book, types) : describeCombination(rule, book)
}

function describeCombination({ of, rules, withinNs }: CombinationRule, book: RuleBook): string {
  const names = rules.map((index) => book.rules[index]?.name ?? '').join(', ')
  return of === 'any' ? `any of ${names}` : `all of ${names}, started within ${withinNs / 1e6} ms`
}

function unitOf(signal: Signal | undefined, types: readonly RecordType[]): string {
  const type = types.find(({ name }) => name === signal?.type)
  return type?.layout.slots.find(({ name }) => name === signal?.field)?.field.unit ?? ''
}

function describeTest({ signal, test }: SignalRule, { signals }: RuleBook, types: readonly RecordType[]): string {
  const name = signals[signal]?.name ?? ''
  const words = (limit: bigint | number) => limitWords(limit, unitOf(signals[signal], types))
  const than = test.kind.endsWith('gt') ? 'above' : 'below'
  switch (test.kind) {
    case 'gt':
    case 'lt':
      return `${name} is ${than} ${words(test.value)} for ${countOf(test.onSamples, 'sample')}`
    case 'inc_gt':
      return `${name} rose by ${words(test.value)} since it last fired`
    case 'dt_gt':
    case 'dt_lt':
      return `${name} rises by ${test.kind === 'dt_gt' ? 'more' : 'less'} than ${words(test.value)} in ${countOf(test.overSamples, 'sample')}`
    case 'rate_gt':
    case 'rate_lt':
      return `${name} rises by ${test.kind === 'rate_gt' ? 'more' : 'less'} than ${words(test.perSecond)} a second, over ${test.overNs / 1e6} ms`
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
      return `quantile ${test.quantile} of ${countOf(test.overSamples, 'sample')} of ${name} is ${than} ${words(test.value)}`
  }
}
