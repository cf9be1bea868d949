import type { RuleBook, Signal, SignalRule } from '../../rules/rule.ts'
import type { Watch, WatchedSignal } from '../../rules/watch.ts'
import { placedCounter } from '../../sources/doca-telemetry-diag/counters.ts'

/** The rules of a book on single signals, as hosts watch them. */
export function watchOfBook({ rules, signals }: RuleBook): Watch {
  const single = rules.filter((rule): rule is SignalRule => !('of' in rule))
  return { signals: signals.map(watchedSignal), rules: single }
}

function watchedSignal({ dataId, ...signal }: Signal): WatchedSignal {
  return { ...signal, isCounter: dataId !== undefined && placedCounter(dataId).counter?.extreme === undefined }
}
