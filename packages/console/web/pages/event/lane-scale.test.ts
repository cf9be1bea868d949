import assert from 'node:assert/strict'
import { test } from 'node:test'
import { laneQuantity, laneScale, lowerBound, pointsWithin } from './lane-scale.ts'
import { START_MS, testLane, testSamples } from './test-lanes.ts'

const view = { fromMs: START_MS, toMs: START_MS + 1 }

test('bytes of a NIC are bits, those of a PCIe link are bytes', () => {
  assert.equal(laneQuantity(testLane()).base, 'b/s')
  assert.equal(laneQuantity(testLane({ kind: 'pci' })).base, 'B/s')
  assert.equal(laneQuantity(testLane({ name: 'PCIe data out' })).base, 'B/s')
})

test('a rate begins at 0 and ends at a round value', () => {
  const lane = testLane()
  const scale = laneScale(lane, testSamples(lane, 0, [3.98e10, 1.3e10]), view)
  assert.deepEqual([scale.bottomText, scale.topText, scale.unit.label], ['0', '400', 'Gb/s'])
})

test('a share of all goes from 0 to 100 whatever it is', () => {
  const lane = testLane({ kind: 'gpu', role: 'gauge', unit: 'ratio', name: 'Tensor active' })
  const scale = laneScale(lane, testSamples(lane, 0, [0.61, 0.6]), view)
  assert.deepEqual([scale.bottomText, scale.topText], ['0', '100'])
})

test('a gauge that moves little does not begin at 0', () => {
  const lane = testLane({ kind: 'gpu', role: 'gauge', unit: 'watts', name: 'Power' })
  const scale = laneScale(lane, testSamples(lane, 0, [641, 546]), view)
  assert.ok(scale.bottom > 500 && scale.bottom < 546 && scale.top > 641 && scale.top < 700)
})

test('a scale stays while what is in view fits it', () => {
  const lane = testLane()
  const before = laneScale(lane, testSamples(lane, 0, [3.98e10]), view)
  assert.equal(laneScale(lane, testSamples(lane, 0, [3.2e10]), view, before).top, before.top)
  assert.equal(laneScale(lane, undefined, view, before), before)
  assert.equal(laneScale(lane, undefined, view).topText, '', 'nothing is written before anything is known')
})

test('the points of a view have one more at each side', () => {
  const samples = testSamples(
    testLane(),
    -1,
    Array.from({ length: 30 }, () => 1),
  )
  const { first, last } = pointsWithin(samples, START_MS + 0.05, START_MS + 0.35)
  assert.deepEqual([first, last], [10, 14])
  assert.equal(lowerBound(samples.times, START_MS + 100), 30)
})
