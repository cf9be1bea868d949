import type { CombinationRule, Rule } from '../../../../packages/agent/src/rules/rule.ts'
import { type ModelEdge, traceRule } from './fixed-rule.ts'
import { type ModelSample, type Point, pointsOf } from './points.ts'

/** What rules of the language did over samples of a device. */
export interface FixedTrace {
  /** By time; at one time ends before starts, each in the order of the file. */
  readonly edges: readonly ModelEdge[]
  /** Rules whose edges roundings decide. */
  readonly unclear: ReadonlySet<number>
  /** Counters whose increase a rule looks at, and which fell, as `POSITION: KIND of SIGNAL`. */
  readonly falls: readonly string[]
}

/** The starts and ends of all rules, by what they mean. */
export function fixedEdges(
  signals: readonly { readonly isCounter: boolean }[],
  rules: readonly Rule[],
  samples: readonly ModelSample[],
): FixedTrace {
  const points = signals.map((signal, index) => pointsOf(samples, index, signal))
  const traces = rules.map((rule, index) => {
    if ('of' in rule) return { edges: [], isUnclear: false }
    const watched = rule.test.kind.startsWith('ratio') && 'to' in rule.test ? points[rule.test.to] : []
    const isCounter = signals[rule.signal]?.isCounter === true
    return traceRule(rule, index, { points: points[rule.signal] ?? [], others: watched ?? [], isCounter })
  })
  const unclear = new Set(traces.flatMap(({ isUnclear }, index) => (isUnclear ? [index] : [])))
  const single = traces.flatMap(({ edges }) => edges).sort(inOrder)
  const combined = rules.flatMap((rule, index) => {
    if (!('of' in rule)) return []
    if (rule.rules.some((part) => unclear.has(part))) unclear.add(index)
    return combine(rule, index, single)
  })
  const followed = new Set(rules.flatMap(followedBy))
  const falls = [...followed].flatMap((signal) => fallsOf(points[signal] ?? [], signal))
  return { edges: [...single, ...combined].sort(inOrder), unclear, falls: falls.sort() }
}

/** Signals whose increase a rule looks at. */
function followedBy(rule: Rule): number[] {
  if ('of' in rule) return []
  switch (rule.test.kind) {
    case 'dt_lt':
      // No counter gains less than nothing: the engine does not look.
      return rule.test.value === 0n ? [] : [rule.signal]
    case 'inc_gt':
    case 'dt_gt':
    case 'rate_gt':
    case 'rate_lt':
      return [rule.signal]
    case 'ratio_gt':
    case 'ratio_lt':
      return rule.test.overSamples > 0 ? [rule.signal, rule.test.to] : []
    default:
      return []
  }
}

function fallsOf(points: readonly (Point | undefined)[], signal: number): string[] {
  return points.flatMap((point, position) => {
    if (point?.isReset) return [`${position}: reset of ${signal}`]
    return point?.isWrap ? [`${position}: wrap of ${signal}`] : []
  })
}

/** The order of edges: by time, ends before starts, by rule. */
function inOrder(left: ModelEdge, right: ModelEdge): number {
  if (left.timeNs !== right.timeNs) return left.timeNs < right.timeNs ? -1 : 1
  if (left.isStart !== right.isStart) return left.isStart ? 1 : -1
  return left.rule - right.rule
}

/** Edges of a combination: those of its rules go by in their order. */
function combine({ of, rules, withinNs }: CombinationRule, index: number, edges: readonly ModelEdge[]): ModelEdge[] {
  const found: ModelEdge[] = []
  const begunNs = new Map<number, bigint>()
  let isActive = false
  for (const { rule, timeNs, position, isStart } of edges) {
    if (!rules.includes(rule)) continue
    if (isStart) begunNs.set(rule, timeNs)
    else begunNs.delete(rule)
    const holds = of === 'any' ? begunNs.size > 0 : holdTogether(rules, begunNs, withinNs)
    if (holds !== isActive) found.push({ rule: index, timeNs, position, isStart: holds })
    isActive = holds
  }
  return found
}

function holdTogether(rules: readonly number[], begunNs: ReadonlyMap<number, bigint>, withinNs: number): boolean {
  if (!rules.every((rule) => begunNs.has(rule))) return false
  const times = [...begunNs.values()].sort((left, right) => (left < right ? -1 : 1))
  return (times.at(-1) as bigint) - (times[0] as bigint) <= BigInt(withinNs)
}
