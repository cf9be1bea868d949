import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clampSpan, covers, lengthOf, panSpan, spanWith, zoomSpan } from './view-span.ts'

const START_MS = Date.UTC(2026, 6, 31, 10)
const bounds = { fromMs: START_MS, toMs: START_MS + 10_000 }
const at = (fromMs: number, toMs: number) => ({ fromMs: START_MS + fromMs, toMs: START_MS + toMs })

test('zooming keeps the time under the pointer in its place', () => {
  const span = zoomSpan(bounds, bounds, START_MS + 2_500, 1 / 2)
  assert.deepEqual(span, at(1_250, 6_250))
  assert.equal((START_MS + 2_500 - span.fromMs) / lengthOf(span), 0.25)
})

test('zooming out ends at the window of the event', () => {
  assert.deepEqual(zoomSpan(at(1_000, 2_000), bounds, START_MS + 1_000, 100), bounds)
})

test('zooming in ends where times cannot be told apart any more', () => {
  let span = bounds as ReturnType<typeof at>
  for (let turn = 0; turn < 60; turn++) span = zoomSpan(span, bounds, START_MS + 5_000, 1 / 2)
  assert.ok(lengthOf(span) >= 0.004 && lengthOf(span) <= 0.006, `${lengthOf(span)} ms`)
  assert.ok(span.fromMs <= START_MS + 5_000 && span.toMs >= START_MS + 5_000)
})

test('panning moves and never leaves the window', () => {
  assert.deepEqual(panSpan(at(1_000, 3_000), bounds, 1 / 2), at(2_000, 4_000))
  assert.deepEqual(panSpan(at(1_000, 3_000), bounds, -5), at(0, 2_000))
  assert.deepEqual(panSpan(at(1_000, 3_000), bounds, 50), at(8_000, 10_000))
})

test('a stretch of an address that lies elsewhere is moved inside', () => {
  assert.deepEqual(clampSpan(at(-5_000, -4_000), bounds), at(0, 1_000))
  assert.deepEqual(clampSpan(at(-5_000, 50_000), bounds), bounds)
})

test('a cursor that leaves the view takes it along', () => {
  assert.deepEqual(spanWith(at(1_000, 2_000), bounds, START_MS + 2_100), at(1_100, 2_100))
  assert.deepEqual(spanWith(at(1_000, 2_000), bounds, START_MS + 500), at(500, 1_500))
  assert.deepEqual(spanWith(at(1_000, 2_000), bounds, START_MS + 1_500), at(1_000, 2_000))
})

test('says whether samples reach over a view', () => {
  assert.equal(covers(bounds, at(0, 10_000)), true)
  assert.equal(covers(at(1, 10_000), bounds), false)
})
