import { deepEqual } from 'node:assert/strict'
import { Combinations } from '../../../packages/agent/src/rules/combinations.ts'
import type { Rule, SignalRule } from '../../../packages/agent/src/rules/rule.ts'
import { type ReferenceKind, ReferenceRule } from '../../../packages/agent/test/reference/reference-rule.ts'
import { Random } from '../../../packages/sdk/test/random.ts'
import type { AnyStream } from './any-samples.ts'
import { fixedEdges } from './model/fixed-edges.ts'
import type { ModelEdge } from './model/fixed-rule.ts'
import { type WalkedEdge, walkSamples } from './walk-samples.ts'

/** Falls of counters that the engine notes of a walk. */
const FALLS_OF_WALK = 64

/** Samples and rules, and how they are given to the engine. */
export interface Case {
  readonly stream: AnyStream
  readonly rules: readonly Rule[]
  /** The depth of the reference application; absent if rules are those of the language. */
  readonly depth?: number
  readonly chunkSamples: number
  readonly isRingSmall: boolean
  readonly seed: number
}

/** What was compared. */
export interface Compared {
  readonly edges: number
  /** Rules that were left out, because roundings decide them. */
  readonly unclear: number
  /** Kinds of the rules that began. */
  readonly kinds: ReadonlySet<string>
}

/** Compares engine and model; throws where they differ. */
export function compare(each: Case): Compared {
  return each.depth === undefined ? compareFixed(each) : compareReference(each, each.depth)
}

function compareReference({ stream, rules, chunkSamples, isRingSmall, seed }: Case, depth: number): Compared {
  const single = rules as readonly SignalRule[]
  const machines = single.map(({ test }) => {
    const { kind, value } = test as { readonly kind: ReferenceKind; readonly value: bigint }
    return new ReferenceRule({ kind, value, depth })
  })
  const wanted: WalkedEdge[] = []
  const stored: bigint[][] = []
  for (const [position, { values }] of stream.samples.entries()) {
    stored.push(values as bigint[])
    if (stored.length > 2 * depth) stored.shift()
    for (const [rule, machine] of machines.entries()) {
      const column = stored.map((row) => row[single[rule]?.signal as number] as bigint)
      if (machine.evaluate(column)) wanted.push({ rule, position, isStart: machine.isActive })
    }
  }
  const way = { arithmetic: 'reference', random: new Random(seed), chunkSamples, isRingSmall } as const
  deepEqual(told(walkSamples(stream, single, way).edges), told(wanted))
  return { edges: wanted.length, unclear: 0, kinds: kindsOf(rules, wanted) }
}

function compareFixed({ stream, rules, chunkSamples, isRingSmall, seed }: Case): Compared {
  const { edges, unclear, falls } = fixedEdges(stream.signals, rules, stream.samples)
  const skipped = new Set(unclear)
  // A ring that holds little may have forgotten what a rate looks back to, sooner or later by how samples were split.
  for (const [index, rule] of rules.entries()) {
    if (isRingSmall && 'test' in rule && rule.test.kind.startsWith('rate')) skipped.add(index)
    if ('of' in rule && rule.rules.some((part) => skipped.has(part))) skipped.add(index)
  }
  const isSingle = (rule: number) => 'test' in (rules[rule] as Rule)
  const single = rules.filter((rule) => 'test' in rule)
  const way = { arithmetic: 'fixed', random: new Random(seed), chunkSamples, isRingSmall } as const
  const { edges: walked, falls: walkedFalls } = walkSamples(stream, single, way)
  // The engine notes up to so many at a time.
  if (falls.length <= FALLS_OF_WALK) deepEqual(walkedFalls, falls)
  const isKept = ({ rule }: { readonly rule: number }) => !skipped.has(rule)
  const wanted = edges.filter(isKept)
  const wantedSingle = wanted.filter(({ rule }) => isSingle(rule)).map((edge) => listed(edge, rules))
  for (const areAbsences of [false, true]) {
    const isOfThese = ({ rule }: WalkedEdge) => isAbsence(rules[rule] as Rule) === areAbsences
    const found = walked.filter((edge) => isKept(edge) && isOfThese(edge))
    deepEqual(told(found), told(wantedSingle.filter(isOfThese).sort(inEngineOrder)))
  }
  const timed = walked.map((edge) => ({ ...edge, timeNs: timeOf(edge, rules, stream) }))
  const combined = combinedOf(rules, timed).filter(isKept)
  deepEqual(combined.map(sayTimed), wanted.filter(({ rule }) => !isSingle(rule)).map(sayTimed))
  return { edges: wanted.length, unclear: unclear.size, kinds: kindsOf(rules, wanted) }
}

function kindsOf(rules: readonly Rule[], edges: readonly { readonly rule: number }[]): Set<string> {
  const began = edges.map(({ rule }) => rules[rule] as Rule)
  return new Set(began.map((rule) => ('of' in rule ? rule.of : rule.test.kind)))
}

/** The engine lists the beginning of `absent` at the last sample that there was. */
function listed({ rule, position, isStart }: ModelEdge, rules: readonly Rule[]): WalkedEdge {
  return { rule, position: isStart && isAbsence(rules[rule] as Rule) ? position - 1 : position, isStart }
}

function isAbsence(rule: Rule): boolean {
  return 'test' in rule && rule.test.kind === 'absent'
}

/** By sample, ends before starts, by rule. */
function inEngineOrder(left: WalkedEdge, right: WalkedEdge): number {
  if (left.position !== right.position) return left.position - right.position
  if (left.isStart !== right.isStart) return left.isStart ? 1 : -1
  return left.rule - right.rule
}

/** When an edge was: `absent` begins before the sample with which that is known. */
function timeOf({ rule, position, isStart }: WalkedEdge, rules: readonly Rule[], { samples }: AnyStream): bigint {
  const { test } = rules[rule] as SignalRule
  if (test.kind !== 'absent' || !isStart) return samples[position]?.timeNs ?? 0n
  return (samples[position]?.timeNs ?? 0n) + BigInt(test.forNs)
}

type Timed = Pick<ModelEdge, 'rule' | 'timeNs' | 'isStart'>

/** What the combinations of the product make of the edges of single rules. */
function combinedOf(rules: readonly Rule[], edges: readonly (WalkedEdge & Timed)[]): Timed[] {
  const combinations = new Combinations(rules)
  const inTime = [...edges].sort((left, right) =>
    left.timeNs === right.timeNs ? inEngineOrder(left, right) : left.timeNs < right.timeNs ? -1 : 1,
  )
  const found = inTime.flatMap(({ rule, timeNs, isStart }) => {
    const name = (rules[rule] as Rule).name
    return combinations.take([{ rule: name, device: 'd', monoNs: timeNs, errorNs: 0n, isStart }])
  })
  const indexes = new Map(rules.map(({ name }, index) => [name, index]))
  return found
    .map(({ rule, monoNs, isStart }) => ({ rule: indexes.get(rule) as number, timeNs: monoNs, isStart }))
    .sort((left, right) => {
      if (left.timeNs !== right.timeNs) return left.timeNs < right.timeNs ? -1 : 1
      if (left.isStart !== right.isStart) return left.isStart ? 1 : -1
      return left.rule - right.rule
    })
}

function told(edges: readonly WalkedEdge[]): string[] {
  return edges.map(({ rule, position, isStart }) => `${position}: ${isStart ? 'start' : 'end'} of ${rule}`)
}

function sayTimed({ rule, timeNs, isStart }: Timed): string {
  return `${timeNs} ns: ${isStart ? 'start' : 'end'} of ${rule}`
}
