import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { DtbDecoder, openDtb, readRecords, viewsOf } from '@sonde/sdk'
import type { EventAnswer, IncidentsAnswer, TracebackEvent } from '@sonde/sdk/api'
import { temporaryFolder } from '../../../sdk/test/files-rig.ts'
import { until } from '../../../sdk/test/helper.ts'
import { type EdgeCommand, SOURCES } from '../../test/edge-source.ts'
import { eventPath, eventsIn } from '../../test/events-in.ts'
import { serveAgent } from '../../test/served-agent.ts'

async function start(t: TestContext, traceback: object = {}) {
  const served = await serveAgent(t, { sources: SOURCES, traceback: { before_ms: 100, after_ms: 50, ...traceback } })
  const source = served.agent.sources.find(({ name }) => name === 'edges')
  assert.ok(source !== undefined)
  await until('the source reads', () => source.state === 'reading')
  const command = (one: EdgeCommand) => source.command(one) as Promise<{ monoNs?: string }>
  const events = async (query = '') => {
    const answer = await fetch(`${served.address}/api/v1/incidents?kind=event${query}`)
    assert.equal(answer.status, 200, await answer.clone().text())
    return eventsIn((await answer.json()) as IncidentsAnswer)
  }
  const closed = (count: number) =>
    until(`${count} closed events`, async () => {
      const { events: list } = await events('&state=ended')
      return list.length >= count && list
    })
  return { ...served, source, command, events, closed }
}

const EDGE = { kind: 'edge', rule: 'r', device: 'e0' } as const

/** All records of a type in the file of an event, by device. */
function samplesIn(path: string, type: string) {
  const file = openDtb(path)
  const decoder = new DtbDecoder(file)
  const rows = new Map<string, { sample: number; time: bigint }[]>()
  let step = decoder.next()
  for (; step.kind !== 'stop'; step = decoder.next()) {
    if (step.kind !== 'records' || step.batch.type.name !== type) continue
    const { type: read, bytes, count, symbols } = step.batch
    for (const row of readRecords(read, viewsOf(bytes), count, symbols) as Generator<Record<string, never>>)
      rows.set(row.device ?? '', [
        ...(rows.get(row.device ?? '') ?? []),
        { sample: Number(row.sample), time: row.time ?? 0n },
      ])
  }
  file.close()
  assert.equal(step.end.state, 'ended')
  return rows
}

test('an edge opens an event, the next one closes it, and its window of every ring is on disk', async (t) => {
  const { agent, command, events, closed } = await start(t)
  await until('samples from before', async () => (await agent.sources[1]?.taps())?.every(({ count }) => count > 2000))
  await command({ ...EDGE, isStart: true })
  const opened = await until('it is listed', async () => (await events()).events[0])
  assert.deepEqual([opened.rule, opened.device, opened.source, opened.endMs], ['r', 'e0', 'edges', undefined])
  await command({ ...EDGE, isStart: false })
  const [event] = (await closed(1)) as [TracebackEvent]
  assert.deepEqual([event.id, event.end, event.leftOut, event.errorMs], [opened.id, 'cleared', 0, 0.001])
  const { window } = event
  assert.ok(window !== undefined && event.endMs !== undefined)
  assert.ok(Math.abs(event.startMs - window.fromMs - 100) < 0.01 && Math.abs(window.toMs - event.endMs - 50) < 0.01)
  const rows = samplesIn(agent.traceback.archive.dataPath(event.id), 'edge_sample')
  assert.deepEqual([...rows.keys()].sort(), ['e0', 'e1'])
  const wanted = (window.toMs - window.fromMs) * 10
  for (const list of rows.values()) {
    assert.ok(Math.abs(list.length - wanted) <= 2, `${list.length} of ${wanted} samples`)
    for (const [index, { sample, time }] of list.entries()) {
      assert.equal(sample, (list[0]?.sample ?? 0) + index)
      assert.ok(Number(time) / 1e6 >= window.fromMs - 0.01 && Number(time) / 1e6 <= window.toMs + 0.01)
    }
  }
  assert.ok(samplesIn(agent.traceback.archive.dataPath(event.id), 'edge_state').size === 2)
  const names = readdirSync(join(agent.traceback.archive.dataPath(event.id), '..')).filter(
    (name) => !name.startsWith('.'),
  )
  assert.deepEqual(names.sort(), [`${event.id}.bin`, `${event.id}.json`])
})

test('an event that lasts is kept in parts without a sample lost between them, and is one row', async (t) => {
  const { agent, address, command, closed } = await start(t, { max_event_s: 1 })
  await command({ ...EDGE, isStart: true })
  await until('two parts are kept', () => agent.traceback.archive.count >= 2)
  await command({ ...EDGE, isStart: false })
  const [event, ...others] = await closed(1)
  assert.equal(others.length, 0)
  const list = [...agent.traceback.events()]
  for (const [index, part] of list.entries()) {
    assert.equal(part.continues, list[index - 1]?.id)
    assert.equal(part.end, index === list.length - 1 ? 'cleared' : 'cut')
  }
  assert.deepEqual(
    [event?.id, event?.parts, event?.end, event?.endMs],
    [list[0]?.id, list.length, 'cleared', list.at(-1)?.endMs],
  )
  const numbers = list.flatMap(({ id }) =>
    (samplesIn(agent.traceback.archive.dataPath(id), 'edge_sample').get('e0') ?? []).map(({ sample }) => sample),
  )
  assert.deepEqual(
    numbers,
    numbers.map((_, index) => (numbers[0] ?? 0) + index),
  )
  const answer = (await (await fetch(`${address}${eventPath(list[1]?.id ?? 0)}/lanes`)).json()) as EventAnswer
  assert.deepEqual(answer.whole, event)
  assert.deepEqual(
    answer.parts.map(({ id }) => id),
    list.map(({ id }) => id),
  )
  const starts = answer.marks.filter(({ isStart }) => isStart)
  assert.deepEqual(starts, [], 'the second part does not start an event')
})

test('signals of the rule are whole beside fast rings; what the size left out is listed and a gap of its lanes', async (t) => {
  const rules = join(temporaryFolder(t), 'rules.json')
  const signal = { name: 'reads', type: 'edge_state', field: 'reads_total', labels: { device: 'e0' } }
  const rule = { name: 'it reads', signal: 'reads', comparison_type: 'gt', comparison_value: 0 }
  writeFileSync(rules, JSON.stringify({ sample_history_depth: 1, signals: [signal], rules: [rule] }))
  const limits = { rules, max_event_s: 3, max_event_bytes: 1 << 20 }
  const { agent, address } = await start(t, limits)
  const part = await until('a part is kept', () => [...agent.traceback.events()].find(({ end }) => end === 'cut'))
  const { window } = part
  assert.ok(window !== undefined && part.endMs !== undefined && part.sizeBytes < 1 << 20)
  const path = agent.traceback.archive.dataPath(part.id)
  for (const type of ['edge_state', 'steady']) {
    const [times = []] = [...samplesIn(path, type).values()].map((rows) => rows.map(({ time }) => Number(time) / 1e6))
    const longest = times.slice(1).reduce((most, ms, index) => Math.max(most, ms - (times[index] ?? 0)), 0)
    assert.ok(longest < 1000, `${type}: ${longest} ms without a sample`)
    assert.ok((times.at(-1) ?? 0) > part.endMs - 1000, `${type} goes on to the end`)
  }
  const answer = (await (await fetch(`${address}${eventPath(part.id)}/lanes`)).json()) as EventAnswer
  assert.deepEqual([...new Set(answer.leftOut.map(({ type, device }) => `${type} ${device}`))].sort(), [
    'edge_sample e0',
    'edge_sample e1',
  ])
  for (const stretch of answer.leftOut) {
    assert.ok(stretch.samples > 1000 && stretch.toMs > part.endMs - 1000, JSON.stringify(stretch))
    const lane = answer.lanes.find(({ type, device }) => type === stretch.type && device === stretch.device)
    const gap = lane?.gaps.at(-1)
    assert.ok(gap !== undefined && Math.abs(gap.toMs - stretch.toMs) < 1, JSON.stringify(lane))
  }
})

test('a host that is lost ends its events, and says so', async (t) => {
  const { command, closed } = await start(t)
  await command({ ...EDGE, isStart: true })
  await command({ kind: 'crash' }).catch(() => undefined)
  const [event] = await closed(1)
  assert.equal(event?.end, 'host_replaced')
})
