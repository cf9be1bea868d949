import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chartRequest } from '@sonde/sdk/internal'
import { chartStep } from './chart-step.ts'

const LIMITS = { services: 1, cells: 1_000_000 }
const NOW_MS = Date.UTC(2026, 0, 31, 12)

test('the page draws the points that the routes of apps answer with', () => {
  for (const intervalMs of [5000, 15_000, 25_000, 60_000]) {
    for (const windowMs of [300_000, 1_800_000, 3_600_000, 86_400_000]) {
      const asked = { start: String(NOW_MS - windowMs), end: undefined, period: undefined, fields: undefined }
      const { periodMs } = chartRequest('chat', ['a'], asked, { limits: LIMITS, intervalMs, nowMs: NOW_MS })
      assert.equal(chartStep(windowMs, intervalMs, 1000), periodMs, `${windowMs} ms of samples every ${intervalMs} ms`)
    }
  }
  assert.equal(chartStep(300_000, 0, 1000), 1000)
  assert.equal(chartStep(300_000, 1000, 1000), 1000, 'samples of a second may be seen')
})
