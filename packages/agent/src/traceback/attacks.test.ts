// What a file of rules and readers of the list may do to an agent, through its front door.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { ExplainWalk, IncidentsAnswer } from '@sonde/sdk/api'
import { sondeError, until } from '../../../sdk/test/helper.ts'
import { eventsIn } from '../../test/events-in.ts'
import { serveAgent } from '../../test/served-agent.ts'
import { readInWorker } from './book/read-in-worker.ts'

const rule = (name: string) => ({ name, signal: 'sampled', comparison_type: 'gt', comparison_value: 1 })
const bookOf = (names: readonly string[]) => {
  const signals = [{ name: 'sampled', type: 'steady', field: 'sampled_ms' }]
  return JSON.stringify({ sample_history_depth: 1, signals, rules: names.map(rule) })
}
const named = (count: number) => Array.from({ length: count }, (_, index) => `rule ${index}`)

async function start(t: TestContext, names: readonly string[]) {
  const dir = mkdtempSync(join(tmpdir(), 'sonde-attacks-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const rules = join(dir, 'rules.json')
  writeFileSync(rules, bookOf(names))
  const served = await serveAgent(t, { devices: 1, traceback: { dir: join(dir, 'events'), rules, after_ms: 0 } })
  await until('rules are in effect', () => served.agent.rules?.book)
  const ask = async (path: string) => (await fetch(`${served.address}/api/v1/${path}`)).json()
  const events = async (query = '') => eventsIn((await ask(`incidents?kind=event${query}`)) as IncidentsAnswer)
  return { ...served, rules, ask, events }
}

test('ten thousand rules are read in another thread and refused with the limit, and the rules of before stay', {
  timeout: 120_000,
}, async (t) => {
  const { agent, rules, events } = await start(t, ['before'])
  const text = bookOf(named(10_000))
  const reading = readInWorker(text)
  assert.ok(reading instanceof Promise, 'this thread reads it')
  await assert.rejects(reading, sondeError('TRB_RULES', /rules is a list of 10000/))
  writeFileSync(rules, text)
  await agent.rules?.look()
  await until('it is refused', () => agent.rules?.fault)
  assert.match((await events()).rulesFault ?? '', /rules is a list of 10000; allowed: a list of 1 to 1024 rules/)
  assert.deepEqual(
    (await events()).rules.map(({ name }) => name),
    ['before'],
  )
})

test('as many rules as a file may have are all watched, listed and explained', { timeout: 120_000 }, async (t) => {
  const { agent, events, ask } = await start(t, named(1024))
  const answer = await until('all are placed', async () => {
    const answered = await events('&limit=1')
    return answered.rules.every(({ devices }) => devices.length === 1) && answered
  })
  assert.equal(answer.rules.length, 1024)
  const { links } = (await ask('explain?of=rule%201023')) as ExplainWalk
  assert.equal(links.find(({ name }) => name === 'rule')?.tried, 'rule 1024 of 1024')
  // One device may begin 60 events a minute: the rest is counted.
  await until('the others are counted', () => agent.traceback.limitedTotal() >= 1024 - 60)
  assert.ok((await events('&limit=1000')).events.length <= 60)
})

test('a file of rules that is written a thousand times is read once a second, and the last text counts', {
  timeout: 120_000,
}, async (t) => {
  const { agent, rules, events } = await start(t, ['before'])
  const beganMs = performance.now()
  for (let round = 0; round < 1000; round++) {
    writeFileSync(rules, bookOf(named(40).map((name) => `${name} of round ${round}`)))
    if (round % 10 === 0) await new Promise(setImmediate)
  }
  await until('the last is in effect', async () => (await events('&limit=1')).rules[0]?.name === 'rule 0 of round 999')
  const looks = Math.ceil((performance.now() - beganMs) / 1000) + 1
  const { takenCount = 0, fault } = agent.rules ?? {}
  assert.ok(takenCount <= 1 + looks, `${takenCount} times in ${looks} looks`)
  assert.equal(fault, undefined)
  // Events of earlier rules have ended: only events of the last rules are open.
  await until('events of before are kept', async () =>
    (await events('&state=open&limit=1000')).events.every(({ rule: name }) => name.endsWith('of round 999')),
  )
})

test('a client that does not read the stream of events holds at most one message and does not delay others', {
  timeout: 120_000,
}, async (t) => {
  const { agent, app, address } = await start(t, named(1024))
  const served: Socket[] = []
  app.server.on('connection', (socket) => served.push(socket))
  const { port } = new URL(address)
  const open = async () => {
    const socket = connect(Number(port), '127.0.0.1')
    t.after(() => socket.destroy())
    await once(socket, 'connect')
    socket.write('GET /api/v1/incidents/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
    return socket
  }
  for (const slow of await Promise.all([open(), open(), open(), open()])) slow.pause()
  const reader = await open()
  let text = ''
  reader.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  let messageBytes = 0
  for (let change = 1; change <= 20; change++) {
    agent.traceback.version++
    const before = text.length
    // The reader receives each change, whatever the others do.
    await until('the reader hears of it', () => text.length > before && text.includes('\n\n'))
    messageBytes = Math.max(messageBytes, text.length - before)
    text = ''
    const waiting = served.map(({ writableLength }) => writableLength)
    assert.ok(
      Math.max(...waiting) <= 2 * messageBytes,
      `${Math.max(...waiting)} bytes wait, a message has ${messageBytes}`,
    )
  }
})
