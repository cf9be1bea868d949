import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Devices } from '../devices/devices.ts'
import { RecentRing } from '../pipeline/recent.ts'
import { tracebackDefaults } from './config.ts'
import { memoryDisk } from './keep/test-disk.ts'
import { Traceback } from './traceback.ts'

const HOUR_NS = 3_600_000_000_000n
const SECOND_NS = 1_000_000_000n

/** Traceback by clocks of the test. */
function start(t: TestContext) {
  const clock = { nowNs: 1_000_000_000n, offsetNs: 1_790_000_000_000_000_000n }
  const traceback = new Traceback({
    config: { ...tracebackDefaults, dir: '/events', before_ms: 0, after_ms: 0 },
    ...{ version: '', host: 'h', sources: () => [], heldBack: () => 0 },
    ...{ recent: new RecentRing(), devices: new Devices(), accept: () => undefined },
    rules: { conditionOf: () => '', signalsOf: () => [], listed: () => [] },
    log: { info: () => undefined, warn: () => undefined },
    caught: (error) => assert.fail(error as Error),
    disk: memoryDisk(),
    clock: { monoNs: () => clock.nowNs, wallOffsetNs: () => clock.offsetNs },
  })
  t.after(() => traceback.close(1000))
  let number = 0
  const edge = (rule: string, isStart: boolean) => {
    if (isStart) number += 256
    traceback.onEdge('s', { rule, device: 'd', isStart, event: number, monoNs: clock.nowNs, errorNs: 0n })
  }
  return { traceback, clock, edge }
}

for (const [words, stepNs] of [
  ['set ahead', HOUR_NS],
  ['set back', -HOUR_NS],
] as const)
  test(`a clock that is ${words} while an event is open moves neither its start nor how long it lasts`, async (t) => {
    const { traceback, clock, edge } = start(t)
    traceback.start()
    await traceback.opened()
    edge('before', true)
    const [open] = traceback.list({ limit: 10 }).events
    clock.nowNs += 2n * SECOND_NS
    clock.offsetNs += stepNs
    assert.equal(traceback.list({ limit: 10 }).events[0]?.startMs, open?.startMs, 'while it is open')
    clock.nowNs += 3n * SECOND_NS
    edge('before', false)
    clock.nowNs += 10n * SECOND_NS
    await traceback.look()
    const [kept] = traceback.list({ limit: 10, state: 'closed' }).events
    assert.deepEqual([kept?.startMs, (kept?.endMs ?? 0) - (kept?.startMs ?? 0)], [open?.startMs, 5000])
    edge('after', true)
    clock.nowNs += SECOND_NS
    edge('after', false)
    clock.nowNs += 10n * SECOND_NS
    await traceback.look()
    const { events } = traceback.list({ limit: 10 })
    // The list is ordered by the shown times; ids rise in the order of creation.
    const first = stepNs > 0n ? 'after' : 'before'
    assert.deepEqual(
      events.map(({ rule }) => rule),
      first === 'after' ? ['after', 'before'] : ['before', 'after'],
    )
    assert.equal(
      (events.find(({ rule }) => rule === 'after')?.startMs ?? 0) - (open?.startMs ?? 0),
      15_000 + Number(stepNs / 1_000_000n),
    )
  })

test('an event of several parts lasts as long as it did, although the clock is set back between them', async (t) => {
  const { traceback, clock, edge } = start(t)
  traceback.start()
  await traceback.opened()
  edge('long', true)
  const [open] = traceback.latest()
  for (let part = 0; part < 3; part++) {
    clock.nowNs += 61n * SECOND_NS
    clock.offsetNs -= HOUR_NS
    await traceback.look()
  }
  edge('long', false)
  clock.nowNs += 10n * SECOND_NS
  await traceback.look()
  const [event, ...others] = traceback.latest()
  assert.deepEqual(others, [])
  assert.equal(event?.parts, 4)
  assert.deepEqual([event?.startMs, (event?.endMs ?? 0) - (event?.startMs ?? 0)], [open?.startMs, 183_000])
})
