import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WideCounter } from './wide-counter.ts'

function widened(...values: readonly (number | bigint)[]): (number | bigint)[] {
  const counter = new WideCounter()
  return values.map((value) => counter.next(value))
}

test('goes on rising where 32 bits wrap, as often as they do', () => {
  assert.deepEqual(widened(4_294_967_290, 4, 4_000_000_000, 3), [
    4_294_967_290,
    2 ** 32 + 4,
    2 ** 32 + 4e9,
    2 ** 33 + 3,
  ])
})

test('passes a restart on as one: the counter was in its lower half', () => {
  assert.deepEqual(widened(2_000_000_000, 7, 9), [2_000_000_000, 7, 9])
  assert.deepEqual(widened(4_294_967_290, 4, 0), [4_294_967_290, 2 ** 32 + 4, 0], 'what wraps had added is over too')
})

test('stays where the counter stays', () => {
  assert.deepEqual(widened(4_294_967_295, 4_294_967_295, 0, 0), [2 ** 32 - 1, 2 ** 32 - 1, 2 ** 32, 2 ** 32])
})

test('leaves alone what is wider than 32 bits', () => {
  assert.deepEqual(widened(5, 2 ** 32 + 5, 2 ** 40, 3), [5, 2 ** 32 + 5, 2 ** 40, 3], 'a jump, then a restart')
  assert.deepEqual(widened(4_000_000_000, 1, 2 ** 32 + 2), [4_000_000_000, 2 ** 32 + 1, 2 ** 32 + 2])
  assert.deepEqual(widened(2n ** 63n, 2n ** 63n + 1n, 4), [2n ** 63n, 2n ** 63n + 1n, 4])
})

test('forgets what was when its device is another', () => {
  const counter = new WideCounter()
  counter.next(4_000_000_000)
  counter.restart()
  assert.equal(counter.next(1), 1)
})
