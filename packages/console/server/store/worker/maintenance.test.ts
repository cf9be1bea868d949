import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ageingClockMs } from './maintenance.ts'

const DAY_MS = 86_400_000
const SECOND_MS = 1000

test('a clock that is set ahead makes no history older; one that is set back makes it younger', () => {
  const nowMs = Date.now()
  assert.ok(Math.abs(ageingClockMs(nowMs) - nowMs) < SECOND_MS)
  assert.ok(Math.abs(ageingClockMs(nowMs + 40 * DAY_MS) - nowMs) < SECOND_MS)
  assert.equal(ageingClockMs(nowMs - 40 * DAY_MS), nowMs - 40 * DAY_MS)
})
