import type { RingColumn } from '../column.ts'
import type { ValueLimit } from '../value-limit.ts'
import type { SampleMatcher } from './match-loop.ts'

/** `gt` and `lt` of numbers with fractions. */
export function valueMatcher(limit: ValueLimit, isLess: boolean): SampleMatcher {
  return {
    reachSamples: 0,
    match: (sample) => (isLess ? limit.compare(sample) < 0 : limit.compare(sample) > 0),
    gap: () => undefined,
  }
}

/** `change`: the value differs from the previous sample. */
export function changeMatcher(column: RingColumn): SampleMatcher {
  let from = 0
  return {
    reachSamples: 1,
    match: (sample) => (sample - 1 < from ? undefined : !column.isSame(sample, sample - 1)),
    gap: (sample) => {
      from = sample
    },
  }
}

/** `inc_gt` of numbers with fractions. */
export function increaseMatcher(column: RingColumn, value: number): SampleMatcher {
  let from: number | undefined
  return {
    reachSamples: 0,
    match(sample) {
      const now = column.value(sample)
      from ??= now
      if (now - from < value) return false
      from = now
      return true
    },
    gap: () => undefined,
    reset: (sample) => {
      from = column.value(sample)
    },
  }
}
