import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../../sdk/test/helper.ts'
import { FairLimit } from './fair-limit.ts'
import { ownReadings } from './readings.ts'

test('a limit is not over while a processor lacks, says so once, and is over afterwards', async () => {
  let isStarved = true
  let waitMs = 0
  let readMs = performance.now()
  const read = () => {
    const atMs = performance.now()
    if (isStarved) waitMs += atMs - readMs
    readMs = atMs
    return { atMs, pid: 7, threads: { runMs: 1, waitMs } }
  }
  const said: string[] = []
  const limit = new FairLimit({
    ...{ limitMs: 20, read },
    onOver: () => void said.push('over'),
    onShort: (words) => void said.push(words),
  })
  limit.keepAlive()
  await until('it is told', () => said.length > 0)
  assert.match(said[0] ?? '', /^waits for a processor/)
  isStarved = false
  await until('it is over', () => said.includes('over'))
  assert.equal(said.length, 2)
  limit.restart()
  await until('it is over again', () => said.length === 3)
})

test('the kernel tells what this process had', () => {
  const { threads, pid, isStopped } = ownReadings()
  assert.deepEqual([pid, isStopped], [process.pid, false])
  assert.ok(threads !== undefined && threads.runMs > 0 && threads.waitMs >= 0, JSON.stringify(threads))
})
