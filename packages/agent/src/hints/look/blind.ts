import type { Rule } from '../rules/rule.ts'
import type { Signal } from '../watch/signal.ts'
import type { Scope } from './scope.ts'

/** Rules without a signal of any device: it is unknown whether they hold. */
export function blindRules(rules: readonly Rule[], scopes: readonly Scope[]): string[] {
  const looks = scopes.flatMap((scope) => scope.looks)
  // A series that appears with its first event is not missing before that event.
  const isThere = (signal: Signal) =>
    signal.bornAfterMs !== Number.POSITIVE_INFINITY || looks.some((look) => look.has(signal))
  const seeing = new Set(rules.filter(({ shows }) => shows.some(isThere)).map(({ name }) => name))
  return [...new Set(rules.map(({ name }) => name))].filter((name) => !seeing.has(name))
}
