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
  assert.equal(places.measure(10, [30, 52, 30]), true)
  assert.deepEqual([places.topOf(11), places.topOf(12), places.topOf(20)], [330, 382, 622])
  assert.equal(places.measure(10, [30, 52, 30]), false, 'the same heights move nothing')
  places.measure(10, [30, 30, 30])
  assert.equal(places.topOf(20), 600)
})

test('where all rows have another height, that is the common height', () => {
  const places = new RowPlaces(30)
  places.measure(0, [30, 60, 30])
  assert.equal(places.measure(0, [45, 45, 70, 45]), true)
  assert.deepEqual([places.topOf(2), places.topOf(3), places.topOf(100)], [90, 160, 4_525])
})
