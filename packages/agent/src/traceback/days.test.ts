import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Batch } from '@sonde/sdk'
import { Devices } from '../devices/devices.ts'
import { EdgeGate } from '../hosting/edge-gate.ts'
import { RecentRing } from '../pipeline/recent.ts'
import { type TracebackConfig, tracebackDefaults } from './config.ts'
import { memoryDisk } from './keep/test-disk.ts'
import { Traceback } from './traceback.ts'

const HOUR_NS = 3_600_000_000_000n

/** Traceback with a clock and a disk of the test, and no rings: what it keeps of events themselves. */
function start(t: TestContext, config: Partial<TracebackConfig> = {}) {
  const clock = { nowNs: 1_000_000_000n, offsetNs: 1_790_000_000_000_000_000n }
  const disk = memoryDisk()
  const batches: Batch[] = []
  const warnings: string[] = []
  const traceback = new Traceback({
    config: { ...tracebackDefaults, dir: '/events', before_ms: 0, after_ms: 0, ...config },
    ...{
      version: '',
      host: 'h',
      sources: () => [],
      heldBack: () => 0,
      recent: new RecentRing(),
      devices: new Devices(),
    },
    rules: { conditionOf: () => '', signalsOf: () => [], listed: () => [] },
    accept: (batch) => void batches.push(batch),
    log: { info: () => undefined, warn: (_facts, message) => void warnings.push(message) },
    caught: (error) => assert.fail(error as Error),
    disk,
    clock: { monoNs: () => clock.nowNs, wallOffsetNs: () => clock.offsetNs },
  })
  t.after(() => traceback.close(1000))
  // The end of an event bears the number of its start, as hosts have it.
  const numbers = new Map<string, number>()
  const edge = (
    rule: string,
    device: string,
    isStart: boolean,
    number = numbers.get(`${rule} ${device}`) ?? 0,
    client?: bigint,
  ) => {
    numbers.set(`${rule} ${device}`, number)
    traceback.onEdge(
      's',
      { rule, device, isStart, event: number, monoNs: clock.nowNs, errorNs: 0n },
      { holder: client },
    )
  }
  return { traceback, clock, disk, batches, warnings, edge }
}

test('events of ten days, in bursts of ten thousand an hour: no table and no folder grows beyond its bound', async (t) => {
  const eventsMax = 50
  const { traceback, clock, disk, edge } = start(t, { events_max: eventsMax })
  const gate = new EdgeGate({ startsMax: Number.POSITIVE_INFINITY, slot: 1 })
  const everyNs = HOUR_NS / 10_000n
  const ids = new Set<number>()
  // A thousand events a day. Growth with events shows in a burst, and growth with time in the ten days.
  for (let day = 0; day < 10; day++) {
    for (let i = 0; i < 1000; i++) {
      const [rule, device] = [`r${i % 7}`, `d${i % 5}`]
      const started = { rule, device, isStart: true }
      const id = gate.take(started) ?? 0
      ids.add(id)
      edge(rule, device, true, id)
      clock.nowNs += everyNs / 2n
      edge(rule, device, false)
      gate.take({ ...started, isStart: false })
      clock.nowNs += everyNs / 2n
      await traceback.look()
    }
    clock.nowNs += 23n * HOUR_NS
    await traceback.look()
    assert.equal(traceback.openCount, 0)
    assert.equal(traceback.archive.count, eventsMax)
    assert.equal(disk.files.size, eventsMax, 'a note an event, as there is nothing to keep')
  }
  assert.equal(ids.size, 10_000, 'numbers are those of no other event')
  assert.equal(traceback.archive.removed, 10_000 - eventsMax)
})

test('an event that lasts is cut again and again, and is one event', async (t) => {
  const { traceback, clock, batches, edge } = start(t)
  edge('r', 'd', true, 257)
  for (let second = 0; second < 181; second++) {
    clock.nowNs += 1_000_000_000n
    await traceback.look()
  }
  edge('r', 'd', false)
  clock.nowNs += 10_000_000_000n
  await traceback.look()
  const { events } = traceback.list({ limit: 10 })
  assert.deepEqual(
    events.map(({ id, end, parts }) => [id, end, parts]),
    [[257, 'cleared', 4]],
  )
  const parts = [...traceback.events()]
  assert.deepEqual(
    parts.map(({ end }) => end),
    ['cut', 'cut', 'cut', 'cleared'],
  )
  assert.deepEqual(
    parts.slice(1).map(({ continues, first }) => [continues, first?.id]),
    parts.slice(0, -1).map(({ id }) => [id, 257]),
  )
  assert.deepEqual([events[0]?.startMs, events[0]?.endMs], [parts[0]?.startMs, parts.at(-1)?.endMs])
  assert.equal(batches.length, 0, 'where it is cut, it neither ends nor starts')
})

test('more events at a time than may be open are counted, and told once a minute', async (t) => {
  const { traceback, clock, warnings, edge } = start(t)
  for (let i = 0; i < 300; i++) edge('r', `d${i}`, true, 256 * i + 1)
  assert.deepEqual([traceback.openCount, traceback.limitedTotal()], [256, 44])
  await traceback.look()
  edge('r', 'another', true, 3)
  await traceback.look()
  assert.equal(warnings.length, 1)
  clock.nowNs += 60_000_000_000n
  await traceback.look()
  assert.equal(warnings.length, 2)
})

test('however many clients there are, events of the agent find places, and one client leaves some to others', async (t) => {
  const { traceback, edge } = start(t)
  for (let i = 0; i < 300; i++) edge('r', `greedy${i}`, true, 256 * i, 7n)
  assert.equal(traceback.openCount, 128, 'half of the places')
  for (let client = 8n; client < 40n; client++)
    for (let i = 0; i < 20; i++) edge('r', `${client} ${i}`, true, Number(client) * 100_000 + 256 * i, client)
  assert.equal(traceback.openCount, 192, 'three quarters of the places')
  assert.equal(traceback.list({ limit: 1000 }).events.filter(({ client }) => client === '8').length, 20)
  for (let i = 0; i < 64; i++) edge('r', `own${i}`, true, 256 * i + 1)
  assert.equal(traceback.list({ limit: 1000 }).events.filter(({ client }) => client === undefined).length, 64)
  assert.equal(traceback.limited, 300 + 32 * 20 - 192)
})

test('a step of the wall clock moves no time of an event that goes on', async (t) => {
  for (const stepNs of [3600_000_000_000n, -3600_000_000_000n]) {
    const { traceback, clock, edge } = start(t)
    edge('r', 'd', true, 257)
    clock.offsetNs += stepNs
    clock.nowNs += 2_000_000_000n
    edge('r', 'd', false)
    clock.nowNs += 4_000_000_000n
    await traceback.look()
    const [event] = traceback.list({ limit: 1 }).events
    assert.equal((event?.endMs ?? 0) - (event?.startMs ?? 0), 2000)
  }
})

test('on a full disk an event is truncated, and the next event is whole', async (t) => {
  const { traceback, clock, disk, edge } = start(t)
  disk.bytesMax = 10
  edge('r', 'd', true, 257)
  edge('r', 'd', false)
  clock.nowNs += 4_000_000_000n
  await traceback.look()
  assert.equal(traceback.get(257)?.end, 'truncated')
  disk.bytesMax = Number.POSITIVE_INFINITY
  edge('r', 'd', true, 513)
  edge('r', 'd', false)
  clock.nowNs += 4_000_000_000n
  await traceback.look()
  assert.equal(traceback.get(513)?.end, 'cleared')
})

test('two clients that use the same names have events of their own', async (t) => {
  const { traceback, clock, edge } = start(t)
  edge('r', 'd', true, 257)
  edge('r', 'd', true, 513)
  edge('r', 'd', false, 513)
  clock.nowNs += 4_000_000_000n
  await traceback.look()
  assert.deepEqual([traceback.get(257)?.end, traceback.get(513)?.end], [undefined, 'cleared'])
})
