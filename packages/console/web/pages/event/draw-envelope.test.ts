import assert from 'node:assert/strict'
import { test } from 'node:test'
import { envelopeOf } from './draw-envelope.ts'
import { START_MS, testLane, testSamples } from './test-lanes.ts'

const lane = testLane({ resolutionMs: 100, errorMs: 50 })
const plot = { columns: 40, fromMs: START_MS, toMs: START_MS + 400 }

test('a band reaches as far as the clock may be off, and is no wider than the values around it', () => {
  const samples = testSamples(lane, 0, [10, 10, 30, 30, 30])
  const { lows, highs } = envelopeOf(samples, { first: 0, last: 4 }, lane, plot)
  // The step is at 100 ms ± 50 ms.
  assert.deepEqual([lows[2], highs[2]], [10, 10])
  assert.deepEqual([lows[8], highs[8]], [10, 30])
  assert.deepEqual([lows[13], highs[13]], [10, 30])
  assert.deepEqual([lows[20], highs[20]], [30, 30])
})

test('there is no band where there is no sample', () => {
  const samples = testSamples(lane, 0, [10, undefined, undefined, undefined, 30])
  const { lows } = envelopeOf(samples, { first: 0, last: 4 }, lane, plot)
  assert.equal(Number.isNaN(lows[15]), true)
  assert.equal(lows[2], 10)
})
