import type { Rule, RuleBook, SignalRule } from '../rule.ts'
import { typeLike } from './known-field.ts'
import type { ReadSignal } from './read-signals.ts'

const PER_SECOND = /\/ ?s(ec(ond)?)?\b|\bper[ _-]?sec(ond)?\b|_per_sec(ond)?\b/i
const SECOND_NS = 1e9

/**
 * One sentence for each entry of a file of rules that is allowed but probably a mistake, with the JSON path of the
 * rule.
 */
export function ruleWarnings(book: RuleBook, signals: readonly ReadSignal[]): string[] {
  const foreign = signals.flatMap(({ signal, known }) => {
    if (signal.dataId !== undefined || known !== undefined) return []
    const name = JSON.stringify(signal.name)
    const like = typeLike(signal.type)
    const meant = like === undefined ? '' : ` (did you mean ${like}?)`
    return [`signals: ${name} is of records of ${signal.type}, which only an application may report${meant}`]
  })
  const ofRules = book.rules.flatMap((rule, index) =>
    isSignalRule(rule) ? warningsOfRule(rule, `rules[${index}]`, book, signals[rule.signal]) : [],
  )
  return [...foreign, ...ofRules]
}

function warningsOfRule(rule: SignalRule, place: string, book: RuleBook, read: ReadSignal | undefined): string[] {
  const { test, name } = rule
  const signal = JSON.stringify(read?.signal.name ?? '')
  const role = read?.known?.role
  const warnings: string[] = []
  if ((test.kind === 'gt' || test.kind === 'lt') && role === 'counter')
    warnings.push(
      `${place}: ${test.kind} compares ${signal} itself, a counter that only rises; rate_gt and dt_gt compare its increase`,
    )
  if (test.kind !== 'dt_gt' && test.kind !== 'dt_lt') return warnings
  if (role === 'gauge')
    warnings.push(
      `${place}: ${test.kind} compares the increase of ${signal}, which is a gauge; gt and lt compare its value`,
    )
  const windowNs = test.overSamples * book.samplePeriodNs
  const isNamedRate = PER_SECOND.test(name) || PER_SECOND.test(read?.signal.name ?? '')
  if (isNamedRate && read?.signal.dataId !== undefined && windowNs !== SECOND_NS)
    warnings.push(
      `${place}: ${JSON.stringify(name)} names a rate per second, but its ${test.overSamples} samples span ${windowNs / SECOND_NS} s; ` +
        `rate_gt and rate_lt compare the increase per second`,
    )
  return warnings
}

function isSignalRule(rule: Rule): rule is SignalRule {
  return 'signal' in rule
}
