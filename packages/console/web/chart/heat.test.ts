import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HEAT_STEP_COUNT } from '../components/palette.ts'
import { PER_SECOND, SECONDS } from '../format/quantity.ts'
import { ChartModeller } from './chart-model.ts'
import type { ChartSpec, ChartView } from './chart-spec.ts'
import { edgeNames, heatOf, heatStep } from './heat.ts'
import { heatRuns } from './heat-cells.ts'
import { readoutsOf } from './readouts.ts'

const GAP = Number.NaN
const PLACE = { start: 0, perSample: 10, left: 0, width: 100 }

const spec = (...bins: readonly (readonly number[])[]): ChartSpec => ({
  id: 'waits',
  title: 'Waits',
  quantity: PER_SECOND,
  edges: SECONDS,
  scale: 'heat',
  noun: ['bin', 'bins'],
  members: bins.map((values, i) => ({
    key: `${i}`,
    label: `bin ${i}`,
    values: Float64Array.from(values),
    bin: { above: i === 0 ? null : 0.0001 * 2 ** (i - 1), upTo: i === bins.length - 1 ? null : 0.0001 * 2 ** i },
  })),
})
const VIEW: ChartView = {
  times: Float64Array.of(1000, 2000, 3000),
  firstIndex: 1,
  stepMs: 1000,
  fromMs: 0,
  toMs: 3000,
  isLive: false,
  isKnown: true,
  zone: 'utc',
  mode: 'herd',
  pinned: new Set(),
}

test('nothing, something and most are steps of their own, and more is never a lower step', () => {
  assert.equal(heatStep(GAP, 100), -1)
  assert.equal(heatStep(0, 100), 0)
  assert.equal(heatStep(1e-9, 100), 1)
  assert.equal(heatStep(100, 100), HEAT_STEP_COUNT)
  const steps = Array.from({ length: 1000 }, (_, i) => heatStep(i / 10, 100))
  assert.deepEqual(
    steps,
    steps.toSorted((a, b) => a - b),
  )
  // What stands beside a place of the scale is the value that has its colour.
  for (const share of [0.25, 0.5, 0.75]) assert.equal(heatStep(100 * heatOf(share), 100), 1 + Math.floor(share * 15))
})

test('a sample ends at its time, samples of one colour are one run, and a gap stays free', () => {
  const values = Float64Array.of(0, 4, 4, GAP, 1, 0)
  assert.deepEqual(heatRuns(values, 4, { ...PLACE, start: 10 }), [
    { fromX: 0, toX: 10, step: 0 },
    { fromX: 10, toX: 30, step: HEAT_STEP_COUNT },
    { fromX: 40, toX: 50, step: heatStep(1, 4) },
    { fromX: 50, toX: 60, step: 0 },
  ])
})

test('where samples share a pixel the largest is seen, beside a gap too', () => {
  const values = new Float64Array(100).fill(0)
  values[33] = 9
  values[34] = GAP
  const runs = heatRuns(values, 9, { ...PLACE, perSample: 0.1 })
  const peak = runs.find(({ step }) => step === HEAT_STEP_COUNT)
  assert.deepEqual(peak && [peak.fromX, peak.toX - peak.fromX], [2, 1])
  assert.equal(runs.at(-1)?.toX, 10)
  // Every pixel belongs to one run.
  for (const [i, run] of runs.entries()) assert.equal(run.fromX, runs[i - 1]?.toX ?? run.fromX)
})

test('a strip has an axis of colours, the edges beside it, and says which bins are fullest', () => {
  const model = new ChartModeller().model(spec([0, 0, 0], [0, 1, 2], [0, 3, 8]), VIEW)
  assert.deepEqual(edgeNames(spec([0], [0], [0])), ['100\u00a0µs', '200\u00a0µs'])
  assert.deepEqual(model.plot.heat?.edges, ['100\u00a0µs', '200\u00a0µs'])
  assert.deepEqual(
    model.plot.ticks.map(({ text }) => text),
    ['0', '2.5', '10'],
  )
  assert.equal(model.sentence, 'Waits, 3\u00a0s. bin 2 8/s, bin 1 2/s. No gap. Colours from 0 to 10/s.')
  const { others, moreCount } = readoutsOf(model, 1)
  assert.deepEqual([others.map(({ label }) => label), moreCount], [['bin 2', 'bin 1'], 0])
})

test('a strip in which nothing was counted says so, and one without samples too', () => {
  const sentenceOf = (one: ChartSpec): string => new ChartModeller().model(one, VIEW).sentence
  assert.match(sentenceOf(spec([0, 0, 0], [0, 0, 0])), /^Waits, 3\u00a0s\. Nothing counted\. No gap\./)
  assert.equal(sentenceOf(spec([GAP, GAP, GAP], [GAP, GAP, GAP])), 'Waits, 3\u00a0s. No sample.')
})
