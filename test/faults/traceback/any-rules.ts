// Rules over given samples, whose limits are what the samples hold: values, increases and rates, or just beside.

import type { Rule, SignalRule, Test } from '../../../packages/agent/src/rules/rule.ts'
import type { Random } from '../../../packages/sdk/test/random.ts'
import type { AnyStream } from './any-samples.ts'
import { minus, type Value } from './model/exact.ts'

const KINDS: readonly Test['kind'][] = [
  ...(['gt', 'lt', 'inc_gt', 'dt_gt', 'dt_lt', 'rate_gt', 'rate_lt', 'absent', 'change'] as const),
  ...(['ratio_gt', 'ratio_lt', 'quantile_gt', 'quantile_lt'] as const),
]
const REFERENCE_KINDS = ['gt', 'lt', 'inc_gt', 'dt_gt', 'dt_lt'] as const
const QUANTILES = [0, 0.01, 0.07, 0.5, 0.9, 0.99, 0.999, 1]

/** Rules as the reference application has them: one depth is history, window and hysteresis of all. */
export function anyReferenceRules(random: Random, stream: AnyStream, depth: number, count: number): SignalRule[] {
  return Array.from({ length: count }, (_, index) => {
    const signal = random.integer(0, stream.signals.length - 1)
    const kind = random.pick(REFERENCE_KINDS)
    const isDifference = kind !== 'gt' && kind !== 'lt'
    const limit = isDifference
      ? anyIncrease(random, stream, signal, kind === 'inc_gt' ? random.integer(1, 9) : depth)
      : anyValue(random, stream, signal)
    const value = BigInt.asUintN(64, BigInt(limit))
    return { name: `rule ${index}`, signal, test: referenceTest(kind, value, depth) }
  })
}

function referenceTest(kind: (typeof REFERENCE_KINDS)[number], value: bigint, depth: number): Test {
  if (kind === 'inc_gt') return { kind, value }
  if (kind === 'dt_gt' || kind === 'dt_lt') return { kind, value, overSamples: depth, offSamples: depth }
  return { kind, value, onSamples: depth, offSamples: depth }
}

/** Rules of the language: single ones, then some that combine them. */
export function anyRules(random: Random, stream: AnyStream, count: number): Rule[] {
  const single: Rule[] = Array.from({ length: count }, (_, index) => {
    const signal = random.integer(0, stream.signals.length - 1)
    return { name: `rule ${index}`, signal, test: anyTest(random, stream, signal) }
  })
  const combined = Array.from({ length: random.integer(0, 3) }, (_, index): Rule => {
    const rules = single.map((_, rule) => rule).filter(() => random.chance(0.4))
    if (rules.length === 0) rules.push(0)
    const withinNs = Number(timeBetween(random, stream)) + random.integer(-1, 1)
    const of = random.pick(['all', 'any'] as const)
    return { name: `combination ${index}`, of, rules: rules.slice(0, 4), withinNs: Math.max(0, withinNs) }
  })
  return [...single, ...combined]
}

function anyTest(random: Random, stream: AnyStream, signal: number): Test {
  const kind = random.pick(KINDS)
  const onSamples = anyCount(random)
  const offSamples = anyCount(random)
  const overSamples = anyCount(random)
  switch (kind) {
    case 'gt':
    case 'lt':
      return { kind, value: limitOf(stream, signal, anyValue(random, stream, signal)), onSamples, offSamples }
    case 'inc_gt':
      return { kind, value: limitOf(stream, signal, anyIncrease(random, stream, signal, overSamples)) }
    case 'dt_gt':
    case 'dt_lt':
      return {
        ...{ kind, overSamples, offSamples },
        value: limitOf(stream, signal, anyIncrease(random, stream, signal, overSamples)),
      }
    case 'rate_gt':
    case 'rate_lt': {
      const overNs = Math.max(1, Number(timeBetween(random, stream)) + random.integer(-1, 1))
      const increase = anyIncrease(random, stream, signal, overSamples)
      const perSecond = (Number(increase) * 1e9) / Number(timeBetween(random, stream))
      return { kind, perSecond, overNs, offSamples }
    }
    case 'absent':
      return { kind, forNs: Math.max(1, Number(timeBetween(random, stream)) + random.integer(-1, 1)) }
    case 'change':
      return { kind, offSamples }
    case 'ratio_gt':
    case 'ratio_lt':
      return { ...anyRatio(random, stream, signal, kind), onSamples, offSamples }
    case 'quantile_gt':
    case 'quantile_lt': {
      const value = limitOf(stream, signal, anyValue(random, stream, signal))
      return { kind, quantile: random.pick(QUANTILES), value, overSamples, offSamples }
    }
  }
}

function anyRatio<Kind extends 'ratio_gt' | 'ratio_lt'>(random: Random, stream: AnyStream, signal: number, kind: Kind) {
  const to = random.integer(0, stream.signals.length - 1)
  const overSamples = random.chance(0.4) ? 0 : anyCount(random)
  const above = Number(
    overSamples === 0 ? anyValue(random, stream, signal) : anyIncrease(random, stream, signal, overSamples),
  )
  const below = Number(overSamples === 0 ? anyValue(random, stream, to) : anyIncrease(random, stream, to, overSamples))
  const value = above / below
  return { kind, value: Number.isFinite(value) ? value : random.integer(-1, 2), to, overSamples }
}

/** How many samples: often few, sometimes more than there may be. */
function anyCount(random: Random): number {
  return random.integer(1, random.pick([1, 2, 4, 16, 64]))
}

function anyPosition(random: Random, { samples }: AnyStream): number {
  return random.integer(0, samples.length - 1)
}

/** A value of the signal, or the next to it. */
function anyValue(random: Random, stream: AnyStream, signal: number): Value {
  return beside(random, stream.samples[anyPosition(random, stream)]?.values[signal] as Value)
}

/** An increase over so many samples, or the next to it. */
function anyIncrease(random: Random, stream: AnyStream, signal: number, overSamples: number): Value {
  const position = anyPosition(random, stream)
  const from = stream.samples[Math.max(0, position - overSamples)]?.values[signal] as Value
  return beside(random, minus(stream.samples[position]?.values[signal] as Value, from))
}

function beside(random: Random, value: Value): Value {
  const offset = random.integer(-1, 1)
  return typeof value === 'bigint' ? value + BigInt(offset) : value + offset * random.pick([1, Number.EPSILON])
}

/** What a file may hold: a whole number of 64 bits without a sign, or any number. */
function limitOf({ signals }: AnyStream, signal: number, value: Value): Value {
  return signals[signal]?.kind === 'u64' ? BigInt.asUintN(64, BigInt(value)) : Number(value)
}

function timeBetween(random: Random, stream: AnyStream): bigint {
  const position = anyPosition(random, stream)
  const earlier = Math.max(0, position - anyCount(random))
  const passed = (stream.samples[position]?.timeNs ?? 0n) - (stream.samples[earlier]?.timeNs ?? 0n)
  return passed > 0n ? passed : 1n
}
