// What a rule of the language says about each sample, by looking back over all of them every time.

import type { SignalRule, Test } from '../../../../packages/agent/src/rules/rule.ts'
import { type Comparison, compareQuotient, minus, type Value } from './exact.ts'
import type { Point } from './points.ts'

/** All points of the signals that a rule looks at. */
export interface Watched {
  readonly points: readonly (Point | undefined)[]
  /** Of the other signal of a ratio. */
  readonly others: readonly (Point | undefined)[]
  readonly isCounter: boolean
}

/** A start or an end of a rule. */
export interface ModelEdge {
  readonly rule: number
  readonly timeNs: bigint
  /** Position of the sample with which it is known. */
  readonly position: number
  readonly isStart: boolean
}

/** What a rule did. */
export interface RuleTrace {
  readonly edges: readonly ModelEdge[]
  /** A quotient came so near to a threshold that roundings decide: the edges may differ. */
  readonly isUnclear: boolean
}

const NS_OF_SECOND = 1_000_000_000n

/** The starts and ends of a rule over all samples. */
export function traceRule(rule: SignalRule, index: number, watched: Watched): RuleTrace {
  const { test } = rule
  if (test.kind === 'absent') return { edges: absences(index, test.forNs, watched.points), isUnclear: false }
  if (test.kind === 'inc_gt') return increments(index, test.value, watched.points)
  const { onSamples, offSamples } = hysteresisOf(test)
  const edges: ModelEdge[] = []
  let isUnclear = false
  let isActive = false
  let count = 0
  for (const [position, point] of watched.points.entries()) {
    if (point === undefined || restartsCount(test, watched, position)) count = 0
    if (point === undefined) continue
    const match = matchOf(test, watched, position)
    if (match === undefined) continue
    isUnclear ||= match.isNear
    if (match.isMatch === isActive) {
      count = 0
      continue
    }
    count += 1
    if (count < (isActive ? offSamples : onSamples)) continue
    isActive = !isActive
    count = 0
    edges.push({ rule: index, timeNs: point.timeNs, position, isStart: isActive })
  }
  return { edges, isUnclear }
}

type Counted = Exclude<Test, { kind: 'absent' } | { kind: 'inc_gt' }>

function hysteresisOf(test: Counted): { readonly onSamples: number; readonly offSamples: number } {
  return { onSamples: 'onSamples' in test ? test.onSamples : 1, offSamples: test.offSamples }
}

/** A gap begins counts anew; a reset does for rules that look at increases. */
function restartsCount(test: Counted, { points, others }: Watched, position: number): boolean {
  const isRatio = test.kind === 'ratio_gt' || test.kind === 'ratio_lt'
  const looked = isRatio ? [points[position], others[position]] : [points[position]]
  return looked.some((point) => {
    if (point === undefined || point.runStart === position) return true
    return point.isReset && looksAtIncrease(test)
  })
}

function looksAtIncrease(test: Counted): boolean {
  switch (test.kind) {
    case 'dt_gt':
    case 'dt_lt':
    case 'rate_gt':
    case 'rate_lt':
      return true
    case 'ratio_gt':
    case 'ratio_lt':
      return test.overSamples > 0
    default:
      return false
  }
}

interface Match {
  readonly isMatch: boolean
  readonly isNear: boolean
}

const exactly = (isMatch: boolean): Match => ({ isMatch, isNear: false })
const above = ({ order, isNear }: Comparison): Match => ({ isMatch: order > 0, isNear })
const below = ({ order, isNear }: Comparison): Match => ({ isMatch: order < 0, isNear })

/** Whether the sample at a position matches; undefined if that cannot be told. */
function matchOf(test: Counted, watched: Watched, position: number): Match | undefined {
  const { points, isCounter } = watched
  const point = points[position] as Point
  switch (test.kind) {
    case 'gt':
      return exactly(point.raw > test.value)
    case 'lt':
      return exactly(point.raw < test.value)
    case 'change':
      return point.runStart === position ? undefined : exactly(point.raw !== points[position - 1]?.raw)
    case 'dt_gt':
    case 'dt_lt': {
      const increase = increaseOf(points, position, test.overSamples)
      if (increase === undefined) return undefined
      const isMatch = test.kind === 'dt_gt' ? increase > test.value : increase < test.value
      return { isMatch, isNear: exceeds(increase) || (!isCounter && isNearLarge(increase, test.value)) }
    }
    case 'rate_gt':
    case 'rate_lt': {
      const rate = compareRate(test, points, position)
      if (rate === undefined) return undefined
      return test.kind === 'rate_gt' ? above(rate) : below(rate)
    }
    case 'ratio_gt':
    case 'ratio_lt':
      return matchOfRatio(test, watched, position)
    case 'quantile_gt':
    case 'quantile_lt': {
      const quantile = quantileOf(test, points, position)
      if (quantile === undefined) return undefined
      return exactly(test.kind === 'quantile_gt' ? quantile > test.value : quantile < test.value)
    }
  }
}

/** A counter of 32 bits that wrapped does not go on to 2^64: nothing is promised of such an increase. */
function exceeds(increase: Value): boolean {
  return typeof increase === 'bigint' && increase >= 2n ** 64n
}

/** Increases of gauges are doubles: beyond 2^53 they are rounded. */
function isNearLarge(increase: Value, limit: Value): boolean {
  if (typeof increase !== 'bigint' || increase === BigInt(limit)) return false
  const [size, apart] = [increase, increase - BigInt(limit)].map((value) => (value < 0n ? -value : value))
  return (size as bigint) > 2n ** 53n && (apart as bigint) < 2n ** 12n
}

/** The increase over so many samples, all of one run and since the last reset. */
function increaseOf(points: Watched['points'], position: number, overSamples: number): Value | undefined {
  const point = points[position]
  if (point === undefined || position - overSamples < point.windowStart) return undefined
  return minus(point.lifted, (points[position - overSamples] as Point).lifted)
}

function compareRate(
  { perSecond, overNs }: { readonly perSecond: number; readonly overNs: number },
  points: Watched['points'],
  position: number,
): Comparison | undefined {
  const point = points[position] as Point
  for (let earlier = position; earlier >= point.windowStart; earlier--) {
    const from = points[earlier] as Point
    const passedNs = point.timeNs - from.timeNs
    if (passedNs < BigInt(overNs)) continue
    return compareQuotient(minus(point.lifted, from.lifted), passedNs, perSecond, { scale: NS_OF_SECOND })
  }
  return undefined
}

function matchOfRatio(
  test: Extract<Counted, { kind: 'ratio_gt' | 'ratio_lt' }>,
  { points, others }: Watched,
  position: number,
): Match | undefined {
  const { overSamples } = test
  const numerator = overSamples === 0 ? points[position]?.raw : increaseOf(points, position, overSamples)
  const denominator = overSamples === 0 ? others[position]?.raw : increaseOf(others, position, overSamples)
  if (numerator === undefined || denominator === undefined) return undefined
  const hasDecreased = overSamples > 0 && (numerator < 0 || denominator < 0)
  if (Number(denominator) === 0 || hasDecreased) return exactly(false)
  const ratio = compareQuotient(numerator, denominator, test.value)
  return test.kind === 'ratio_gt' ? above(ratio) : below(ratio)
}

/** The quantile of the last samples of the run by nearest rank. */
function quantileOf(
  { quantile, overSamples }: { readonly quantile: number; readonly overSamples: number },
  points: Watched['points'],
  position: number,
): Value | undefined {
  const first = position - overSamples + 1
  if (first < (points[position] as Point).runStart) return undefined
  const sorted = points.slice(first, position + 1).map((point) => (point as Point).raw)
  sorted.sort((left, right) => (left < right ? -1 : left > right ? 1 : 0))
  return sorted[Math.max(1, Math.ceil(quantile * overSamples)) - 1]
}

function increments(index: number, value: Value, points: Watched['points']): RuleTrace {
  const edges: ModelEdge[] = []
  let reference: Value | undefined
  let isActive = false
  let isUnclear = false
  for (const [position, point] of points.entries()) {
    if (point === undefined) continue
    if (reference === undefined || point.isReset) reference = point.lifted
    const increase = minus(point.lifted, reference)
    isUnclear ||= exceeds(increase)
    const fires = increase >= value
    if (fires) reference = point.lifted
    if (fires !== isActive) edges.push({ rule: index, timeNs: point.timeNs, position, isStart: fires })
    isActive = fires
  }
  return { edges, isUnclear }
}

/** A sample without a value is no sample of the signal. */
function absences(index: number, forNs: number, points: Watched['points']): ModelEdge[] {
  const edges: ModelEdge[] = []
  let last: Point | undefined
  for (const [position, point] of points.entries()) {
    if (point === undefined) continue
    const startNs = last === undefined ? point.timeNs : last.timeNs + BigInt(forNs)
    if (startNs < point.timeNs) {
      edges.push({ rule: index, timeNs: startNs, position, isStart: true })
      edges.push({ rule: index, timeNs: point.timeNs, position, isStart: false })
    }
    last = point
  }
  return edges
}
