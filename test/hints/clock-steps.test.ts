import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSource } from '@sonde/sdk'
import { HintHistory } from '../../packages/agent/src/hints/history/hint-history.ts'
import { quietNode } from '../../packages/agent/src/hints/test-training-node.ts'
import { openStore } from '../../packages/console/test/open-store.ts'
import { incidentsOf } from './simulated-life.ts'

const HOUR_MS = 3_600_000

for (const [words, stepMs] of [
  ['an hour ahead', HOUR_MS],
  ['an hour back', -HOUR_MS],
  ['20 s back', -20_000],
] as const)
  test(`an incident in which the clock steps ${words} is one, ends, and never ends before it began`, async (t) => {
    const { store, close } = await openStore()
    t.after(close)
    const node = quietNode()
    const self = createSource({ id: 'self', emit: (batch) => store.accept(batch) })
    const history = new HintHistory(node.hints, { history: store, records: (request) => store.records(request) })
    const incidents = incidentsOf(history)
    const run = (seconds: number) => node.run(seconds, () => node.hints.report(self))
    const beganMs = node.nowMs
    node.nic(3).rate({ packet_seq_err_total: 2400 })
    run(70)
    node.nowMs += stepMs
    run(70)
    assert.equal(incidents.openCount, 1)
    node.nic(3).rate({ packet_seq_err_total: 0 })
    run(30)
    assert.equal(incidents.openCount, 0)
    self.flush()
    await store.flush()
    const wholeMs = Math.abs(stepMs) + 300_000
    for (let toMs = beganMs - wholeMs; toMs < beganMs + wholeMs; toMs += 60_000) {
      const { incidents: listed } = await incidents.list({ fromMs: toMs - 2 * wholeMs, toMs, limit: 10 })
      assert.ok(listed.length <= 1)
      for (const { state, startMs, endMs } of listed) {
        assert.equal(state, 'ended')
        assert.ok((endMs ?? 0) >= startMs, `${startMs} ${endMs}`)
      }
    }
    const extraMs = Math.max(0, stepMs)
    // Two hours later, the times that passed twice are both over.
    for (const laterMs of [0, 2 * HOUR_MS]) {
      node.nowMs += laterMs
      node.hints.evaluate(node.nowMs)
      const [one, ...others] = (await incidents.list({ limit: 10 })).incidents
      const lastedMs = (one?.endMs ?? 0) - (one?.startMs ?? 0)
      assert.deepEqual(others, [])
      assert.ok(lastedMs >= 120_000 + extraMs && lastedMs <= 160_000 + extraMs, `lasted ${lastedMs} ms`)
    }
  })
