import type { RingColumn } from '../column.ts'
import { counterFall, type Falls } from '../falls.ts'
import { Increase } from './increases.ts'
import type { SampleMatcher } from './match-loop.ts'

/** Parts of {@link ratioMatcher}. */
export interface RatioParts {
  readonly column: RingColumn
  readonly to: RingColumn
  /** Indexes of both signals. */
  readonly signals: readonly [signal: number, to: number]
  /** Collects the falls of counters. */
  readonly falls: Falls
  readonly value: number
  /** 0 divides the values; otherwise the increases over this number of samples are divided. */
  readonly overSamples: number
  readonly isLess: boolean
}

/** `ratio_gt` and `ratio_lt`. */
export function ratioMatcher(parts: RatioParts): SampleMatcher {
  return parts.overSamples === 0 ? ofValues(parts) : ofIncreases(parts)
}

function ofValues({ column, to, value, isLess }: RatioParts): SampleMatcher {
  return {
    reachSamples: 0,
    match: (sample) => isBeyond(column.value(sample), to.value(sample), value, isLess),
    gap: () => undefined,
  }
}

function ofIncreases({ column, to, signals, falls, value, overSamples, isLess }: RatioParts): SampleMatcher {
  const rises = [new Increase(column, overSamples), new Increase(to, overSamples)] as const
  let last: number | undefined
  let hasReset = false
  const follow = (rise: Increase, signal: number, sample: number) => {
    if (last === undefined || !rise.column.signal.isCounter) return
    const kind = counterFall(rise.column, sample, last)
    if (kind === undefined) return
    falls.note({ signal, sample, kind })
    if (kind === 'wrap') rise.wrap(sample)
    else rise.gap(sample)
    hasReset ||= kind === 'reset'
  }
  return {
    reachSamples: overSamples,
    match(sample) {
      hasReset = false
      for (const [index, rise] of rises.entries()) follow(rise, signals[index] as number, sample)
      last = sample
      const [above, below] = [rises[0].over(sample), rises[1].over(sample)]
      if (above === undefined || below === undefined) return undefined
      // A ratio with a decrease has no meaning.
      if (above < 0 || below < 0) return false
      return isBeyond(above, below, value, isLess)
    },
    gap(sample) {
      for (const rise of rises) rise.gap(sample)
    },
    hasReset: () => hasReset,
  }
}

/** A division by 0 never matches. */
function isBeyond(above: number, below: number, value: number, isLess: boolean): boolean {
  if (below === 0) return false
  return isLess ? above / below < value : above / below > value
}
