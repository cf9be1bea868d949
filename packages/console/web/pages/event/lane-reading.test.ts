import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readingWords, readLane, readLast } from './lane-reading.ts'
import { laneScale } from './lane-scale.ts'
import { sampleRows } from './sample-rows.ts'
import { START_MS, testLane, testSamples, testStretches } from './test-lanes.ts'

const lane = testLane({ role: 'gauge', unit: 'watts', name: 'Power', kind: 'gpu', resolutionMs: 100 })
const samples = testSamples(lane, 0, [600, 500, undefined, 400])
const at = (afterMs: number) => readLane(lane, samples, START_MS + afterMs)
const { unit } = laneScale(lane, samples, { fromMs: START_MS, toMs: START_MS + 300 })

test('a sample stands for the time before it', () => {
  assert.deepEqual(at(40), { kind: 'sample', at: 1, value: 500 })
  assert.deepEqual(at(100), { kind: 'sample', at: 1, value: 500 })
  assert.equal(readingWords(at(40), { unit }), '500')
})

test('a value that is absent is a dash, not the one before', () => {
  assert.equal(readingWords(at(150), { unit }), '–')
})

test('nothing is read in a gap or far from any sample', () => {
  const gap = { fromMs: START_MS + 100, toMs: START_MS + 300, samples: 1 }
  assert.deepEqual(readLane({ ...lane, gaps: [gap] }, samples, START_MS + 200), { kind: 'gap' })
  assert.deepEqual(at(900), { kind: 'none' })
  assert.deepEqual(readLane(lane, undefined, START_MS), { kind: 'none' })
})

test('a stretch has its least and its greatest value', () => {
  const coarse = testStretches(lane, 0, 50, [
    [400, 450],
    [420, 420],
    [Number.NaN, Number.NaN],
  ])
  assert.equal(readingWords(readLane(lane, coarse, START_MS + 10), { unit }), '400 – 450')
  assert.equal(readingWords(readLane(lane, coarse, START_MS + 60), { unit }), '420')
  assert.equal(readingWords(readLane(lane, coarse, START_MS + 110), { unit }), '–')
})

test('at the end of a view stands its newest value, also where the last stretch has none', () => {
  const nothing = [Number.NaN, Number.NaN] as const
  const coarse = testStretches(lane, 0, 50, [[400, 450], [420, 420], nothing, nothing])
  const last = (fromMs: number, toMs: number) =>
    readingWords(readLast(lane, coarse, { fromMs: START_MS + fromMs, toMs: START_MS + toMs }), { unit })
  assert.equal(last(0, 200), '420')
  assert.equal(last(0, 40), '400 – 450')
  assert.equal(last(110, 200), '–')
})

test('the table has a row for each gap, where it lies', () => {
  const gap = { fromMs: START_MS + 110, toMs: START_MS + 290, samples: 1 }
  const present = testSamples(lane, 0, [600, 500])
  const late = testSamples(lane, 300, [400])
  const all = { ...present, times: Float64Array.of(...present.times, ...late.times) }
  const rows = sampleRows({ ...lane, gaps: [gap] }, all, { fromMs: START_MS, toMs: START_MS + 400 })
  assert.deepEqual(
    rows.map((row) => (row.kind === 'gap' ? 'gap' : row.at)),
    [0, 1, 'gap', 2],
  )
  const before = sampleRows({ ...lane, gaps: [gap] }, all, { fromMs: START_MS, toMs: START_MS + 105 })
  assert.deepEqual(
    before.map((row) => (row.kind === 'gap' ? 'gap' : row.at)),
    [0, 1],
  )
})
