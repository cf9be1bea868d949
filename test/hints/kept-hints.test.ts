import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Hint, spanOfHint } from '@sonde/sdk/api'
import { beginLife, type SimulatedLife } from './simulated-life.ts'

const STORM = 'retransmission_storm/sim-nic-mlx5_3-1'
const lines = (hints: readonly Hint[]) => hints.map(({ id, stage, outcome = 'open' }) => `${id} ${stage} ${outcome}`)

/** The hints of a window that held at its end, and those that were over then. */
async function windowOf({ history }: Pick<SimulatedLife, 'history'>, fromMs: number, toMs: number) {
  const { hints, unknown } = await history.window(fromMs, toMs)
  const isOver = (hint: Hint) => spanOfHint(hint, toMs).toMs !== undefined
  return { hints: hints.filter((hint) => !isOver(hint)), ended: hints.filter(isOver), unknown }
}

test('a window of the past has the hints of that window, each as it was at its end', async (t) => {
  const life = await beginLife(t)
  const { node } = life
  life.run(75)
  const stormMs = node.nowMs
  node.start({ name: 'retransmission-storm', durationS: 60 })
  life.run(200)
  await life.flush()
  const amid = await windowOf(life, stormMs - 30_000, stormMs + 30_000)
  assert.deepEqual(lines(amid.hints), [`${STORM} standing ended`])
  assert.deepEqual([amid.ended, amid.unknown], [[], []])
  const [hint] = amid.hints
  assert.ok(hint && hint.seenMs <= stormMs + 30_000, 'said within the window')
  assert.ok(hint.endedMs && hint.endedMs > stormMs + 60_000 && hint.endedMs < stormMs + 80_000)
  assert.match(hint.sentence, /limit/)
  assert.ok(hint.evidence.length > 0)
  const whole = await windowOf(life, stormMs - 30_000, stormMs + 150_000)
  assert.deepEqual([lines(whole.hints), lines(whole.ended)], [[], [`${STORM} standing ended`]])
  const after = await windowOf(life, stormMs + 120_000, stormMs + 150_000)
  assert.deepEqual([after.hints, after.ended, after.unknown], [[], [], []])
  // It was open for a while after its end: that is no part of it.
  const endedMs = whole.ended[0]?.endedMs ?? 0
  assert.equal(endedMs, hint.endedMs)
  const waiting = await windowOf(life, stormMs, endedMs + 5_000)
  assert.deepEqual([lines(waiting.hints), lines(waiting.ended)], [[], [`${STORM} standing ended`]])
  assert.equal(waiting.ended[0]?.seenMs, endedMs)
  const waited = await windowOf(life, endedMs + 1_000, endedMs + 10_000)
  assert.deepEqual([waited.hints, waited.ended], [[], []])
})

test('after a restart the last hour is known, but for the time in which Sonde did not run', async (t) => {
  const first = await beginLife(t)
  first.run(75)
  first.node.start({ name: 'retransmission-storm', durationS: 30 })
  first.run(100)
  const stoppedMs = first.node.nowMs
  const second = await first.restart(40)
  second.run(120)
  const answer = second.node.hints.answer()
  assert.deepEqual([lines(answer.hints), lines(answer.ended)], [[], [`${STORM} standing ended`]])
  const gap = answer.unknown.at(-1)
  assert.equal(gap?.reason, 'Sonde did not run.')
  assert.ok(Math.abs((gap?.fromMs ?? 0) - stoppedMs) < 12_000 && Math.abs((gap?.toMs ?? 0) - stoppedMs - 40_000) < 3000)
})

test('a hint that was open when Sonde stopped goes on as the same where it still holds, and is cut off where not', async (t) => {
  for (const holds of [true, false]) {
    const first = await beginLife(t)
    first.run(75)
    first.node.start({ name: 'retransmission-storm', durationS: 600 })
    first.run(30)
    const [before] = first.node.open()
    const second = await first.restart(20)
    if (holds) second.node.start({ name: 'retransmission-storm', durationS: 600 })
    second.run(30)
    const { hints, ended } = second.node.hints.answer()
    if (holds) {
      assert.deepEqual([hints[0]?.event, hints[0]?.sinceMs, ended.length], [before?.event, before?.sinceMs, 0])
    } else {
      assert.deepEqual([lines(hints), lines(ended)], [[], [`${STORM} standing cut`]])
    }
  }
})

test('without a store memory answers, and says from when on it knows', async (t) => {
  const life = await beginLife(t)
  const startedMs = life.node.nowMs
  life.run(75)
  life.node.start({ name: 'retransmission-storm', durationS: 30 })
  life.run(100)
  const answer = await windowOf({ history: life.withoutStore() }, startedMs - 60_000, life.node.nowMs)
  assert.deepEqual(lines(answer.ended), [`${STORM} standing ended`])
  assert.deepEqual(
    answer.unknown.map(({ fromMs, reason }) => [fromMs, /store\.enabled/.test(reason)]),
    [[startedMs - 60_000, true]],
  )
})

test('a store that does not answer is no reason to say that nothing was', async (t) => {
  const life = await beginLife(t)
  const startedMs = life.node.nowMs
  life.run(30)
  await life.close()
  const { unknown } = await windowOf(life, startedMs - 600_000, life.node.nowMs)
  assert.match(unknown[0]?.reason ?? '', /^The store does not answer: .*closed/)
})

test('a time in which the process stood still is not known: at once, in any window, and after a restart', async (t) => {
  const life = await beginLife(t)
  life.run(30)
  const fellMs = life.node.nowMs
  life.node.sleep(50)
  life.run(30)
  const wokeMs = fellMs + 50_250
  const isPause = ({ fromMs, toMs, reason }: { fromMs: number; toMs: number; reason: string }) =>
    Math.abs(fromMs - fellMs) < 1000 && Math.abs(toMs - wokeMs) < 1000 && reason.startsWith('Sonde paused')
  assert.ok(life.node.hints.answer().unknown.some(isPause))
  await life.flush()
  const amid = await windowOf(life, fellMs + 10_000, fellMs + 20_000)
  assert.deepEqual(
    amid.unknown.map(({ fromMs, toMs }) => [fromMs - fellMs, toMs - fellMs]),
    [[10_000, 20_000]],
  )
  const next = await life.restart(5)
  next.run(5)
  assert.ok((await windowOf(next, fellMs - 20_000, wokeMs + 20_000)).unknown.some(isPause))
  assert.deepEqual((await windowOf(next, wokeMs + 5_000, wokeMs + 20_000)).unknown, [])
  assert.ok(next.node.hints.answer().unknown.some(isPause))
})
