import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Palette } from '../components/palette.ts'
import { PER_SECOND } from '../format/quantity.ts'
import { ChartModeller } from './chart-model.ts'
import { drawGaps } from './gap-marks.ts'
import type { PlotBox } from './plot-box.ts'

const COUNT = 301
/** A sample a pixel. */
const SIZE = { left: 0, top: 10, width: COUNT - 1, height: 96, unit: 1 }
const PALETTE = { gap: 'grey', slots: { 1: 'blue', 2: 'teal' } } as unknown as Palette

interface Hatch {
  readonly box: readonly number[]
  readonly colour: string
}

/** Draws the gaps of lines, and answers the hatched rectangles. Each line misses the samples at its places. */
function hatchesOf(...missing: readonly (readonly number[])[]): readonly Hatch[] {
  const hatches: Hatch[] = []
  let box: readonly number[] = []
  const context = new Proxy({ strokeStyle: '' } as Record<string, unknown>, {
    get: (target, name) => {
      if (name === 'rect')
        return (...given: number[]) => {
          box = given
        }
      if (name === 'stroke') return () => hatches.push({ box, colour: String(target.strokeStyle) })
      if (name === 'measureText') return () => ({ width: 0 })
      return Reflect.get(target, name) ?? (() => undefined)
    },
  }) as unknown as CanvasRenderingContext2D
  const { plot } = new ChartModeller().model(
    {
      id: 'rate',
      title: 'Rate',
      quantity: PER_SECOND,
      noun: ['line', 'lines'],
      members: missing.map((places, line) => ({
        key: `line ${line}`,
        label: `line ${line}`,
        values: Float64Array.from({ length: COUNT }, (_, at) => (places.includes(at) ? Number.NaN : 20)),
      })),
    },
    {
      times: Float64Array.from({ length: COUNT }, (_, at) => at * 1_000),
      firstIndex: 0,
      stepMs: 1_000,
      fromMs: 0,
      toMs: (COUNT - 1) * 1_000,
      isLive: false,
      isKnown: true,
      zone: 'utc',
      mode: 'lines',
      pinned: new Set(),
    },
  )
  const placed: PlotBox = { ...SIZE, first: 0, last: COUNT - 1, x: (ms) => ms / 1_000, texts: [] }
  drawGaps(context, plot, PALETTE, placed)
  return hatches
}

test('a time in which no line has a sample is hatched over the whole height, to the samples beside it', () => {
  assert.deepEqual(hatchesOf([100, 101, 102]), [{ box: [99, 10, 4, 96], colour: 'grey' }])
  assert.deepEqual(hatchesOf([100, 101], [100, 101]), [{ box: [99, 10, 3, 96], colour: 'grey' }])
})

test('the gap of one line among others is a stripe of its colour on the axis', () => {
  assert.deepEqual(hatchesOf([], [200, 201]), [{ box: [199, 100, 3, 6], colour: 'teal' }])
})

test('lines without a gap have no hatch', () => {
  assert.deepEqual(hatchesOf([], []), [])
})
