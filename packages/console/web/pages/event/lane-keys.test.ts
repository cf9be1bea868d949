import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type LaneKeyState, laneAction } from './lane-keys.ts'
import { START_MS } from './test-lanes.ts'

const bounds = { fromMs: START_MS - 2_000, toMs: START_MS + 4_000 }
const view = { fromMs: START_MS - 1, toMs: START_MS + 1 }
const times = Float64Array.from({ length: 20 }, (_, at) => START_MS - 1 + at * 0.1)
const state = (more: Partial<LaneKeyState> = {}): LaneKeyState => ({
  ...{ view, bounds, times, startMs: START_MS, endMs: START_MS + 1_840, atMs: times[10]! },
  ...more,
})
const cursorOf = (key: string, more?: Partial<LaneKeyState>, isShifted = false): number => {
  const action = laneAction(key, isShifted, state(more))
  assert.equal(action?.kind, 'cursor')
  return action.kind === 'cursor' ? action.atMs : Number.NaN
}

test('arrows go from sample to sample, with Shift ten at a time', () => {
  assert.equal(cursorOf('ArrowRight'), times[11])
  assert.equal(cursorOf('ArrowLeft'), times[9])
  assert.equal(cursorOf('ArrowLeft', {}, true), times[0])
  assert.equal(cursorOf('ArrowRight', { atMs: times[18]! }, true), times[19])
})

test('from between two samples an arrow goes to the next on its side', () => {
  const between = (times[10]! + times[11]!) / 2
  assert.equal(cursorOf('ArrowRight', { atMs: between }), times[11])
  assert.equal(cursorOf('ArrowLeft', { atMs: between }), times[10])
})

test('without a cursor an arrow begins at the start of the event', () => {
  assert.equal(cursorOf('ArrowRight', { atMs: undefined }), START_MS)
})

test('brackets go to the start and the end, and the view follows', () => {
  assert.equal(cursorOf('['), START_MS)
  const action = laneAction(']', false, state())
  assert.ok(action?.kind === 'cursor')
  assert.ok(action.view.fromMs <= START_MS + 1_840 && action.view.toMs >= START_MS + 1_840)
  assert.equal(laneAction(']', false, state({ endMs: undefined })), undefined, 'an open event has no end')
})

test('zero shows all, and plus and minus zoom at the cursor', () => {
  assert.deepEqual(laneAction('0', false, state()), { kind: 'view', view: bounds })
  const closer = laneAction('+', false, state({ atMs: START_MS }))
  assert.ok(closer?.kind === 'view')
  assert.ok(Math.abs(closer.view.toMs - closer.view.fromMs - 1) < 1e-3)
  assert.ok(Math.abs((closer.view.fromMs + closer.view.toMs) / 2 - START_MS) < 1e-3)
})

test('other keys are left to the page', () => {
  for (const key of ['d', 'z', 'Tab', 'constructor', 'ArrowUp'])
    assert.equal(laneAction(key, false, state()), undefined)
})
