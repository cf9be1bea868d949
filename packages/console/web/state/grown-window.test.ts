import assert from 'node:assert/strict'
import { test } from 'node:test'
import { grownFromMs } from './grown-window.ts'

const NOW_MS = 1_790_000_000_000

test('a window grows from the first sample, to the second, and is never shorter than can be read', () => {
  assert.equal(grownFromMs(NOW_MS, 300_000, NOW_MS - 80_400), NOW_MS - 81_000)
  assert.equal(grownFromMs(NOW_MS, 300_000, NOW_MS - 2_000), NOW_MS - 10_000)
  assert.equal(grownFromMs(NOW_MS, 300_000, NOW_MS + 5_000), NOW_MS - 10_000)
})

test('a window with samples before it, or of which nobody knows, has its whole length', () => {
  assert.equal(grownFromMs(NOW_MS, 300_000, NOW_MS - 400_000), NOW_MS - 300_000)
  assert.equal(grownFromMs(NOW_MS, 300_000, undefined), NOW_MS - 300_000)
  assert.equal(grownFromMs(NOW_MS, 5_000, NOW_MS - 1_000), NOW_MS - 5_000)
})
