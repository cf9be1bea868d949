import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type KeptOrder, steadyOrder } from './use-steady-order.ts'

/** Shows `name state` words at a time, after an earlier order. */
function show(words: readonly string[], nowMs: number, kept?: KeptOrder) {
  return steadyOrder(words, (word) => word, nowMs, kept)
}

test('rows keep their places for ten seconds while only loads change', () => {
  const first = show(['a ok', 'b ok', 'c ok'], 1_000)
  const second = show(['c ok', 'a ok', 'b ok'], 10_900, first.kept)
  assert.deepEqual(second.rows, ['a ok', 'b ok', 'c ok'])
  assert.deepEqual(show(['c ok', 'a ok', 'b ok'], 11_000, second.kept).rows, ['c ok', 'a ok', 'b ok'])
})

test('a change of state, a new row and a row that left show at once', () => {
  const { kept } = show(['a ok', 'b ok'], 1_000)
  for (const words of [['b down', 'a ok'], ['b ok', 'a ok', 'c ok'], ['b ok']])
    assert.deepEqual(show(words, 1_001, kept).rows, words)
})
