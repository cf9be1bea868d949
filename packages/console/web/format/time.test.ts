import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  formatAge,
  formatClock,
  formatCount,
  formatDateTime,
  formatDuration,
  formatRoughAge,
  formatSpanOfTime,
  zoneName,
} from './time.ts'

const spaced = (text: string): string => text.replaceAll('\u00a0', ' ')
const AT_MS = Date.UTC(2026, 6, 31, 4, 5, 6, 7)

/** Runs `body` in a time zone. */
function inZone(zone: string, body: () => void): void {
  const before = process.env.TZ
  process.env.TZ = zone
  try {
    body()
  } finally {
    if (before === undefined) delete process.env.TZ
    else process.env.TZ = before
  }
}

test('a time has as many digits as are asked for', () => {
  assert.equal(formatClock(AT_MS, 'utc', 'minutes'), '04:05')
  assert.equal(formatClock(AT_MS, 'utc'), '04:05:06')
  assert.equal(formatClock(AT_MS, 'utc', 'milliseconds'), '04:05:06.007')
  assert.equal(formatDateTime(AT_MS, 'utc'), '2026-07-31 04:05:06')
})

test('a span names the day of its end where it is another one', () => {
  assert.equal(formatSpanOfTime(AT_MS, AT_MS + 1_000, 'utc'), '2026-07-31 04:05:06 – 04:05:07')
  assert.equal(formatSpanOfTime(AT_MS, AT_MS + 86_400_000, 'utc'), '2026-07-31 04:05:06 – 2026-08-01 04:05:06')
})

test('local time is of the zone and says its offset, also over midnight', () => {
  inZone('America/New_York', () => {
    assert.equal(formatDateTime(AT_MS, 'local'), '2026-07-31 00:05:06')
    assert.equal(zoneName('local', AT_MS), 'UTC−04:00')
    assert.equal(zoneName('local', Date.UTC(2026, 0, 1)), 'UTC−05:00')
  })
  inZone('Asia/Kolkata', () => assert.equal(zoneName('local', AT_MS), 'UTC+05:30'))
  assert.equal(zoneName('utc'), 'UTC')
})

test('a duration is written with its two largest units', () => {
  const cases: readonly (readonly [ms: number, text: string])[] = [
    [0, '0 s'],
    [0.093, '93 µs'],
    [1.5, '1.5 ms'],
    [880, '880 ms'],
    [1_840, '1.84 s'],
    [59_999, '1 min'],
    [125_000, '2 min 5 s'],
    [11_520_000, '3 h 12 min'],
    [529_200_000, '6 d 3 h'],
    [-5, '0 s'],
  ]
  for (const [ms, text] of cases) assert.equal(spaced(formatDuration(ms)), text)
})

test('an age has no fractions', () => {
  assert.equal(spaced(formatAge(2_490)), '2 s')
  assert.equal(spaced(formatAge(-3)), '0 s')
})

test('an age where room is short has one unit', () => {
  assert.deepEqual(
    [0, 38_400, 79_000, 11_520_000].map((ageMs) => spaced(formatRoughAge(ageMs))),
    ['0 s', '38 s', '1 min', '3 h'],
  )
})

test('a length of time that grows counts as a clock does', () => {
  assert.deepEqual([9_400, 80_000, 3_725_000].map(formatCount), ['0:09', '1:20', '1:02:05'])
})
