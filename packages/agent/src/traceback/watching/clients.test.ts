import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createIpc, createSource, wallNs } from '@sonde/sdk'
import { until } from '../../../../sdk/test/helper.ts'
import { askEvents } from '../../../test/events-in.ts'
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

/** An agent with a rule on what applications report. */
async function start(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), 'sonde-clients-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const rules = join(dir, 'rules.json')
  writeFileSync(rules, JSON.stringify(RULES))
  const socketsDir = join(dir, 'sockets')
  const { address, agent } = await serveAgent(t, {
    service: { enabled: true, sockets_dir: socketsDir },
    traceback: { dir: join(dir, 'events'), rules, after_ms: 0 },
  })
  await until('rules are in effect', async () => agent.rules?.book)
  const client = (id: string) => {
    const sink = createIpc({ socketsDir, program: id })
    const source = createSource({ id, emit: (batch) => sink.accept(batch) })
    t.after(() => sink.close())
    return {
      close: () => sink.close(),
      /** Another source of the application, with series of the same names as the first. */
      source(tag: string) {
        const second = createSource({ id, tag, emit: (batch) => sink.accept(batch) })
        return async (celsius: number) => {
          second.report(heatType, { time: wallNs(), place: `${id}-0`, celsius })
          second.flush()
          await sink.flush()
        }
      },
      async report(places: number, celsius: number) {
        for (let place = 0; place < places; place++)
          source.report(heatType, { time: wallNs(), place: `${id}-${place}`, celsius })
        source.flush()
        await sink.flush()
      },
    }
  }
  const events = (query: string) => askEvents(address, query)
  return { client, events, rules, agent }
}

test('events of an application that left end', { timeout: 30_000 }, async (t) => {
  const { client, events } = await start(t)
  const one = client('leaves')
  await one.report(1, 180)
  await until('it is open', async () => (await events('state=open')).openCount === 1)
  await one.close()
  await until('it is closed', async () => (await events('state=ended')).events.length === 1)
  assert.equal((await events('state=open')).openCount, 0)
})

test('an event is called by application, type and labels; when that left, its rule says so', {
  timeout: 30_000,
}, async (t) => {
  const { client, events } = await start(t)
  const [before] = (await events('')).rules
  assert.deepEqual([before?.devices, before?.left], [[], undefined])
  const one = client('bakery')
  await one.report(1, 180)
  const { event, rule } = await until('it is open', async () => {
    const { events: list, rules } = await events('')
    return list[0] !== undefined && rules[0]?.devices.length === 1 && { event: list[0], rule: rules[0] }
  })
  assert.deepEqual(
    [event.device, rule.devices, rule.left],
    ['bakery heat bakery-0', ['bakery heat bakery-0'], undefined],
  )
  const beforeMs = Date.now()
  await one.close()
  const left = await until('the rule watches nothing', async () => (await events('')).rules[0]?.left)
  assert.equal(left.who, 'bakery')
  assert.ok(left.atMs >= beforeMs && left.atMs <= Date.now(), `${left.atMs - beforeMs} ms`)
  assert.equal((await events(`device=${encodeURIComponent(event.device)}`)).events.length, 1)
})

test('series of one name that an application reports by two sources have events of their own', {
  timeout: 30_000,
}, async (t) => {
  const { client, events } = await start(t)
  const one = client('bakery')
  await one.report(1, 180)
  const other = one.source('second')
  await other(180)
  await until('both are open', async () => (await events('state=open')).openCount === 2)
  await other(20)
  await until('one is closed', async () => (await events('state=ended')).events.length === 1)
  assert.equal((await events('state=open')).openCount, 1)
})

test('one application takes no events of another, however many it begins', { timeout: 30_000 }, async (t) => {
  const { client, events } = await start(t)
  await client('greedy').report(3000, 180)
  await until('it began some', async () => (await events('limit=1000')).openCount > 0)
  await client('honest').report(1, 180)
  await until('the other begins as well', async () =>
    (await events('limit=1000')).events.some(({ source }) => source === 'honest'),
  )
  const { events: all, limited } = await events('limit=1000')
  assert.ok(all.filter(({ source }) => source === 'greedy').length <= 60, String(all.length))
  assert.ok(limited >= 0)
})

test('rules that are removed end their events', { timeout: 30_000 }, async (t) => {
  const { client, events, rules, agent } = await start(t)
  await client('steady').report(1, 180)
  await until('it is open', async () => (await events('state=open')).openCount === 1)
  writeFileSync(rules, JSON.stringify({ ...RULES, rules: RULES.rules.map((rule) => ({ ...rule, name: 'other' })) }))
  await agent.rules?.look()
  await until('it is closed', async () => (await events('state=ended')).events.length === 1)
})

test('many series under many rules make no answer long', { timeout: 60_000 }, async (t) => {
  const { client, events, rules, agent } = await start(t)
  const [rule] = RULES.rules
  const many = Array.from({ length: 200 }, (_, index) => ({ ...rule, name: `hot ${index}` }))
  writeFileSync(rules, JSON.stringify({ ...RULES, rules: many }))
  await agent.rules?.look()
  await client('greedy').report(2000, 20)
  const answer = await until('they are placed', async () => {
    const answered = await events('limit=1')
    return (answered.rules[199]?.devices.length ?? 0) > 0 ? answered : undefined
  })
  assert.deepEqual([answer.rules.length, answer.rules[199]?.devices.length], [200, 256])
})

test('rules that are written again a thousand times leave one event a rule, and the last of them in effect', {
  timeout: 120_000,
}, async (t) => {
  const { client, events, rules, agent } = await start(t)
  const steady = client('steady')
  await steady.report(1, 180)
  const text = (index: number) => JSON.stringify({ ...RULES, rules: [{ ...RULES.rules[0], name: `hot ${index}` }] })
  for (let index = 0; index <= 1002; index++) {
    // A writer that does not rename, so a read may see half of the file.
    const whole = text(index)
    writeFileSync(rules, index % 3 === 0 ? whole.slice(0, index % whole.length) : whole)
    await agent.rules?.look()
    if (index % 50 === 0) await steady.report(1, 180)
  }
  assert.match(agent.rules?.fault ?? '', /./, 'the last file is cut off')
  writeFileSync(rules, text(7))
  await agent.rules?.look()
  assert.equal(agent.rules?.fault, undefined)
  await steady.report(1, 180)
  // An event is open until its window is on disk.
  await until('events before are kept', async () => (await events('limit=1')).openCount <= 1)
  const { rules: inEffect, events: all } = await events('limit=1000')
  assert.deepEqual(
    inEffect.map(({ name }) => name),
    ['hot 7'],
  )
  assert.ok(all.length <= 60, `${all.length} events`)
})
