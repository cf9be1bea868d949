import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { timestampUs, wallNs, wallOffsetNs } from './clock.ts'

/** Furthest distance from the wall clock, which Node shows in whole milliseconds. Unit: milliseconds. */
const APART_MS = 2

/** Asserts that a reading lies between two readings of the wall clock, which may be set and so stand still. */
function assertOnWallClock(readMs: () => number): void {
  const startNs = process.hrtime.bigint()
  const [beforeMs, ms, afterMs] = [Date.now(), readMs(), Date.now()]
  const tookMs = Number(process.hrtime.bigint() - startNs) / 1e6
  const [lowMs, highMs] = [beforeMs - APART_MS, Math.max(afterMs, beforeMs + tookMs) + APART_MS]
  assert.ok(ms >= lowMs && ms <= highMs, `${ms} is not from ${lowMs} to ${highMs}`)
}

test('agrees with the wall clock, finer than a millisecond, and does not run backwards between readings', () => {
  let last = wallNs()
  const seen = new Set<bigint>()
  for (let n = 0; n < 10_000; n++) {
    const now = wallNs()
    assert.ok(now >= last)
    seen.add(now % 1_000_000n)
    last = now
  }
  assert.ok(seen.size > 100, `${seen.size} different fractions of a millisecond`)
  assertOnWallClock(() => Number(wallNs()) / 1e6)
})

test('follows the wall clock when it is set forward or back', () => {
  const real = Date.now()
  for (const setMs of [real + 3_600_000, real - 3_600_000, real]) {
    mock.method(Date, 'now', () => setMs)
    assertOnWallClock(() => Number(wallNs()) / 1e6)
    mock.restoreAll()
  }
})

test('a process that stands still between the readings of two clocks sees no step', () => {
  const beforeNs = wallOffsetNs()
  let [startMs, wallMs, ticksMs] = [0, 0, Number.POSITIVE_INFINITY]
  // Read again where the test itself stood still between the two.
  while (ticksMs - startMs > 0.5) [startMs, wallMs, ticksMs] = [performance.now(), Date.now(), performance.now()]
  let stoodMs = 0
  mock.method(performance, 'now', () => ticksMs + 1001 + stoodMs)
  // It stands still for 8 ms behind each reading of the wall clock.
  mock.method(Date, 'now', () => {
    stoodMs += 8
    return wallMs + 1001 + stoodMs - 8
  })
  const thenNs = wallOffsetNs()
  mock.restoreAll()
  assert.equal(thenNs, beforeNs)
})

test('microseconds are whole numbers of the same clock, and do not run backwards either', () => {
  let last = timestampUs()
  for (let n = 0; n < 10_000; n++) {
    const now = timestampUs()
    assert.ok(Number.isSafeInteger(now) && now >= last)
    last = now
  }
  const [beforeNs, us, afterNs] = [wallNs(), timestampUs(), wallNs()]
  // The two are anchored one after the other.
  assert.ok(us >= Number(beforeNs / 1000n) - 1000 && us <= Number(afterNs / 1000n) + 1000)
})

test('microseconds follow the wall clock within a second', () => {
  const real = performance.now()
  const setMs = Date.now() - 3_600_000
  mock.method(Date, 'now', () => setMs)
  mock.method(performance, 'now', () => real + 1001)
  assertOnWallClock(() => timestampUs() / 1000)
  mock.restoreAll()
  assertOnWallClock(() => Number(wallNs()) / 1e6)
})
