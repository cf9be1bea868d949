import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WideCounter } from './wide-counter.ts'

/** Results of a counter that is read once a second on hardware with at most 100 million events a second. */
function widened(...values: readonly (number | bigint)[]): (number | bigint)[] {
  const counter = new WideCounter()
  return values.map((value, s) => counter.next(value, { nowMs: s * 1000, eventsPerS: 1e8 }))
}

test('goes on rising where 32 bits wrap, as often as they do', () => {
  assert.deepEqual(widened(4_294_967_290, 4, 4_260_000_000, 3), [
    4_294_967_290,
    2 ** 32 + 4,
    2 ** 32 + 4.26e9,
    2 ** 33 + 3,
  ])
})

test('passes a restart on as one: the counter was far from the top', () => {
  assert.deepEqual(widened(2_000_000_000, 7, 9), [2_000_000_000, 7, 9])
  assert.deepEqual(widened(3_000_000_000, 5), [3_000_000_000, 5])
  assert.deepEqual(widened(4_294_967_290, 4, 0), [4_294_967_290, 2 ** 32 + 4, 0], 'what wraps had added is over too')
})

test('passes a restart on as one: nothing counts so fast', () => {
  assert.deepEqual(widened(4_000_000_000, 5, 6), [4_000_000_000, 5, 6], '295 million events in a second')
  assert.deepEqual(widened(4_294_967_290, 2e8), [4_294_967_290, 2e8])
})

test('what lies longer back may be a wrap that a second is too short for', () => {
  const counter = new WideCounter()
  counter.next(4_000_000_000, { nowMs: 1000, eventsPerS: 1e8 })
  assert.equal(counter.next(5, { nowMs: 4000, eventsPerS: 1e8 }), 2 ** 32 + 5)
})

test('far from the top it is a restart however much time there was', () => {
  const counter = new WideCounter()
  counter.next(3_000_000_000, { nowMs: 0, eventsPerS: 1e9 })
  assert.equal(counter.next(5, { nowMs: 100_000, eventsPerS: 1e9 }), 5)
})

test('stays where the counter stays', () => {
  assert.deepEqual(widened(4_294_967_295, 4_294_967_295, 0, 0), [2 ** 32 - 1, 2 ** 32 - 1, 2 ** 32, 2 ** 32])
})

test('leaves alone what is wider than 32 bits', () => {
  assert.deepEqual(widened(5, 2 ** 32 + 5, 2 ** 40, 3), [5, 2 ** 32 + 5, 2 ** 40, 3], 'a jump, then a restart')
  assert.deepEqual(widened(4_290_000_000, 1, 2 ** 32 + 2), [4_290_000_000, 2 ** 32 + 1, 2 ** 32 + 2])
  assert.deepEqual(widened(2n ** 63n, 2n ** 63n + 1n, 4), [2n ** 63n, 2n ** 63n + 1n, 4])
})

test('forgets what was when its device is another', () => {
  const counter = new WideCounter()
  counter.next(4_290_000_000, { nowMs: 0, eventsPerS: 1e8 })
  counter.restart()
  assert.equal(counter.next(1, { nowMs: 1000, eventsPerS: 1e8 }), 1)
})
