import type { HintRule } from '../rules/rule.ts'
import type { HintSignal } from '../watch/signal.ts'
import type { Scope } from './scope.ts'

/** Rules without a signal of any device: it is unknown whether they hold. */
export function blindRules(rules: readonly HintRule[], scopes: readonly Scope[]): string[] {
  const inspections = scopes.flatMap((scope) => scope.inspections)
  // A series that appears with its first event is not missing before that event.
  const isThere = (signal: HintSignal) =>
    signal.bornAfterMs !== Number.POSITIVE_INFINITY || inspections.some((inspection) => inspection.has(signal))
  const seeing = new Set(rules.filter(({ shows }) => shows.some(isThere)).map(({ name }) => name))
  return [...new Set(rules.map(({ name }) => name))].filter((name) => !seeing.has(name))
}
