import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Rule, SignalRule } from '../../../../packages/agent/src/rules/rule.ts'
import { fixedEdges } from './fixed-edges.ts'

const above = (signal: number, value: bigint): SignalRule => {
  return { name: `${signal} > ${value}`, signal, test: { kind: 'gt', value, onSamples: 1, offSamples: 1 } }
}

/** Edges as text: time, rule, and `+` for a start; samples are rows of values, each with its time. */
function trace(rules: readonly Rule[], rows: readonly [timeNs: number, ...values: number[]][]): string {
  const samples = rows.map(([timeNs, ...values], number) => {
    return { number, timeNs: BigInt(timeNs), values: values.map(BigInt) }
  })
  const { edges } = fixedEdges([{ isCounter: false }, { isCounter: false }], rules, samples)
  return edges.map(({ timeNs, rule, isStart }) => `${timeNs}:${isStart ? '+' : '-'}${rule}`).join(' ')
}

test('absent begins so long behind the last sample, and ends with the next', () => {
  const rule: Rule = { name: 'a', signal: 0, test: { kind: 'absent', forNs: 10 } }
  assert.equal(
    trace(
      [rule],
      [
        [100, 0],
        [110, 0],
        [121, 0],
        [140, 0],
      ],
    ),
    '120:+0 121:-0 131:+0 140:-0',
  )
})

test('within one sample ends come before starts, each in the order of the file', () => {
  const below: Rule = { name: 'b', signal: 0, test: { kind: 'lt', value: 5n, onSamples: 1, offSamples: 1 } }
  const rules = [below, above(0, 10n), below, above(0, 11n)]
  assert.equal(
    trace(rules, [
      [1, 12],
      [2, 0],
      [3, 12],
    ]),
    '1:+1 1:+3 2:-1 2:-3 2:+0 2:+2 3:-0 3:-2 3:+1 3:+3',
  )
})

test('all_of holds while all do that began within the time, from the latest begin to the first end', () => {
  const all: Rule = { name: 'all', of: 'all', rules: [0, 1], withinNs: 10 }
  const rules = [above(0, 0n), above(1, 0n), all]
  assert.equal(
    trace(rules, [
      [0, 1, 0],
      [10, 1, 1],
      [20, 0, 1],
    ]),
    '0:+0 10:+1 10:+2 20:-0 20:-2',
  )
  assert.equal(
    trace(rules, [
      [0, 1, 0],
      [11, 1, 1],
      [20, 0, 1],
      [21, 1, 1],
    ]),
    '0:+0 11:+1 20:-0 21:+0 21:+2',
  )
})

test('all_of does not begin where one of its rules ends as another begins', () => {
  const all: Rule = { name: 'all', of: 'all', rules: [0, 1], withinNs: 1000 }
  assert.equal(
    trace(
      [above(0, 0n), above(1, 0n), all],
      [
        [0, 1, 0],
        [10, 0, 1],
      ],
    ),
    '0:+0 10:-0 10:+1',
  )
})

test('any_of holds from the first begin to the last end', () => {
  const any: Rule = { name: 'any', of: 'any', rules: [0, 1], withinNs: 0 }
  const rules = [above(0, 0n), above(1, 0n), any]
  assert.equal(
    trace(rules, [
      [0, 1, 0],
      [10, 1, 1],
      [20, 0, 1],
      [30, 0, 0],
    ]),
    '0:+0 0:+2 10:+1 20:-0 30:-1 30:-2',
  )
})

test('a combination may stand before its rules in the file', () => {
  const any: Rule = { name: 'any', of: 'any', rules: [1], withinNs: 0 }
  assert.equal(
    trace(
      [any, above(0, 0n)],
      [
        [0, 1, 0],
        [10, 0, 0],
      ],
    ),
    '0:+0 0:+1 10:-0 10:-1',
  )
})

test('a rate that is nearer to its threshold than a double tells is unclear, an equal one is not', () => {
  const rate: Rule = {
    name: 'r',
    signal: 0,
    test: { kind: 'rate_gt', perSecond: 0.1, overNs: 1_000_000_000, offSamples: 1 },
  }
  const over = (seconds: bigint, value: bigint) =>
    fixedEdges(
      [{ isCounter: false }],
      [rate],
      [
        { number: 0, timeNs: 0n, values: [0n] },
        { number: 1, timeNs: seconds * 1_000_000_000n, values: [value] },
      ],
    ).unclear.size
  // 0.1 is no fraction of a power of two.
  assert.equal(over(10n, 1n), 1)
  assert.equal(over(10n, 2n), 0)
  const half: Rule = { ...rate, test: { ...rate.test, kind: 'rate_gt', perSecond: 0.5 } as SignalRule['test'] }
  const samples = [0n, 1n].map((value, number) => ({
    number,
    timeNs: BigInt(number) * 2_000_000_000n,
    values: [value],
  }))
  assert.deepEqual(fixedEdges([{ isCounter: false }], [half], samples), { edges: [], unclear: new Set(), falls: [] })
})
