import type { Column } from '../column.ts'
import { fallOf } from '../falls.ts'
import { Increase } from './increases.ts'
import type { Matcher } from './match-loop.ts'

/** What {@link ratioMatcher} is made with. */
export interface RatioParts {
  readonly column: Column
  readonly to: Column
  readonly value: number
  /** 0: values are divided, else increases over so many samples. */
  readonly overSamples: number
  readonly isLess: boolean
}

/** `ratio_gt` and `ratio_lt`. */
export function ratioMatcher(parts: RatioParts): Matcher {
  return parts.overSamples === 0 ? ofValues(parts) : ofIncreases(parts)
}

function ofValues({ column, to, value, isLess }: RatioParts): Matcher {
  return {
    reachSamples: 0,
    match: (sample) => isBeyond(column.value(sample), to.value(sample), value, isLess),
    gap: () => undefined,
  }
}

function ofIncreases({ column, to, value, overSamples, isLess }: RatioParts): Matcher {
  const rises = [new Increase(column, overSamples), new Increase(to, overSamples)] as const
  let last: number | undefined
  const follow = (rise: Increase, sample: number) => {
    if (last === undefined || !rise.column.signal.isCounter) return
    const fall = fallOf(rise.column, sample, last)
    if (fall === 'reset') rise.gap(sample)
    else if (fall === 'wrap') rise.wrap(sample)
  }
  return {
    reachSamples: overSamples,
    match(sample) {
      for (const rise of rises) follow(rise, sample)
      last = sample
      const [above, below] = [rises[0].over(sample), rises[1].over(sample)]
      if (above === undefined || below === undefined) return undefined
      return isBeyond(above, below, value, isLess)
    },
    gap(sample) {
      for (const rise of rises) rise.gap(sample)
    },
  }
}

/** Nothing is a multiple of nothing, or of less. */
function isBeyond(above: number, below: number, value: number, isLess: boolean): boolean {
  if (!(below > 0) || above < 0) return false
  return isLess ? above / below < value : above / below > value
}
