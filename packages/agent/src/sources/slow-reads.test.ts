import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SlowReads } from './slow-reads.ts'

/** Files with given costs, read each second for a while. Returns how often each was read. */
function readFor(seconds: number, costsMs: readonly number[]) {
  const reads = new SlowReads()
  const files = costsMs.map((ms) => ({ ms, cost: reads.newCost(), count: 0 }))
  let mostSlowInSweep = 0
  for (let second = 0; second < seconds; second++) {
    let slow = 0
    let nowMs = second * 1000
    for (const file of files) {
      if (!reads.isDue(file.cost, nowMs)) continue
      if (file.cost.slowMs > 0) slow++
      nowMs += file.ms
      file.count++
      reads.note(file.cost, file.ms, nowMs)
    }
    if (second > 10) mostSlowInSweep = Math.max(mostSlowInSweep, slow)
  }
  return { counts: files.map(({ count }) => count), mostSlowInSweep }
}

test('a slow file is read less often, and the others in each sweep', () => {
  const { counts } = readFor(100, [0.02, 5, 0.02])
  assert.deepEqual([counts[0], counts[2]], [100, 100])
  assert.ok((counts[1] ?? 0) >= 16 && (counts[1] ?? 0) <= 21, `5 ms every 5 s, read ${counts[1]} times`)
})

test('many slow files take turns: at most one in a sweep, and each has its turn', () => {
  const { counts, mostSlowInSweep } = readFor(1000, Array(40).fill(60))
  assert.equal(mostSlowInSweep, 1)
  assert.ok(Math.min(...counts) >= 10, `reads: ${counts}`)
  assert.ok(Math.max(...counts) - Math.min(...counts) <= 3, `reads: ${counts}`)
})

test('a very slow file does not slow the other slow files', () => {
  const { counts } = readFor(100, [500, 5, 2])
  assert.ok((counts[1] ?? 0) >= 12 && (counts[2] ?? 0) >= 20, `reads: ${counts}`)
})

test('one slow read is a pause of this process; two make a file slow until it is fast again', () => {
  const reads = new SlowReads()
  const cost = reads.newCost()
  reads.note(cost, 20, 20)
  assert.equal(reads.isDue(cost, 21), true)
  reads.note(cost, 30, 60)
  assert.equal(cost.slowMs, 20)
  assert.equal(reads.isDue(cost, 20_059), false)
  assert.equal(reads.isDue(cost, 20_061), true)
  reads.note(cost, 0.1, 20_062)
  assert.equal(reads.isDue(cost, 20_063), true)
})
