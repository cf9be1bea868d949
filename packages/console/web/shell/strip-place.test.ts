import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Incident } from '@sonde/sdk/api'
import { nextIncident, placeOn, stripSpan } from './strip-place.ts'

const NOW_MS = Date.UTC(2026, 10, 30, 14)

test('the strip shows the history that exists, at most a day and at least ten minutes', () => {
  assert.equal(stripSpan(NOW_MS, NOW_MS - 3_600_000).fromMs, NOW_MS - 3_600_000)
  assert.equal(stripSpan(NOW_MS, 0).fromMs, NOW_MS - 86_400_000)
  assert.equal(stripSpan(NOW_MS, NOW_MS - 1000).fromMs, NOW_MS - 600_000)
  assert.equal(stripSpan(NOW_MS, null).fromMs, NOW_MS - 600_000)
})

test('a span is cut at the ends of the strip, and has no place outside it', () => {
  const strip = { fromMs: 1000, toMs: 2000 }
  assert.deepEqual(placeOn(strip, { fromMs: 1500, toMs: 1750 }), { left: '50%', width: '25%' })
  assert.deepEqual(placeOn(strip, { fromMs: 0, toMs: 1100 }), { left: '0%', width: '10%' })
  assert.equal(placeOn(strip, { fromMs: 0, toMs: 900 }), undefined)
})

test('keys step to the incident before or after, whatever the order of the list', () => {
  const incidents = [3, 1, 2].map((startMs) => ({ startMs }) as Incident)
  assert.equal(nextIncident(incidents, 2, 'before')?.startMs, 1)
  assert.equal(nextIncident(incidents, 2, 'after')?.startMs, 3)
  assert.equal(nextIncident(incidents, 1, 'before'), undefined)
})
