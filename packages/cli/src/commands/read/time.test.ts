import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTime } from './time.ts'

const NOW_MS = Date.UTC(2026, 10, 21, 12)
const MIDNIGHT_NS = BigInt(Date.UTC(2026, 10, 21)) * 1_000_000n

test('a time is in UTC unless it names a zone, and exact to the nanosecond', () => {
  assert.equal(parseTime('2026-11-21', NOW_MS), MIDNIGHT_NS)
  assert.equal(parseTime('2026-11-21T00:01', NOW_MS), MIDNIGHT_NS + 60_000_000_000n)
  assert.equal(parseTime('2026-11-21 00:00:01.000000002', NOW_MS), MIDNIGHT_NS + 1_000_000_002n)
  assert.equal(parseTime('2026-11-21T02:00:00+02:00', NOW_MS), MIDNIGHT_NS)
  assert.equal(parseTime('2026-11-21T00:00:00.5Z', NOW_MS), MIDNIGHT_NS + 500_000_000n)
})

test('a span is back from now', () => {
  assert.equal(parseTime('12h', NOW_MS), MIDNIGHT_NS)
  assert.equal(parseTime('720m', NOW_MS), MIDNIGHT_NS)
  assert.equal(parseTime('43200s', NOW_MS), MIDNIGHT_NS)
  assert.equal(parseTime('1d', NOW_MS), MIDNIGHT_NS - 43_200_000_000_000n)
})

test('anything else is no time', () => {
  for (const text of [
    '',
    'now',
    '10',
    '10y',
    '-10m',
    '2026-13-01',
    '2026-11-31T00:00',
    '2026-11-21T25:00',
    '21.11.2026',
  ]) {
    assert.equal(parseTime(text, NOW_MS), undefined, text)
  }
})
