import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../../sdk/test/helper.ts'
import { startTicker } from './scheduler.ts'

const fail = (error: unknown) => assert.fail(String(error))

test('lateness of single ticks does not add up', async () => {
  const seen: number[] = []
  const startMs = performance.now()
  const ticker = startTicker(20, () => void seen.push(performance.now()), fail, 0)
  await until('50 ticks', () => seen.length >= 50)
  await ticker.stop(0)
  // From the start, and not from the first tick, which may be as late as any other.
  const periods = ((seen.at(-1) as number) - startMs) / 20
  // Skipped ticks are overruns; none is made up for, and the grid stays where it was.
  assert.ok(Math.abs(periods - (seen.length - 1 + ticker.overruns)) < 2, `${periods} periods for ${seen.length} ticks`)
})

test('a task is never run twice at a time; the ticks it misses are counted', async () => {
  let running = 0
  let most = 0
  const seen: number[] = []
  const ticker = startTicker(
    10,
    async () => {
      running++
      most = Math.max(most, running)
      await new Promise((resolve) => setTimeout(resolve, 35))
      running--
      seen.push(performance.now())
    },
    fail,
    0,
  )
  await until('4 ticks', () => seen.length >= 4)
  await ticker.stop(1000)
  assert.equal(most, 1)
  assert.ok(ticker.overruns >= 6, `${ticker.overruns} overruns`)
  assert.equal(running, 0)
})

test('stopping does not wait longer than its limit for a task that hangs', { timeout: 60_000 }, async () => {
  const started: number[] = []
  const ticker = startTicker(
    5,
    () => {
      started.push(1)
      return new Promise<void>(() => undefined)
    },
    fail,
    0,
  )
  await until('1 ticks', () => started.length >= 1)
  await ticker.stop(50)
  assert.equal(started.length, 1)
})

test('a task that throws, or rejects, is told and run again', async () => {
  const failures: unknown[] = []
  let ticks = 0
  const ticker = startTicker(
    5,
    () => {
      if (++ticks % 2 === 0) return Promise.reject(new Error('later'))
      throw new Error('at once')
    },
    (error) => failures.push((error as Error).message),
    0,
  )
  await until('4 failures', () => failures.length >= 4)
  await ticker.stop(1000)
  assert.deepEqual(failures.slice(0, 4), ['at once', 'later', 'at once', 'later'])
})
