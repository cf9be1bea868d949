import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sparkPath } from './spark-path.ts'
import { type Geometry, type PathSink, traceBand, traceLine } from './trace.ts'

const GAP = Number.NaN

/** A path as text: `M` moves, `L` draws. */
function record(draw: (sink: PathSink) => void): string {
  const parts: string[] = []
  draw({ moveTo: (x, y) => parts.push(`M${x} ${y}`), lineTo: (x, y) => parts.push(`L${x} ${y}`) })
  return parts.join(' ')
}

const place = (perSample: number): Geometry => ({ left: 0, perSample, zero: 100, perUnit: 1 })

test('nothing is joined across a gap, and a sample alone leaves a mark', () => {
  const values = Float64Array.of(1, 2, GAP, 4, GAP)
  const path = record((sink) => traceLine(sink, values, 0, 4, place(2), 'line'))
  assert.equal(path, 'M-1 99 L0 99 L2 98 M5 96 L6 96')
})

test('a coarse sample is as wide as its step, and ends at its time', () => {
  const path = record((sink) => traceLine(sink, Float64Array.of(1, 2), 0, 1, place(10), 'steps'))
  assert.equal(path, 'M-10 99 L0 99 L0 98 L10 98')
})

test('no peak is lost where many samples share a pixel, and the path stays as long as the pixels', () => {
  const values = new Float64Array(10_000).fill(5)
  values[7_777] = 80
  values[7_778] = -3
  const path = record((sink) => traceLine(sink, values, 0, values.length - 1, place(0.01), 'line'))
  assert.match(path, / L77\.5 20 L77\.5 103/)
  assert.ok(path.split(' L').length <= 2 * 101, 'more points than two a pixel')
})

test('a pixel column without any sample breaks the line', () => {
  const values = Float64Array.from({ length: 400 }, (_, i) => (i >= 100 && i < 300 ? GAP : 1))
  const path = record((sink) => traceLine(sink, values, 0, 399, place(0.01), 'line'))
  assert.equal(path.match(/M/g)?.length, 2)
})

test('a band is one closed shape a run', () => {
  const low = Float64Array.of(1, 1, GAP, 1)
  const high = Float64Array.of(3, 4, GAP, 5)
  const path = record((sink) => traceBand(sink, low, high, 0, 3, place(2), 'line'))
  assert.equal(path.match(/M/g)?.length, 2)
  assert.match(path, /^M-0\.5 97 L0 97 L2 96 L2 99 L0 99/)
})

test('a band keeps the outermost values of a pixel column', () => {
  const low = Float64Array.from({ length: 100 }, (_, i) => (i === 42 ? -9 : 1))
  const high = Float64Array.from({ length: 100 }, (_, i) => (i === 43 ? 50 : 2))
  const path = record((sink) => traceBand(sink, low, high, 0, 99, place(0.01), 'line'))
  assert.match(path, /0\.5 50/)
  assert.match(path, /0\.5 109/)
})

test('a sparkline keeps its gap too', () => {
  assert.equal(sparkPath(Float64Array.of(0, 1, GAP, 1, 1), 1, 0, 4).match(/M/g)?.length, 2)
  assert.equal(sparkPath(Float64Array.of(GAP, GAP), 1, 0, 1), '')
})
