import assert from 'node:assert/strict'
import { test } from 'node:test'
import { arrivalOf } from './arrival.ts'

test('samples are late as soon as charts call them stale, and missing a while later', () => {
  const arrivals = [0, 4_000, 4_001, 10_000, 10_001].map((lagMs) => arrivalOf(lagMs, 1_000))
  assert.deepEqual(arrivals, ['in time', 'in time', 'late', 'late', 'missing'])
})

test('with long steps the newest sample may be two steps old', () => {
  assert.deepEqual(
    [30_000, 31_001].map((lagMs) => arrivalOf(lagMs, 15_000)),
    ['in time', 'missing'],
  )
})
