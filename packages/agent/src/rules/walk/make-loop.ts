import type { SignalRule } from '../rule.ts'
import { RingColumn } from './column.ts'
import type { Falls } from './falls.ts'
import { AbsenceLoop } from './loops/absence.ts'
import { Difference } from './loops/difference.ts'
import { differenceMatcher, Increase } from './loops/increases.ts'
import { Increment } from './loops/increment.ts'
import type { RuleLoop } from './loops/loop.ts'
import { MatchLoop, type SampleMatcher } from './loops/match-loop.ts'
import { QuantileMatcher } from './loops/quantile.ts'
import { RateMatcher } from './loops/rate.ts'
import { ratioMatcher } from './loops/ratio.ts'
import { ReferenceIncrement } from './loops/reference-increment.ts'
import { Threshold } from './loops/threshold.ts'
import { changeMatcher, increaseMatcher, valueMatcher } from './loops/values.ts'
import type { WalkedRing, WalkSignal } from './ring-memory.ts'
import { isUnsignedWhole as isWholeLimit, ValueLimit } from './value-limit.ts'

/** Common parts of the loops of a ring's rules. */
export interface WalkParts {
  readonly signals: readonly WalkSignal[]
  readonly ring: WalkedRing
  /** Offset of the low word of the time of a sample. Unit: words. */
  readonly timeAt: number
  /** `reference`: sums modulo 2^64 without resets, as in the reference application. */
  readonly arithmetic: 'reference' | 'fixed'
  /** Collects the falls of counters. */
  readonly falls: Falls
}

/** The state machine of a rule. */
export function makeLoop({ test, signal: index }: SignalRule, rule: number, parts: WalkParts): RuleLoop {
  const { signals, ring, arithmetic } = parts
  const signal = signals[index] as WalkSignal
  const column = new RingColumn(ring, signal)
  const falls = signal.isCounter && arithmetic === 'fixed' ? parts.falls : undefined
  const common = { rule, signal: index, column, falls }
  // The limit for an application's value may have a fraction or be below 0.
  const isWhole = signal.kind === 'u64' && (!('value' in test) || isWholeLimit(test.value))
  switch (test.kind) {
    case 'gt':
    case 'lt':
      if (isWhole) return new Threshold({ ...common, ...test, isLess: test.kind === 'lt' })
      break
    case 'inc_gt':
      if (isWhole) return new (arithmetic === 'reference' ? ReferenceIncrement : Increment)({ ...common, ...test })
      break
    case 'dt_gt':
    case 'dt_lt':
      if (isWhole && (signal.isCounter || arithmetic === 'reference'))
        return new Difference({ ...common, ...test, isLess: test.kind === 'dt_lt' })
      break
    case 'absent':
      return new AbsenceLoop({ rule, times: timeColumn(parts), forNs: test.forNs })
  }
  const { onSamples = 1, offSamples = 1 } = { ...test } as { readonly onSamples?: number; readonly offSamples?: number }
  return new MatchLoop({ ...common, matcher: makeMatcher({ test, index, column }, parts), onSamples, offSamples })
}

interface MatchedSignal {
  readonly test: Exclude<SignalRule['test'], { kind: 'absent' }>
  /** Index of the signal. */
  readonly index: number
  readonly column: RingColumn
}

function makeMatcher({ test, index, column }: MatchedSignal, parts: WalkParts): SampleMatcher {
  const isLess = test.kind.endsWith('_lt') || test.kind === 'lt'
  switch (test.kind) {
    case 'gt':
    case 'lt':
      return valueMatcher(new ValueLimit(column, test.value), isLess)
    case 'inc_gt':
      return increaseMatcher(column, Number(test.value))
    case 'dt_gt':
    case 'dt_lt':
      return differenceMatcher(new Increase(column, test.overSamples), Number(test.value), isLess)
    case 'rate_gt':
    case 'rate_lt':
      return new RateMatcher({ ...test, column, times: timeColumn(parts), isLess })
    case 'change':
      return changeMatcher(column)
    case 'ratio_gt':
    case 'ratio_lt':
      return ratioMatcher({
        ...{ ...test, column, to: new RingColumn(parts.ring, parts.signals[test.to] as WalkSignal), isLess },
        ...{ signals: [index, test.to], falls: parts.falls },
      })
    case 'quantile_gt':
    case 'quantile_lt':
      return new QuantileMatcher({ ...test, limit: new ValueLimit(column, test.value), isLess })
  }
}

function timeColumn({ ring, timeAt }: WalkParts): RingColumn {
  return new RingColumn(ring, { at: timeAt, kind: 'u64', isCounter: false })
}
