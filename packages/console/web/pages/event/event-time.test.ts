import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digitsFor, formatAfter, formatMoment, formatOffset } from './event-time.ts'

const plain = (text: string): string => text.replace(/[\u00a0\u202f]/g, ' ')
const TIME_MS = Date.UTC(2026, 6, 31, 13, 52, 41, 221) + 0.75

test('a time has no more digits than it is known to', () => {
  assert.deepEqual([1_000, 100, 10, 0.1, 0.05, 0.001, 0].map(digitsFor), [0, 1, 2, 4, 5, 6, 6])
  assert.equal(plain(formatMoment(TIME_MS, 'utc', 0.001)), '13:52:41.221 750')
  assert.equal(plain(formatMoment(TIME_MS, 'utc', 0.1)), '13:52:41.221 8')
  assert.equal(plain(formatMoment(TIME_MS, 'utc', 10)), '13:52:41.22')
  assert.equal(plain(formatMoment(TIME_MS, 'utc', 1_000)), '13:52:41')
})

test('rounding carries into the second', () => {
  assert.equal(plain(formatMoment(Date.UTC(2026, 6, 31, 13, 59, 59, 999) + 0.99, 'utc', 1)), '14:00:00.000')
})

test('a stretch has a sign, the unit of its size and as many digits as are known', () => {
  assert.equal(plain(formatAfter(1_103.8, 0.1)), '+1.103 8 s')
  assert.equal(plain(formatAfter(-6.4, 0.1)), '−6.4 ms')
  assert.equal(plain(formatAfter(-0.25, 0.05)), '−250 µs')
  assert.equal(plain(formatAfter(350, 100)), '+350 ms')
  assert.equal(plain(formatAfter(0, 0.1)), '0 µs')
  assert.equal(plain(formatAfter(-0.9, 0.1, 2)), '−0.9 ms')
  assert.equal(plain(formatOffset(-6.4, 0.1)), '−6.4 ms ± 100 µs')
})
