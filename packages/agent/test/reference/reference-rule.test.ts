import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ReferenceKind, ReferenceRule } from './reference-rule.ts'

const W = 2n ** 64n

/** The vectors of the reference document: after a value, `ON` or `off` if the rule changed; `W` is 2^64. */
const VECTORS: readonly [kind: ReferenceKind, value: bigint, depth: number, samples: string][] = [
  ['inc_gt', 10n, 4, '100. 105. 110ON 111off 119. 120ON 131. 150. 151off 161ON'],
  ['inc_gt', 0n, 4, '5ON 5. 4off 5ON'],
  ['inc_gt', 10n, 4, '100. 111ON 50off 60. 122ON 200.'],
  ['gt', 10n, 4, '11. 11. 11. 10. 11. 11. 11. 11ON 50. 10. 10. 10. 11. 10. 10. 10. 10off 10.'],
  ['gt', 10n, 1, '11ON 5off 11ON'],
  ['lt', 10n, 2, '10. 9. 9ON 9. 10. 10off'],
  ['dt_gt', 10n, 4, '0. 0. 0. 0. 0. 11ON 11. 11. 11. 11. 11. 11. 11off 11.'],
  ['dt_gt', 10n, 4, '0. 100. 200. 300. 400ON 410. 410. 410. 410. 410. 410. 410off 410.'],
  ['dt_lt', 10n, 2, '0. 100. 200. 205. 206ON 207. 300. 400off 500. 600.'],
  ['dt_gt', 10n, 2, '1000. 1000. 1000. 5ON 5. 5. 5off 5.'],
  ['dt_lt', 10n, 2, '1000. 1001. 1002ON 1003. 5. 6off 7ON 8. 9.'],
  ['dt_gt', 10n, 1, '0. 11ON 22. 23off 40ON'],
  ['inc_gt', 10n, 2, 'W-5ON W-4. 3off 4. 14ON'],
  ['inc_gt', 10n, 2, 'W-12. W-5. W-4. W-3. W-3. W-1ON 2off 3. 4. 12ON'],
]

/** Gives samples to a rule; the same text comes back where the rule changed where the text says. */
function play(kind: ReferenceKind, value: bigint, depth: number, samples: string): string {
  const rule = new ReferenceRule({ kind, value, depth })
  const stored: bigint[] = []
  const told = samples.split(' ').map((text) => {
    const number = text.replace(/ON|off|\./, '')
    stored.push(number.startsWith('W-') ? W - BigInt(number.slice(2)) : BigInt(number))
    const hasChanged = rule.evaluate(stored.slice(-2 * depth))
    if (!hasChanged) return `${number}.`
    return `${number}${rule.isActive ? 'ON' : 'off'}`
  })
  return told.join(' ')
}

for (const [kind, value, depth, samples] of VECTORS) {
  test(`${kind} ${value} at depth ${depth} changes as the reference application: ${samples}`, () => {
    assert.equal(play(kind, value, depth, samples), samples)
  })
}

test('an equal value matches neither gt nor lt', () => {
  assert.equal(play('gt', 10n, 1, '10. 11ON 10off'), '10. 11ON 10off')
  assert.equal(play('lt', 10n, 1, '10. 9ON 10off'), '10. 9ON 10off')
})

test('a difference is first evaluated with the sample behind as many as the depth', () => {
  assert.equal(play('dt_lt', 5n, 4, '1. 1. 1. 1. 1ON'), '1. 1. 1. 1. 1ON')
  assert.equal(play('dt_gt', 5n, 1, '1. 7ON'), '1. 7ON')
})

test('a difference begins at once, and ends after as many samples as the depth that do not match', () => {
  const samples = '0. 0. 11ON 11. 12. 30. 31. 32. 33off'
  assert.equal(play('dt_gt', 10n, 2, samples), samples)
})

test('inc_gt fires where the value reaches the target, for one sample, unless the next fires too', () => {
  const samples = '0. 9. 10ON 11off 20ON 30. 40. 49off 50ON'
  assert.equal(play('inc_gt', 10n, 4, samples), samples)
})

test('inc_gt adds up slow growth between events', () => {
  const samples = '0. 3. 6. 9. 12ON 15off 18. 21. 22ON'
  assert.equal(play('inc_gt', 10n, 4, samples), samples)
})

test('inc_gt is silent behind a reset until the old level is passed', () => {
  const samples = '1000. 1010ON 5off 500. 1019. 1020ON'
  assert.equal(play('inc_gt', 10n, 4, samples), samples)
})

test('a reset makes a false dt_gt of at most twice the depth', () => {
  const samples = '900. 900. 900. 900. 900. 1ON 1. 1. 1. 1. 1. 1. 1off'
  assert.equal(play('dt_gt', 10n, 4, samples), samples)
})

test('values are raw: a counter of 32 bits that wraps is a decrease', () => {
  const samples = '4294967290. 4294967295. 3ON 3. 3. 3off'
  assert.equal(play('dt_gt', 100n, 2, samples), samples)
})
