import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Timers } from '@sonde/sdk/internal'
import { until } from '../../../sdk/test/helper.ts'
import { SimulatedTimers } from '../../../sdk/test/simulated-timers.ts'
import { startTicker } from './scheduler.ts'

const fail = (error: unknown) => assert.fail(String(error))

test('lateness of single ticks does not add up', async () => {
  const timers = new SimulatedTimers()
  const seen: number[] = []
  const latenessMs = [0, 7, 0, 55, 12, 0]
  const task = async () => {
    seen.push(timers.nowMs())
    // The loop is busy for a while, so the next tick may be late.
    const endMs = timers.nowMs() + (latenessMs[seen.length - 1] ?? 0)
    busyUntilMs = endMs
  }
  let busyUntilMs = 0
  const late: Timers = {
    nowMs: () => timers.nowMs(),
    after: (delayMs, run) => timers.after(Math.max(delayMs, busyUntilMs - timers.nowMs()), run),
  }
  const ticker = startTicker(20, task, fail, 0, late)
  await timers.advance(200)
  await ticker.stop(0)
  assert.deepEqual(seen, [0, 20, 40, 60, 115, 127, 140, 160, 180, 200])
  // Skipped ticks are overruns. None is made up for, and the grid stays where it was.
  assert.equal(ticker.overruns, 1)
})

test('a task is never run twice at a time; the ticks it misses are counted', async () => {
  const timers = new SimulatedTimers()
  let running = 0
  let most = 0
  const seen: number[] = []
  const task = async () => {
    seen.push(timers.nowMs())
    most = Math.max(most, ++running)
    await new Promise<void>((resolve) => timers.after(35, resolve))
    running--
  }
  const ticker = startTicker(10, task, fail, 0, timers)
  await timers.advance(159)
  await ticker.stop(1000)
  assert.equal(most, 1)
  assert.deepEqual(seen, [0, 40, 80, 120])
  assert.equal(ticker.overruns, 12)
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
