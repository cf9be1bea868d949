import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { queuePlot } from './plot-queue.ts'

test('the first plot is made at once, the others frame by frame, and one that left is not made', async (t) => {
  const frames: (() => void)[] = []
  const before = globalThis.requestAnimationFrame
  globalThis.requestAnimationFrame = (work) => frames.push(() => work(0))
  t.after(() => {
    globalThis.requestAnimationFrame = before
  })
  const frame = async () => {
    for (const work of frames.splice(0)) work()
    await setTimeout(1)
  }
  const made: string[] = []
  let nowMs = 0
  t.mock.method(performance, 'now', () => nowMs)
  /** `tookMs`: how long it takes to make it. */
  const make = (name: string, tookMs = 20) =>
    queuePlot(() => {
      made.push(name)
      nowMs += tookMs
    })
  make('a')
  make('b')
  const leave = make('c')
  make('d')
  assert.deepEqual(made, ['a'])
  leave()
  await frame()
  assert.deepEqual(made, ['a', 'b'])
  await frame()
  assert.deepEqual(made, ['a', 'b', 'd'])
  await frame()
  make('e')
  assert.deepEqual(made, ['a', 'b', 'd', 'e'], 'at once again, when none waits')
  for (const name of ['f', 'g', 'h', 'i']) make(name, 7)
  await frame()
  assert.deepEqual(made.slice(4), ['f', 'g', 'h'], 'small ones together')
})
