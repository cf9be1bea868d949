import assert from 'node:assert/strict'
import { test } from 'node:test'
import { labelStep, largestValue, minorStep, niceTop, smallestOf, snapSpan, timeStep, timeTicks } from './scale.ts'

test('the top of an axis is round in the unit that is shown, and so is its half', () => {
  assert.equal(niceTop(9.3, 1), 10)
  assert.equal(niceTop(10, 1), 12)
  assert.equal(niceTop(318e9 / 8, 1e9 / 8), 400e9 / 8)
  assert.equal(niceTop(0, 1000), 1000)
  for (let value = 0.001; value < 1e9; value *= 1.37) assert.ok(niceTop(value, 1) >= value * 1.04 * (1 - 1e-12))
})

test('a live axis keeps its top while the data still fills enough of it', () => {
  assert.equal(niceTop(4, 1, 10), 10)
  assert.equal(niceTop(3, 1, 10), 4)
  assert.equal(niceTop(11, 1, 10), 12)
  assert.equal(niceTop(Number.NEGATIVE_INFINITY, 1, 10), 10)
})

test('bounds ignore what is absent', () => {
  const columns = [Float64Array.of(Number.NaN, 3, 9), Float64Array.of(-1, Number.NaN, 2)]
  assert.equal(largestValue(columns, 0, 2), 9)
  assert.equal(largestValue(columns, 0, 1), 3)
  assert.equal(smallestOf(columns, 0, 2), -1)
  assert.equal(largestValue([], 0, 2), Number.NEGATIVE_INFINITY)
})

test('time labels stand on round times, also of a zone with half hours', () => {
  assert.equal(timeStep(300_000, 8), 60_000)
  assert.equal(timeStep(86_400_000, 8), 10_800_000)
  assert.equal(minorStep(60_000), 30_000)
  assert.deepEqual(timeTicks(90_000, 200_000, 60_000), [120_000, 180_000])
  const offsetMs = 5.5 * 3_600_000
  for (const at of timeTicks(0, 86_400_000, 3_600_000, offsetMs)) assert.equal((at + offsetMs) % 3_600_000, 0)
})

test('a live span moves in whole pixels', () => {
  const { fromMs, toMs } = snapSpan({ fromMs: 1_700_000_000_123, toMs: 1_700_000_300_123 }, 300)
  assert.equal(toMs - fromMs, 300_000)
  assert.equal(toMs % 1_000, 0)
  assert.ok(toMs >= 1_700_000_300_123)
})

test('labels with seconds are fewer, because they are wider', () => {
  assert.equal(labelStep(300_000, 300), 60_000)
  assert.equal(labelStep(60_000, 300), 15_000)
  assert.equal(labelStep(60_000, 260), 30_000)
  assert.equal(labelStep(500, 300), 200)
})
