import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ClientPace } from './client-pace.ts'

/** What a client may save up, and how early a timer may ring. Unit: milliseconds. */
const SAVED_MS = 50
const EARLY_MS = 2

test('pages of whatever size come no faster than the pace', async () => {
  const bytesPerMs = 1000
  // The middle messages are more than half of the burst: two of them exceed it, one does not.
  for (const pageBytes of [7_000, 32_000, 240_000]) {
    const pace = new ClientPace(bytesPerMs * 1000)
    const startMs = performance.now()
    let bytes = 0
    while (bytes < 480_000) {
      bytes += pageBytes
      await pace.take(pageBytes)
    }
    const tookMs = performance.now() - startMs
    assert.ok(tookMs >= bytes / bytesPerMs - SAVED_MS - EARLY_MS, `${bytes} bytes in ${tookMs} ms`)
  }
})

test('what is within the pace does not wait', () => {
  const pace = new ClientPace(1_000_000)
  assert.equal(pace.take(10_000), undefined)
  assert.equal(pace.take(30_000), undefined)
})
