import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rangeOf, stepFor, WINDOWS } from './time-window.ts'

test('a step is the finest one that gives at most 1 500 points', () => {
  assert.equal(stepFor(300_000), 1_000)
  assert.equal(stepFor(1_500_000), 1_000)
  assert.equal(stepFor(1_501_000), 2_000)
  assert.equal(stepFor(30 * 86_400_000), 1_800_000)
  assert.equal(stepFor(366 * 86_400_000) % 3_600_000, 0)
  assert.ok((366 * 86_400_000) / stepFor(366 * 86_400_000) <= 1_500)
})

test('every named window has a step that the chart can hold', () => {
  for (const { windowMs, stepMs } of WINDOWS) assert.ok(windowMs / stepMs <= 1_500)
})

test('an address with a span stands still, any other follows now', () => {
  assert.deepEqual(rangeOf({ fromMs: 1, toMs: 2, rangeMs: 300_000 }, 5), { kind: 'fixed', fromMs: 1, toMs: 2 })
  assert.deepEqual(rangeOf({ rangeMs: 300_000 }, 5), { kind: 'live', windowMs: 300_000 })
  assert.deepEqual(rangeOf({}, 5), { kind: 'live', windowMs: 5 })
})
