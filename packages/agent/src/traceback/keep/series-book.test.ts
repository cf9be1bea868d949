import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeriesBook } from './series-book.ts'
import { levelBatch, levelType, TIME_NS } from './test-records.ts'

/** Resolution of a series of records that are 1 µs apart. Unit: milliseconds. */
function resolutionMs(valueMs?: number): number | undefined {
  const book = new SeriesBook(TIME_NS)
  const common = { source: 's', owner: {}, isOwn: true, type: levelType, isRing: false, labels: {}, periodMs: 0.001 }
  const part = book.partOf(valueMs === undefined ? common : { ...common, valueMs })
  const { bytes, count, symbols } = levelBatch(20)
  book.take(part, bytes, count, symbols)
  return book.kept()[0]?.resolutionMs
}

test('a series has the resolution of its records, and no better than how often its device has anything new', () => {
  assert.equal(resolutionMs(), 0.001)
  assert.equal(resolutionMs(30_000), 30_000)
  assert.equal(resolutionMs(0.0001), 0.001)
})
