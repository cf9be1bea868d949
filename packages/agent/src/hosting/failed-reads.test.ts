import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FailedReads } from './failed-reads.ts'

test('the last places that failed are known with their last message; of more than sixteen the oldest leave, and all are counted', () => {
  const reads = new FailedReads()
  for (let file = 0; file < 20; file++) reads.add(`file ${file}`, new Error('EIO'), file)
  reads.add('file 10', new Error('ENODEV'), 20)
  assert.equal(reads.count, 21)
  const latest = reads.latest()
  assert.deepEqual(latest[0], { place: 'file 10', message: 'ENODEV', count: 2, lastMs: 20 })
  assert.deepEqual([latest.length, latest.at(-1)?.place], [16, 'file 4'])
})
