import { deepEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { Random, SEED } from '../../../sdk/test/random.ts'
import { Combinations } from './combinations.ts'
import type { Rule } from './rule.ts'

const MS = 1_000_000n
const single = (name: string): Rule => ({ name, signal: 0, test: { kind: 'change', offSamples: 1 } })
const combined = (name: string, of: 'all' | 'any', rules: number[], withinMs = 10): Rule => {
  return { name, of, rules, withinNs: withinMs * 1e6 }
}

/** The edges of combinations after given edges, each as `rule device ms+`. */
function said(rules: readonly Rule[], edges: readonly string[]): string[] {
  const combinations = new Combinations(rules)
  return edges.flatMap((edge) => {
    const [rule = '', device = '', time = ''] = edge.split(' ')
    const taken = { rule, device, monoNs: BigInt(time.slice(0, -1)) * MS, errorNs: 5n, isStart: time.endsWith('+') }
    return combinations.take([taken]).map((made) => {
      return `${made.rule} ${made.device} ${made.monoNs / MS}${made.isStart ? '+' : '-'}`
    })
  })
}

test('all: begins with the last rule and ends with the first end', () => {
  const rules = [single('a'), single('b'), combined('both', 'all', [0, 1])]
  deepEqual(said(rules, ['a x 100+', 'b y 105+', 'a x 120-', 'b y 130-']), ['both y 105+', 'both y 120-'])
})

test('all: rules that began further apart do not belong together', () => {
  const rules = [single('a'), single('b'), combined('both', 'all', [0, 1])]
  deepEqual(said(rules, ['a x 100+', 'b y 111+', 'a x 112-', 'a x 115+']), ['both x 115+'])
})

test('all: of several devices that which began last counts', () => {
  const rules = [single('a'), single('b'), combined('both', 'all', [0, 1])]
  deepEqual(said(rules, ['a x 100+', 'a z 200+', 'b y 205+', 'a x 210-']), ['both y 205+'])
})

test('any: begins with the first and ends with the last', () => {
  const rules = [single('a'), single('b'), combined('either', 'any', [0, 1])]
  deepEqual(said(rules, ['b y 1+', 'a x 2+', 'b y 3-', 'a x 4-']), ['either y 1+', 'either y 4-'])
})

test('a rule that is part of no combination makes nothing, and one that is part of two makes both', () => {
  const rules = [single('a'), single('b'), combined('first', 'any', [0]), combined('second', 'any', [0])]
  deepEqual(said(rules, ['b y 1+', 'a x 2+']), ['first x 2+', 'second x 2+'])
})

test('any: a rule that takes over at the same moment changes nothing', () => {
  const combinations = new Combinations([single('a'), single('b'), combined('either', 'any', [0, 1])])
  const edge = (rule: string, isStart: boolean) => ({ rule, device: 'x', monoNs: 5n, errorNs: 0n, isStart })
  deepEqual(combinations.take([edge('a', true)]).length, 1)
  deepEqual(combinations.take([edge('a', false), edge('b', true)]), [])
})

test('all: a series of a client begins and ends nothing for another that is about the same device', () => {
  const combinations = new Combinations([single('a'), single('b'), combined('both', 'all', [0, 1])])
  const edge = (rule: string, key: string, isStart: boolean, holder?: bigint) => {
    const of = holder === undefined ? {} : { holder }
    return { rule, device: 'x', monoNs: 5n, errorNs: 0n, isStart, key, ...of }
  }
  combinations.take([edge('a', 'own', true)])
  deepEqual(combinations.take([edge('b', 'own', true)]).length, 1)
  deepEqual(combinations.take([edge('a', 'client', true, 7n)]), [])
  deepEqual(combinations.take([edge('a', 'client', false, 7n)]), [], 'it still holds for the other')
  deepEqual(combinations.take([edge('a', 'own', false)]).length, 1)
})

test('all: devices of a client fill no place of the agent, and are counted', () => {
  const combinations = new Combinations([single('a'), single('b'), combined('both', 'all', [0, 1])])
  const start = (rule: string, device: string) => ({ rule, device, monoNs: 5n, errorNs: 0n, isStart: true })
  for (let i = 0; i < 2000; i++) combinations.take([{ ...start('a', `d${i}`), holder: 7n }])
  deepEqual(combinations.refused, 2000 - 512)
  deepEqual(
    combinations.take([start('b', 'x')]).map(({ device }) => device),
    ['d0'],
  )
})

test('all: the result for many devices equals that of a full search', () => {
  const random = new Random(SEED)
  const rules = [single('a'), single('b'), combined('both', 'all', [0, 1], 3)]
  const combinations = new Combinations(rules)
  const active = [new Map<string, bigint>(), new Map<string, bigint>()]
  let holds = false
  let began = 0
  for (let step = 0; step < 5000; step++) {
    const which = random.integer(0, 1)
    const device = `d${random.integer(0, 2)}`
    const isStart = random.integer(0, 2) === 0
    const monoNs = BigInt(step + random.integer(0, 8)) * MS
    const own = active[which] as Map<string, bigint>
    if (isStart) own.set(device, monoNs)
    else own.delete(device)
    const latest = active.map((map) => [...map.values()].reduce((a, b) => (b > a ? b : a), -1n))
    const [a = -1n, b = -1n] = latest
    const every = a >= 0n && b >= 0n
    const isNear = every && (a > b ? a - b : b - a) <= 3n * MS
    const wanted: boolean[] = holds ? (every ? [] : [false]) : isNear ? [true] : []
    const made = combinations.take([{ rule: which === 0 ? 'a' : 'b', device, monoNs, errorNs: 0n, isStart }])
    deepEqual(
      made.map((edge) => edge.isStart),
      wanted,
      `step ${step} of seed ${SEED}`,
    )
    if (wanted.length > 0) holds = wanted[0] === true
    if (wanted[0] === true) began++
  }
  ok(began > 100, String(began))
})
