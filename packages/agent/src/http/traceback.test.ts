import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createIpc, createSource, defineType, gauge, label, optional, timestamp, wallNs } from '@sonde/sdk'
import type { ExplainWalk, TracebackAnswer } from '@sonde/sdk/api'
import { until } from '../../../sdk/test/helper.ts'
import { SOURCES } from '../../test/edge-source.ts'
import { serveAgent } from '../../test/served-agent.ts'

const ovenType = defineType('oven', 'An oven', { time: timestamp(), name: label(), celsius: optional(gauge('f64')) })
const rule = (name: string, signal: string) => {
  return { name, signal, comparison_type: 'gt', comparison_value: 220, activate_samples: 1 }
}
const RULES = {
  sample_history_depth: 1,
  signals: [
    { name: 'oven', type: 'oven', field: 'celsius' },
    { name: 'right oven', type: 'oven', field: 'celsius', labels: { name: 'right' } },
    { name: 'kiln', type: 'kiln', field: 'celsius' },
    { name: 'port', type: 'rdma_hw', field: 'np_cnp_sent_total' },
    { name: 'steady', type: 'steady', field: 'sampled_ms', labels: { device: 'dev1' } },
    { name: 'ring', type: 'edge_sample', field: 'level' },
  ],
  rules: [
    rule('oven too hot', 'oven'),
    rule('right too hot', 'right oven'),
    rule('kiln too hot', 'kiln'),
    rule('congested', 'port'),
    rule('steady', 'steady'),
    rule('fast', 'ring'),
    { name: 'both', comparison_type: 'any_of', rules: ['oven too hot', 'steady'] },
  ],
}

async function start(t: TestContext, book: object | undefined = RULES) {
  const dir = mkdtempSync(join(tmpdir(), 'sonde-explain-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const rules = join(dir, 'rules.json')
  writeFileSync(rules, JSON.stringify(book))
  const socketsDir = join(dir, 'sockets')
  const { address, agent } = await serveAgent(t, {
    sources: SOURCES,
    service: { enabled: true, sockets_dir: socketsDir },
    traceback: { dir: join(dir, 'events'), rules, after_ms: 0 },
  })
  await until('rules were looked at', () => agent.rules?.book !== undefined || agent.rules?.fault !== undefined)
  const ask = async (path: string) => (await fetch(`${address}/api/v1/${path}`)).json()
  const explained = async (of: string) => {
    const { links = [] } = (await ask(`explain?of=${encodeURIComponent(of)}`)) as ExplainWalk
    return Object.fromEntries(links.map((link) => [link.name, link]))
  }
  const sink = createIpc({ socketsDir, program: 'bakery' })
  const source = createSource({ id: 'ovens', emit: (batch) => sink.accept(batch) })
  t.after(() => sink.close())
  const report = async (celsius?: number) => {
    source.report(ovenType, { time: wallNs(), name: 'left', ...(celsius === undefined ? {} : { celsius }) })
    source.flush()
    await sink.flush()
  }
  const facts = async (query = '') => (await ask(`traceback${query}`)) as TracebackAnswer
  return { explained, facts, report, rules, agent, dir, leave: () => sink.close() }
}

test('a rule on an application is explained before it reports, while it does, when it fired, and after it left', async (t) => {
  const { explained, report, leave } = await start(t)
  const before = await explained('oven too hot')
  assert.equal(before.rule?.answer, 'oven is above 220 for 1 sample')
  assert.deepEqual([before.signal?.state, before.samples?.state], ['broken', 'unknown'])
  assert.match(before.signal?.answer ?? '', /no source has records of oven, and no application has reported any/)
  await report(180)
  const calm = await explained('oven too hot')
  assert.equal(calm.signal?.answer, '1 series: bakery oven left')
  assert.equal(calm.samples?.tried, 'as often as bakery reports')
  assert.match(calm.samples?.answer ?? '', /^newest \d\.\d s ago: 180 \(bakery oven left\)$/)
  assert.match(calm.events?.answer ?? '', /has not fired/)
  assert.match(
    (await explained('right too hot')).signal?.answer ?? '',
    /no series has these labels; there are .*name="left"/,
  )
  await report(230)
  const open = await until('it is open', async () => {
    const { events } = await explained('oven too hot')
    return events !== undefined && /^open/.test(events.answer) && events
  })
  assert.match(open.answer, /^open, began \d\.\d s ago on bakery oven left, event \d+$/)
  await leave()
  const left = await until('it left', async () => {
    const { signal } = await explained('oven too hot')
    return signal?.state === 'broken' && signal
  })
  assert.match(left.answer, /^nothing since \d\.\d s ago, when bakery left$/)
  assert.match(left.fix ?? '', /start bakery again/)
})

test('a value that is absent is why a rule is silent', async (t) => {
  const { explained, report } = await start(t)
  await report()
  const { signal, samples } = await explained('oven too hot')
  assert.equal(signal?.state, 'ok')
  assert.equal(samples?.state, 'broken')
  assert.match(samples?.answer ?? '', /^celsius is absent: ./)
})

test('rules on sources say where and how often samples are seen, or which source is switched off', async (t) => {
  const { explained } = await start(t)
  const steady = await until('it is watched', async () => {
    const links = await explained('rule:steady')
    return links.samples?.state === 'ok' && links
  })
  assert.equal(steady.signal?.tried, 'steady.sampled_ms{device="dev1"}')
  assert.match(steady.samples?.tried ?? '', /^every 50 ms in the agent, from the records of steady$/)
  const fast = await until('the ring is watched', async () => {
    const links = await explained('fast')
    return links.samples?.state === 'ok' && links
  })
  assert.match(fast.samples?.tried ?? '', /in .*, from the ring of edges$/)
  assert.match(fast.samples?.answer ?? '', /\d+ \(e0\), \d+ \(e1\)/)
  const off = (await explained('congested')).signal
  assert.match(off?.answer ?? '', /rdma and simulator have it, and are switched off/)
  assert.equal(off?.fix, 'add "- type: rdma" to data_sources, or remove enabled: false')
  assert.match((await explained('both')).rules?.answer ?? '', /^oven too hot, steady;/)
  // A source is called so as well: the prefix says that the rule is meant.
  assert.equal((await explained('rule:steady')).rule?.state, 'ok')
})

test('traceback says which rules it holds, since when, and which signals are missing', async (t) => {
  const { explained, facts, rules, agent, dir } = await start(t)
  const links = await until('all that is there is watched', async () => {
    const all = await explained('traceback')
    return all.signals?.answer === 'not found: oven, right oven, kiln, port' && all
  })
  assert.match(links.file?.answer ?? '', /^7 rules on 6 signals, version 1, read [\d.]+ s ago$/)
  assert.equal(links.folder?.tried, join(dir, 'events'))
  assert.match(links.folder?.answer ?? '', /^0 % of traceback\.dir_bytes and 0 % of traceback\.events_max used$/)
  assert.match(links.events?.answer ?? '', /^\d+ open, \d+ kept/)
  writeFileSync(rules, '{')
  await agent.rules?.look()
  const faulty = await explained('traceback')
  assert.equal(faulty.file?.state, 'broken')
  assert.match(faulty.file?.answer ?? '', /; the previous rules stay in effect: 7 rules/)
  const { rule: one, nearest, takenCount } = await facts('?rule=steady')
  assert.deepEqual([one?.number, nearest, takenCount], [5, undefined, 1])
  assert.deepEqual((await facts('?rule=stead')).nearest, ['steady'])
})
