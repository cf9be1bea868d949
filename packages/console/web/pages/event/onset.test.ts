import assert from 'node:assert/strict'
import { test } from 'node:test'
import { baseSpan, onsetOf, usualOf } from './onset.ts'
import { START_MS, testLane, testSamples, testStretches } from './test-lanes.ts'

const lane = testLane()
const window = { fromMs: START_MS - 10, toMs: START_MS + 10 }
const base = baseSpan(window, START_MS)
/** 200 samples, starting 10 ms before the event. `of` returns the value at a time after the start. */
const samplesOf = (of: (afterMs: number, place: number) => number | undefined) =>
  testSamples(
    lane,
    -10,
    Array.from({ length: 200 }, (_, place) => of(-10 + place * 0.1, place)),
  )
const onsetIn = (samples: ReturnType<typeof samplesOf>) => {
  const usual = usualOf(samples, base)
  assert.ok(usual)
  return onsetOf(samples, lane, base, usual)
}

test('a change lies between the last sample that was usual and the first that was not, by the error of the clock', () => {
  const onset = onsetIn(samplesOf((after) => (after < -0.65 ? 100 : 40)))
  assert.ok(onset)
  assert.equal(onset.isRise, false)
  assert.deepEqual([onset.before, onset.after], [100, 40])
  assert.ok(Math.abs(onset.earliestMs - START_MS - -0.75) < 0.001, `${onset.earliestMs - START_MS}`)
  assert.ok(Math.abs(onset.latestMs - START_MS - -0.55) < 0.001, `${onset.latestMs - START_MS}`)
})

test('what swings widely before the event has to swing further', () => {
  const swinging = (place: number): number => (place % 2 === 0 ? 50 : 150)
  assert.equal(onsetIn(samplesOf((after, place) => (after < 0 ? swinging(place) : 160))), undefined)
  assert.equal(onsetIn(samplesOf((after, place) => (after < 0 ? swinging(place) : 190)))?.isRise, true)
})

test('one stray sample among many is no change', () => {
  assert.equal(onsetIn(samplesOf((_, place) => (place === 130 ? 900 : 100))), undefined)
})

test('a change behind a gap may have come in the gap', () => {
  const onset = onsetIn(samplesOf((after) => (after < -2 ? 100 : after < 1 ? undefined : 40)))
  assert.ok(onset)
  assert.ok(onset.earliestMs - START_MS < -2, 'not before the gap')
  assert.ok(onset.latestMs - START_MS >= 1)
})

test('a point that stands for a stretch says where its change lies to the stretch alone', () => {
  const extremes = Array.from({ length: 20 }, (_, at) => (at < 12 ? ([99, 101] as const) : ([40, 101] as const)))
  const samples = testStretches(lane, -10, 1, extremes)
  const usual = usualOf(samples, base)
  const onset = usual && onsetOf(samples, lane, base, usual)
  assert.ok(onset)
  assert.ok(Math.abs(onset.earliestMs - START_MS - 0.95) < 0.001, `${onset.earliestMs - START_MS}`)
  assert.ok(Math.abs(onset.latestMs - START_MS - 3.05) < 0.001, `${onset.latestMs - START_MS}`)
})

test('what is usual is not known from one sample', () => {
  const slow = testLane({ resolutionMs: 1_000 })
  assert.equal(usualOf(testSamples(slow, -8, [100, 40, 40]), base), undefined)
})

test('three samples say what is usual of a signal that stood still, and not of one that moves', () => {
  const slow = testLane({ resolutionMs: 2 })
  assert.equal(usualOf(testSamples(slow, -10, [100, 100, 100, 40]), base)?.count, 3)
  assert.equal(usualOf(testSamples(slow, -10, [100, 101, 100, 40]), base), undefined)
})

test('few samples before the event need a larger change', () => {
  const slow = testLane({ resolutionMs: 1.5 })
  const at = (value: number) => {
    const samples = testSamples(slow, -10, [100, 101, 100, 101, value, value, value, value])
    const usual = usualOf(samples, base)
    assert.equal(usual?.count, 4)
    return onsetOf(samples, slow, base, usual)
  }
  assert.equal(at(108), undefined)
  assert.equal(at(140)?.isRise, true)
})
