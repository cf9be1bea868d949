import assert from 'node:assert/strict'
import { test } from 'node:test'
import { INCIDENT_MARGIN_MS, type Incident } from '@sonde/sdk/api'
import { incidentNear, nextIncident, placeOn, stripSpan } from './strip-place.ts'

const NOW_MS = Date.UTC(2026, 10, 30, 14)

test('the strip shows the history that exists, at most a day and at least ten minutes', () => {
  assert.equal(stripSpan(NOW_MS, NOW_MS - 3_600_000).fromMs, NOW_MS - 3_600_000)
  assert.equal(stripSpan(NOW_MS, 0).fromMs, NOW_MS - 86_400_000)
  assert.equal(stripSpan(NOW_MS, NOW_MS - 1000).fromMs, NOW_MS - 600_000)
  assert.equal(stripSpan(NOW_MS, null).fromMs, NOW_MS - 600_000)
})

test('a span is cut at the ends of the strip, and has no place outside it', () => {
  const strip = { fromMs: 1000, toMs: 2000 }
  assert.deepEqual(placeOn(strip, { fromMs: 1500, toMs: 1750 }), { transform: 'translateX(50cqi)', width: '25%' })
  assert.deepEqual(placeOn(strip, { fromMs: 0, toMs: 1100 }), { transform: 'translateX(0cqi)', width: '10%' })
  assert.equal(placeOn(strip, { fromMs: 0, toMs: 900 }), undefined)
})

test('keys step to the incident before or after the window of another, whatever the order of the list', () => {
  const incidents = [30.4, 10, 20].map((startMs) => ({ startMs }) as Incident)
  const next = (startMs: number, direction: 'before' | 'after') =>
    nextIncident(incidents, startMs - INCIDENT_MARGIN_MS, direction)?.startMs
  assert.equal(next(20, 'before'), 10)
  assert.equal(next(20, 'after'), 30.4)
  assert.equal(next(10, 'before'), undefined)
  assert.equal(next(30, 'after'), undefined, 'addresses have whole milliseconds')
})

test('a click near an incident means it, and of several the one that began last', () => {
  const incidents = [
    { id: 'long', startMs: 100, endMs: 500 },
    { id: 'short', startMs: 300, endMs: 310 },
    { id: 'open', startMs: 900 },
  ] as Incident[]
  const near = (atMs: number) => incidentNear(incidents, atMs, 20)?.id
  assert.equal(near(305), 'short')
  assert.equal(near(315), 'long', 'the incident that held then is nearer')
  assert.equal(near(85), 'long')
  assert.equal(near(1_000), 'open')
  assert.equal(near(600), undefined)
})
