import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Palette } from '../components/palette.ts'
import { BYTES_PER_SECOND } from '../format/quantity.ts'
import { ChartModeller } from './chart-model.ts'
import { drawGaps } from './gap-marks.ts'
import { drawLimits, limitHeight } from './limit-marks.ts'
import type { PlotBox } from './plot-box.ts'

const COUNT = 300
const SIZE = { left: 40, top: 10, width: 260, height: 96, unit: 1 }
const CHARACTER_PX = 6
const TEXT_PX = 12

interface Written {
  readonly text: string
  readonly x: number
  readonly y: number
}

/** Draws the gaps and limits of a plot of which the first samples are missing, and answers what is written where. */
function writtenOn(limits: readonly number[], missingCount: number): { texts: readonly Written[]; lines: number[] } {
  const texts: Written[] = []
  const written = {
    measureText: (text: string) => ({ width: text.length * CHARACTER_PX }),
    fillText: (text: string, x: number, y: number) => texts.push({ text, x, y }),
  }
  const context = new Proxy(written, {
    get: (target, name) => Reflect.get(target, name) ?? (() => undefined),
    set: () => true,
  }) as unknown as CanvasRenderingContext2D
  const values = Float64Array.from({ length: COUNT }, (_, at) => (at < missingCount ? Number.NaN : 20 + (at % 20)))
  const { plot } = new ChartModeller().model(
    {
      id: 'bytes',
      title: 'Bytes',
      quantity: BYTES_PER_SECOND,
      noun: ['line', 'lines'],
      members: [{ key: 'sent', label: 'sent', values }],
      limits: limits.map((value) => ({ value, label: 'link' })),
    },
    {
      times: Float64Array.from({ length: COUNT }, (_, at) => at * 1_000),
      firstIndex: 0,
      stepMs: 1_000,
      fromMs: 0,
      toMs: (COUNT - 1) * 1_000,
      isLive: true,
      isKnown: true,
      zone: 'utc',
      mode: 'lines',
      pinned: new Set(),
    },
  )
  const x = (ms: number): number => SIZE.left + (ms / plot.toMs) * SIZE.width
  const box: PlotBox = { ...SIZE, first: 0, last: COUNT - 1, x, texts: [] }
  const palette = new Proxy({}, { get: () => new Proxy({}, { get: () => '' }) }) as Palette
  drawGaps(context, plot, palette, box)
  drawLimits(context, plot, palette, box)
  return { texts, lines: plot.limits.map(({ at }) => limitHeight(at, plot, box)) }
}

test('the names of a limit and of a gap never stand on one another, nor a line through that of the gap', () => {
  for (let limit = 2; limit <= 60; limit++) {
    for (const missingCount of [0, 140, 200, 290, COUNT]) {
      const { texts, lines } = writtenOn([limit], missingCount)
      const boxes = texts.map(({ text, x, y }) => ({ text, x, y, toX: x + text.length * CHARACTER_PX }))
      for (const [order, one] of boxes.entries()) {
        const words = `limit ${limit}, ${missingCount} missing: ${one.text}`
        assert.ok(one.x >= SIZE.left && one.toX <= SIZE.left + SIZE.width, `${words} leaves the plot`)
        if (!one.text.startsWith('link'))
          assert.ok(
            lines.every((line) => Math.abs(line - one.y) >= TEXT_PX / 2),
            words,
          )
        for (const other of boxes.slice(order + 1)) {
          const isApart = Math.abs(one.y - other.y) >= TEXT_PX || one.toX <= other.x || other.toX <= one.x
          assert.ok(isApart, `${words} and ${other.text}`)
        }
      }
    }
  }
})

test('where there is room for both, both names are written', () => {
  const words = writtenOn([16], 200).texts.map(({ text }) => text.split(' ')[0])
  assert.deepEqual(words, ['no', 'link'])
})
