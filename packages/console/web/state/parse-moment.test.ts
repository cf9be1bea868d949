import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseMoment } from './parse-moment.ts'

const NOW_MS = Date.UTC(2026, 10, 30, 14, 10)

test('a moment is a time of day, of yesterday, or an ISO time', () => {
  const of = (text: string) => {
    const atMs = parseMoment(text, NOW_MS, 'utc')
    return atMs === undefined ? undefined : new Date(atMs).toISOString()
  }
  assert.equal(of('14:03'), '2026-11-30T14:03:00.000Z')
  assert.equal(of(' 9:10:07 '), '2026-11-30T09:10:07.000Z')
  assert.equal(of('23:59'), '2026-11-29T23:59:00.000Z', 'the latest that has passed')
  assert.equal(of('Yesterday 9:10'), '2026-11-29T09:10:00.000Z')
  assert.equal(of('2026-11-28 14:03'), '2026-11-28T14:03:00.000Z')
  assert.equal(of('2026-11-28T14:03:07+01:00'), '2026-11-28T13:03:07.000Z')
  for (const wrong of ['', '24:00', '14:60', '14', 'tomorrow 9:10', '2026-13-01T00:00Z'])
    assert.equal(of(wrong), undefined)
})
