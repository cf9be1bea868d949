import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SimulatedTimers } from '../../../sdk/test/simulated-timers.ts'
import { ClientPace } from './client-pace.ts'

/** The unused time that a client may use later. Unit: milliseconds. */
const SAVED_MS = 50
const START_MS = 1000

test('pages of whatever size come no faster than the pace', async () => {
  const bytesPerMs = 1000
  // The middle messages are more than half of the burst: two of them exceed it, one does not.
  for (const pageBytes of [7_000, 32_000, 240_000]) {
    const timers = new SimulatedTimers()
    await timers.advance(START_MS)
    const pace = new ClientPace(bytesPerMs * 1000, timers)
    let bytes = 0
    while (bytes < 480_000) {
      bytes += pageBytes
      const pause = pace.take(pageBytes)
      const dueMs = START_MS + Math.max(0, bytes / bytesPerMs - SAVED_MS)
      if (pause !== undefined) await Promise.all([pause, timers.advance(dueMs - timers.nowMs())])
      assert.equal(timers.nowMs(), dueMs, `${bytes} bytes`)
      assert.equal(timers.count, 0)
    }
  }
})

test('what is within the pace does not wait', () => {
  const pace = new ClientPace(1_000_000)
  assert.equal(pace.take(10_000), undefined)
  assert.equal(pace.take(30_000), undefined)
})
