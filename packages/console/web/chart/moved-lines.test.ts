import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DrawnLines, kept, movedBy } from './moved-lines.ts'
import type { PlotLine, PlotModel } from './plot-model.ts'

const STEP_MS = 1000
/** A pixel is two samples wide. */
const BOX = { left: 40, top: 8, width: 30, height: 100, unit: 1 }
const SAMPLES = 60

/** A live window whose first sample has a number; each sample says its own, but for those that are named. */
function drawn(first: number, odd: Readonly<Record<number, number>> = {}, more: Partial<PlotModel> = {}): DrawnLines {
  const numbers = Array.from({ length: SAMPLES }, (_, i) => first + i)
  const heights = Float64Array.from(numbers, (number) => odd[number] ?? number)
  const line = { key: 'a', label: 'a', values: heights, heights, slot: undefined, widthPx: 1 } as unknown as PlotLine
  const model = {
    times: Float64Array.from(numbers, (number) => number * STEP_MS),
    stepMs: STEP_MS,
    lines: [line],
    fromMs: first * STEP_MS,
    toMs: (first + SAMPLES) * STEP_MS,
    bottom: 0,
    top: 500,
    ...more,
  } as unknown as PlotModel
  return { model, lines: [line], box: BOX, colour: 'grey' }
}

test('a window that moves on by whole pixels takes its drawing along, up to the first sample that is new', () => {
  assert.deepEqual(movedBy(drawn(100), drawn(102)), { byPx: 1, fromSample: SAMPLES - 2 })
  assert.deepEqual(movedBy(drawn(100), drawn(108)), { byPx: 4, fromSample: SAMPLES - 8 })
})

test('a sample that came late, or became another, is drawn again with all that follows it', () => {
  const gap = { 130: Number.NaN }
  assert.deepEqual(movedBy(drawn(100, gap), drawn(102)), { byPx: 1, fromSample: 28 })
  assert.deepEqual(movedBy(drawn(100), drawn(100, { 120: 7 })), { byPx: 0, fromSample: 20 })
  assert.deepEqual(movedBy(drawn(100, gap), drawn(102, gap)), { byPx: 1, fromSample: SAMPLES - 2 })
})

test('samples that are written into the same memory later are seen to be new', () => {
  const lines = drawn(100)
  const before = kept(lines, undefined)
  lines.lines[0]!.heights[50] = 7
  assert.deepEqual(movedBy(before, lines), { byPx: 0, fromSample: 50 })
  const again = kept(lines, before)
  assert.equal(again.lines[0]!.heights, before.lines[0]!.heights)
  assert.deepEqual(movedBy(again, lines), { byPx: 0, fromSample: SAMPLES })
})

test('what has another scale, width, colour or other lines is drawn as a whole', () => {
  const next = drawn(102)
  const [line] = next.lines as [PlotLine]
  const others: readonly DrawnLines[] = [
    drawn(101),
    drawn(98),
    drawn(200),
    drawn(102, {}, { top: 600 }),
    drawn(102, {}, { toMs: 170 * STEP_MS }),
    drawn(102, {}, { stepMs: 2 * STEP_MS }),
    { ...next, box: { ...BOX, width: 31 } },
    { ...next, colour: 'blue' },
    { ...next, lines: [line, line] },
    { ...next, lines: [{ ...line, key: 'b' }] },
    { ...next, lines: [{ ...line, widthPx: 2 }] },
  ]
  for (const [at, other] of others.entries()) assert.equal(movedBy(drawn(100), other), undefined, `the other at ${at}`)
})
