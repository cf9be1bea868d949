import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RowPlaces } from './row-places.ts'

test('only the rows in view are drawn, and the others leave their room', () => {
  const places = new RowPlaces(30)
  assert.deepEqual(places.view(400, 0, 600), { first: 0, end: 25, abovePx: 0, belowPx: 375 * 30 })
  const middle = places.view(400, 6_000, 600)
  assert.deepEqual([middle.first, middle.end], [196, 225])
  assert.equal(middle.abovePx + (middle.end - middle.first) * 30 + middle.belowPx, 400 * 30)
  const last = places.view(400, 400 * 30 - 600, 600)
  assert.deepEqual([last.end, last.belowPx], [400, 0])
})

test('a table of no rows has no room', () => {
  assert.deepEqual(new RowPlaces(30).view(0, 500, 600), { first: 0, end: 0, abovePx: 0, belowPx: 0 })
})

test('a row that is higher moves those below it, and no row above', () => {
  const places = new RowPlaces(30)
  assert.equal(places.measure(10, [30, 52, 30], 800), true)
  assert.deepEqual([places.topOf(11), places.topOf(12), places.topOf(20)], [330, 382, 622])
  assert.equal(places.measure(10, [30, 52, 30], 800), false, 'the same heights move nothing')
  places.measure(10, [30, 30, 30], 800)
  assert.equal(places.topOf(20), 600)
})

test('the common height is that of the first rows, until the table has another width', () => {
  const places = new RowPlaces(30)
  places.measure(0, [45, 45, 70, 45], 800)
  assert.deepEqual([places.topOf(2), places.topOf(3), places.topOf(100)], [90, 160, 4_525])
  // High rows elsewhere change nothing for the rows that were measured.
  places.measure(50, [70, 70, 70], 800)
  assert.deepEqual([places.topOf(3), places.topOf(50), places.topOf(53)], [160, 2_275, 2_485])
  places.measure(0, [60, 60], 400)
  assert.equal(places.topOf(100), 6_000)
})

test('rows of all heights are measured once: no table measures itself without end', () => {
  const heightOf = (place: number) => (place % 7 < 3 ? 31 : 62)
  const places = new RowPlaces(31)
  for (const scrolledPx of [0, 700, 4_000, 900, 0]) {
    let rounds = 0
    for (let isMoved = true; isMoved; rounds++) {
      const { first, end } = places.view(100, scrolledPx, 640)
      const heights = Array.from({ length: end - first }, (_, at) => heightOf(first + at))
      isMoved = places.measure(first, heights, 800)
      assert.ok(rounds < 10, `the rows at ${scrolledPx} px are measured again and again`)
    }
  }
})
