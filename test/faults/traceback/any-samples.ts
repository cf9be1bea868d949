// Streams of samples that stay at the edges of numbers: 0, 2^32, 2^53, 2^63, 2^64, and what counters do there.

import type { Random } from '../../../packages/sdk/test/random.ts'
import type { Value } from './model/exact.ts'
import type { ModelSample } from './model/points.ts'

/** A column of samples. */
export interface AnySignal {
  readonly kind: 'u64' | 'f64'
  readonly isCounter: boolean
}

/** Samples of some signals. */
export interface AnyStream {
  readonly signals: readonly AnySignal[]
  readonly samples: readonly ModelSample[]
}

const EDGES: readonly bigint[] = [0n, 2n ** 30n, 3n * 2n ** 30n, 2n ** 31n, 2n ** 32n, 2n ** 53n, 2n ** 63n, 2n ** 64n]
/** Times of a clock at its start, after some days, and after years: beyond 2^53. */
const STARTS_NS: readonly bigint[] = [1n, 1_000_000_000n, 2n ** 32n - 5n, 2n ** 53n - 1_000_000n, 2n ** 58n]
const PERIODS_NS: readonly bigint[] = [1n, 1000n, 100_000n, 500_000_000n, 1_000_000_000n]
const MIXES: readonly (readonly [chance: number, deed: Deed])[] = [
  [0.2, 'hold'],
  [0.45, 'ramp'],
  [0.6, 'flicker'],
  [0.75, 'jump'],
  [0.85, 'reset'],
  [0.92, 'wrap'],
  [1, 'any'],
]

type Deed = 'hold' | 'ramp' | 'flicker' | 'jump' | 'reset' | 'wrap' | 'any'

/**
 * Random samples: of the reference application whole numbers without a gap, else everything that the language takes.
 */
export function anyStream(
  random: Random,
  { samples: count, isReference }: { readonly samples: number; readonly isReference: boolean },
): AnyStream {
  const signals: AnySignal[] = Array.from({ length: random.integer(1, 4) }, () => {
    if (isReference) return { kind: 'u64', isCounter: false }
    return { kind: random.chance(0.7) ? 'u64' : 'f64', isCounter: random.chance(0.6) }
  })
  const columns = signals.map(({ kind }) => {
    const values = wholeColumn(random, count)
    return kind === 'u64' ? values : values.map(doubleOf(random))
  })
  const gapChance = isReference ? 0 : random.pick([0, 0, 0.01, 0.1, 0.3])
  const jitter = random.pick([0, 0, 1, 7])
  const periodNs = random.pick(PERIODS_NS)
  let timeNs = random.pick(STARTS_NS)
  let number = 0
  const samples = Array.from({ length: count }, (_, position) => {
    const missing = position > 0 && random.chance(gapChance) ? random.integer(1, 5) : 0
    number += 1 + missing
    timeNs += periodNs * BigInt(1 + missing + random.integer(0, jitter))
    return { number, timeNs, values: columns.map((column) => column[position]) }
  })
  return { signals, samples }
}

/** Values of 64 bits, in stretches of which each does something else. */
function wholeColumn(random: Random, count: number): bigint[] {
  const column: bigint[] = []
  let value = anyEdge(random)
  while (column.length < count) {
    const roll = random.next()
    const deed = (MIXES.find(([chance]) => roll < chance) as (typeof MIXES)[number])[1]
    const stretch = Math.min(count - column.length, random.integer(1, random.pick([3, 12, 60])))
    const step = anyStep(random)
    if (deed === 'reset') value = BigInt(random.integer(0, 20))
    if (deed === 'wrap') value = random.pick([2n ** 32n, 2n ** 64n]) - step * BigInt(random.integer(1, 4))
    if (deed === 'jump') value = anyEdge(random)
    if (deed === 'wrap' && random.chance(0.3)) {
      column.push(...nearlyWrapped(random))
      value = column.at(-1) as bigint
      continue
    }
    const base = value
    for (let i = 0; i < stretch; i++) {
      if (deed === 'ramp' || deed === 'wrap') value += step
      if (deed === 'flicker') value = base + BigInt(random.integer(-1, 1))
      if (deed === 'any') value = random.bits64()
      value = BigInt.asUintN(64, value)
      column.push(value)
    }
  }
  return column.slice(0, count)
}

/** Two values, at the limits of what is a wrap of 32 bits. */
function nearlyWrapped(random: Random): bigint[] {
  const from = random.pick([3n * 2n ** 30n, 2n ** 32n]) + BigInt(random.integer(-1, 1))
  return [from, random.pick([2n ** 30n, 1n]) + BigInt(random.integer(-1, 1))]
}

function anyEdge(random: Random): bigint {
  return BigInt.asUintN(64, random.pick(EDGES) + BigInt(random.integer(-3, 3)))
}

function anyStep(random: Random): bigint {
  return random.pick([1n, 1n, 10n, 1000n, 2n ** 29n, 2n ** 33n, BigInt(random.integer(1, 100_000))])
}

/** Makes doubles of whole numbers: signed, in quarters, or as large as they are. */
function doubleOf(random: Random): (whole: bigint) => Value {
  const scale = random.pick([1, 0.25, 0.1, 1e-200])
  const isSigned = random.chance(0.5)
  return (whole) => {
    const value = Number(isSigned ? BigInt.asIntN(64, whole) : whole) * scale
    return value === 0 && isSigned ? -0 : value
  }
}
