import assert from 'node:assert/strict'
import { test } from 'node:test'
import { retryAfterMs } from './backoff.ts'

test('reads seconds and dates, and nothing else', () => {
  const nowMs = Date.UTC(2026, 0, 1)
  assert.equal(retryAfterMs('Thu, 01 Jan 2026 00:01:30 GMT', nowMs), 90_000)
  for (const useless of [undefined, '', 'soon', '-3', '0', 'Wed, 31 Dec 2025 00:00:00 GMT'])
    assert.equal(retryAfterMs(useless, nowMs), undefined, String(useless))
  assert.equal(retryAfterMs('7', nowMs), 7000)
})
