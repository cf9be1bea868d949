// Applications may call their sources as they like: as a source of the agent is called, or as that of another.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createIpc, createSource, wallNs } from '@sonde/sdk'
import type { EventAnswer } from '@sonde/sdk/api'
import { until } from '../../../../sdk/test/helper.ts'
import { SOURCES } from '../../../test/edge-source.ts'
import { askEvents, eventPath } from '../../../test/events-in.ts'
import { heatType } from '../../../test/heat.ts'
import { serveAgent } from '../../../test/served-agent.ts'

const RULES = {
  sample_history_depth: 1,
  signals: [{ name: 'heat', type: 'heat', field: 'celsius' }],
  rules: [
    {
      ...{ name: 'hot', signal: 'heat', comparison_type: 'gt', comparison_value: 100 },
      ...{ activate_samples: 1, deactivate_samples: 1 },
    },
  ],
}

/** An agent with a source `edges` that samples at 10 kHz, and a rule on what applications report. */
async function start(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), 'sonde-names-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const rules = join(dir, 'rules.json')
  writeFileSync(rules, JSON.stringify(RULES))
  const socketsDir = join(dir, 'sockets')
  const { address, agent } = await serveAgent(t, {
    sources: SOURCES,
    service: { enabled: true, sockets_dir: socketsDir },
    traceback: { dir: join(dir, 'events'), rules, after_ms: 50 },
  })
  const edges = agent.sources.find(({ name }) => name === 'edges')
  assert.ok(edges !== undefined)
  await until('the source reads, and rules are in effect', () => edges.state === 'reading' && agent.rules?.book)
  /** A reporter of the heat of one place; each is a separate application. */
  const client = (program: string, id: string, tag = '') => {
    const sink = createIpc({ socketsDir, program })
    const source = createSource({ id, tag, emit: (batch) => sink.accept(batch) })
    t.after(() => sink.close())
    return async (celsius: number) => {
      source.report(heatType, { time: wallNs(), place: 'oven', celsius })
      source.flush()
      await sink.flush()
    }
  }
  const ask = async (path: string) => (await fetch(`${address}${path}`)).json()
  const events = (query: string) => askEvents(address, query)
  return { edges, client, ask, events }
}

test('an event of an application goes on when a source of the agent that is called alike loses its host', async (t) => {
  const { edges, client, events } = await start(t)
  const report = client('bakery', 'edges')
  await report(180)
  const [event] = await until('it is open', async () => {
    const { events: list } = await events('state=open')
    return list.length === 1 && list
  })
  assert.deepEqual([event?.source, event?.device], ['edges', 'bakery heat oven'])
  await edges.command({ kind: 'edge', rule: 'r', device: 'e0', isStart: true })
  await until('that of the source is open as well', async () => (await events('state=open')).openCount === 2)
  await edges.command({ kind: 'crash' }).catch(() => undefined)
  const [lost] = await until('that of the source has ended', async () => {
    const { events: list } = await events('state=ended')
    return list.some(({ rule }) => rule === 'r') && list.filter(({ rule }) => rule === 'r')
  })
  assert.deepEqual([lost?.source, lost?.end], ['edges', 'host_replaced'])
  await report(20)
  const ended = await until('it has ended', async () =>
    (await events('state=ended')).events.find(({ id }) => id === event?.id),
  )
  assert.equal(ended.end, 'cleared')
})

test('equally named series of two applications are two series of an event', async (t) => {
  const { client, ask, events } = await start(t)
  const [one, other] = [client('bakery', 'oven'), client('kiln', 'oven', 'second')]
  for (let report = 0; report < 3; report++) await Promise.all([one(20), other(50)])
  await one(180)
  await other(50)
  await one(20)
  const [event] = await until('it is kept', async () => {
    const { events: list } = await events('state=ended')
    return list.length === 1 && list
  })
  const { lanes } = (await ask(`${eventPath(event?.id ?? 0)}/lanes`)) as EventAnswer
  const samples = lanes.filter(({ type }) => type === 'heat').map((lane) => lane.samples)
  assert.deepEqual(samples.toSorted(), [4, 5])
})
