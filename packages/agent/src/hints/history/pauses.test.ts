import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Pauses } from './pauses.ts'

const START_MS = Date.UTC(2026, 0, 1)

/** Pauses of a life in which both clocks pass by some steps. Unit: milliseconds. */
function pausesOf(steps: readonly (readonly [wallMs: number, monotonicMs: number])[]) {
  const pauses = new Pauses()
  let [wallMs, monotonicMs] = [START_MS, 1000]
  pauses.pass(wallMs, monotonicMs)
  for (const [wall, monotonic] of steps) {
    wallMs += wall
    monotonicMs += monotonic
    pauses.pass(wallMs, monotonicMs)
  }
  return pauses.spans().map(({ fromMs, toMs, reason }) => [fromMs - START_MS, toMs - START_MS, reason.split(':')[0]])
}

test('a paused process, a sleeping machine and a changed clock have different reasons', () => {
  const usual = [500, 500] as const
  assert.deepEqual(pausesOf([usual, [2500, 2500], usual, [-400, 500]]), [], 'a late look, and a small correction')
  assert.deepEqual(pausesOf([usual, [8000, 8000], usual]), [[500, 8500, 'Sonde paused']])
  assert.deepEqual(pausesOf([usual, [3_600_000, 700], usual]), [
    [500, 3_600_500, 'The machine slept, or its clock was set forward'],
  ])
  assert.deepEqual(pausesOf([usual, [-60_000, 500], usual]), [[-59_500, 500, 'The clock was set back']])
})

test('a clock that is set again and again leaves so many pauses, which hide none', () => {
  const spans = pausesOf(Array.from({ length: 300 }, () => [10_000, 500] as const))
  assert.equal(spans.length, 100)
  assert.deepEqual([spans[0]?.[0], spans[0]?.[1], spans.at(-1)?.[1]], [0, 2_010_000, 3_000_000])
})
