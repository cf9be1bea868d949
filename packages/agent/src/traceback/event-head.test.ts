import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  createIpc,
  createSource,
  DtbDecoder,
  defineType,
  gauge,
  label,
  openDtb,
  readRecords,
  timestamp,
  viewsOf,
  wallNs,
} from '@sonde/sdk'
import { until } from '../../../sdk/test/helper.ts'
import { askEvents } from '../../test/events-in.ts'
import { serveAgent } from '../../test/served-agent.ts'

const ovenType = defineType('oven', 'An oven', { time: timestamp(), name: label(), celsius: gauge('f64') })
const RULES = {
  sample_history_depth: 1,
  signals: [{ name: 'oven', type: 'oven', field: 'celsius' }],
  rules: [{ name: 'too hot', signal: 'oven', comparison_type: 'gt', comparison_value: 220 }],
}

/** Records of a file, in its order, with the id of their source. */
function recordsIn(path: string) {
  const file = openDtb(path)
  const decoder = new DtbDecoder(file)
  const rows: { type: string; source: string; record: Record<string, unknown> }[] = []
  let step = decoder.next()
  for (; step.kind !== 'stop'; step = decoder.next()) {
    if (step.kind !== 'records') continue
    const { type, bytes, count, symbols, source } = step.batch
    for (const record of readRecords(type, viewsOf(bytes), count, symbols) as Generator<Record<string, unknown>>)
      rows.push({ type: type.name, source: source.id, record: { ...record } })
  }
  file.close()
  return { rows, entry: decoder.source, state: step.end.state }
}

async function start(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), 'sonde-head-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const rules = join(dir, 'rules.json')
  writeFileSync(rules, JSON.stringify(RULES))
  const socketsDir = join(dir, 'sockets')
  const { address, agent } = await serveAgent(t, {
    service: { enabled: true, sockets_dir: socketsDir },
    traceback: { dir: join(dir, 'events'), rules, after_ms: 0 },
  })
  await until('rules are in effect', () => agent.rules?.book)
  const sink = createIpc({ socketsDir, program: 'bakery' })
  const source = createSource({ id: 'kitchen', emit: (batch) => sink.accept(batch) })
  t.after(() => sink.close())
  const report = async (celsius: number) => {
    source.report(ovenType, { time: wallNs(), name: 'left', celsius })
    source.flush()
    await sink.flush()
  }
  const events = () => askEvents(address)
  return { report, events, agent }
}

test('the file of an event begins with the event, its marks, and what its rule watched', async (t) => {
  const { report, events, agent } = await start(t)
  await report(180)
  await report(230)
  const open = await until('samples of an open event', async () => {
    const [event] = (await events()).events
    return event !== undefined && event.samples > 0 && event
  })
  const { archive } = agent.traceback
  const going = recordsIn(archive.partPath(open.id)).rows
  assert.deepEqual([going[0]?.type, going[0]?.record.why, going[0]?.record.ended], ['sonde_event', '', undefined])
  assert.deepEqual([going[1]?.record.edge, going[2]?.type], ['opened', 'oven'])
  await report(180)
  const event = await until('it is kept', async () => (await events()).events.find(({ end }) => end !== undefined))
  const { rows, entry, state } = recordsIn(archive.dataPath(event.id))
  assert.equal(state, 'ended')
  assert.deepEqual([entry?.id, entry?.tag], ['bakery', 'oven'])
  const [first, opened, ended, watched] = rows
  assert.deepEqual(
    [first?.type, opened?.record.edge, ended?.record.edge, watched?.type],
    ['sonde_event', 'opened', 'ended', 'oven'],
  )
  const { rule, device, event: id, why, condition, signal, reporter, time, ended: endNs } = first?.record ?? {}
  assert.deepEqual([rule, device, Number(id), why], ['too hot', 'bakery oven left', event.id, 'cleared'])
  assert.deepEqual([condition, signal, reporter], [event.condition, 'oven.celsius', 'bakery'])
  const ms = (ns: unknown) => Math.floor(Number((ns as bigint) / 1000n)) / 1000
  assert.deepEqual([ms(time), ms(endNs)], [event.startMs, event.endMs])
  assert.deepEqual([opened?.record.time, ended?.record.time], [time, endNs])
  const named = new Map(rows.map((row) => [row.type, row.source]))
  assert.deepEqual(
    [named.get('oven'), named.get('steady'), named.get('sonde_event')],
    ['kitchen', 'steady', 'traceback'],
  )
  assert.equal(rows.length, event.samples + 3, 'the samples, the event and its marks')
})
