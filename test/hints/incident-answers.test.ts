import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createSource, type Source } from '@sonde/sdk'
import type { Incident, IncidentAnswer, IncidentsAnswer, MovedAnswer, PinsAnswer } from '@sonde/sdk/api'
import { reportHint } from '../../packages/agent/src/hints/history/hint-type.ts'
import { serveAgent } from '../../packages/agent/test/served-agent.ts'
import { openStore, type TestStore } from '../../packages/console/test/open-store.ts'
import { temporaryDir } from '../sonde-process.ts'
import { hintOf } from './simulated-life.ts'

/** Names that strangers may give to devices, rules and people. */
const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  'a\r\nb\nc\u2028d',
  'x'.repeat(10_000),
  '\u202egpu\u2066',
  '__proto__',
  'constructor',
  '../../etc/passwd',
  'a\u0000b',
  '%2e%2e%2f"],[|`',
]
/** A text of a record has at most 4096 characters, and so has a list of devices, which loses whole names. */
const kept = (text: string) => text.slice(0, 4096)
const affectedOf = (name: string) => (name.length < 4000 ? [`affected ${name}`] : [])
/** Apart enough for incidents of their own. */
const APART_MS = 600_000
const nowMs = Date.now()
const ends: (() => unknown)[] = []
const later = { after: (end: () => unknown) => void ends.unshift(end) }

interface Served {
  /** Sends a request, and checks its status. Gives the JSON of the answer and its size. */
  ask<T>(
    path: string,
    status?: number,
    post?: object | 'empty',
  ): Promise<{ readonly answer: T; readonly bytes: number }>
  readonly node: string
  readonly store: TestStore['store']
}

/** An agent over a store, behind a real server. */
async function serve(pinsDir: string): Promise<Served> {
  const { store, close } = await openStore()
  const records = { command: 'sonde read', types: store.types.bind(store), records: store.records.bind(store) }
  const { agent, address } = await serveAgent(later, { history: store, kept: { kept: records, pinsDir } })
  later.after(close)
  const ask = async <T>(path: string, status = 200, post?: object | 'empty') => {
    const body = post === undefined || post === 'empty' ? {} : { body: JSON.stringify(post) }
    const headers = post === undefined || post === 'empty' ? {} : { 'content-type': 'application/json' }
    const init = { method: post === undefined ? 'GET' : 'POST', headers, ...body }
    const response = await fetch(`${address}/api/v1/${path}`, init)
    const text = await response.text()
    assert.equal(response.status, status, `${path.slice(0, 200)}: ${text.slice(0, 500)}`)
    return { answer: JSON.parse(text) as T, bytes: Buffer.byteLength(text) }
  }
  return { ask, node: agent.node, store }
}

const { path: folder, remove } = temporaryDir()
const pinsDir = join(folder, 'pins')
let served: Served
let source: Source

before(async () => {
  served = await serve(pinsDir)
  source = createSource({ id: 'self', emit: (batch) => served.store.accept(batch) })
  for (const [at, name] of HOSTILE.entries()) {
    const sinceMs = nowMs - (at + 1) * APART_MS
    const hint = {
      ...{
        ...hintOf(at, sinceMs),
        event: `${sinceMs}000000`,
        rule: `rule ${name}`,
        device: name,
        title: `title ${name}`,
      },
      ...{ sentence: `sentence ${name}`, affected: [`affected ${name}`] },
    }
    reportHint(source, hint, 'opened', sinceMs)
    reportHint(source, hint, 'ended', sinceMs + 1000)
  }
  source.flush()
  await served.store.flush()
})

after(async () => {
  for (const end of ends) await end()
  remove()
})

const idOf = (at: number) => encodeURIComponent(`${served.node}:${nowMs - (at + 1) * APART_MS}000000`)
const listed = async (parameters = '') =>
  (await served.ask<IncidentsAnswer>(`incidents?kind=hint&from=${nowMs - 86_400_000}${parameters}`)).answer.incidents

test('hostile names of devices and rules arrive as they are, can be searched, and name no file', async () => {
  const incidents = await listed()
  assert.deepEqual(
    incidents.map(({ device, rule, title, sentence }) => [device, rule, title, sentence]),
    HOSTILE.map((name) => [name, `rule ${name}`, `title ${name}`, `sentence ${name}`].map(kept)),
  )
  for (const [at, name] of HOSTILE.entries()) {
    if (name.length < 1000) {
      const found = await listed(`&device=${encodeURIComponent(name)}&rule=${encodeURIComponent(`rule ${name}`)}`)
      assert.deepEqual(
        found.map(({ device, affected }) => [device, affected]),
        [[name, affectedOf(name)]],
      )
    }
    const { answer, bytes } = await served.ask<IncidentAnswer>(`incidents/${idOf(at)}`)
    assert.deepEqual([answer.incident.device, answer.incident.hints[0]?.affected], [kept(name), affectedOf(name)])
    assert.ok(bytes < 200_000 && answer.gone?.every((sentence) => sentence.length < 300))
    await served.ask<MovedAnswer>(`incidents/${idOf(at)}/moved`)
    await served.ask(`incidents/${idOf(at)}/pin`, 201, 'empty')
  }
  const names = readdirSync(pinsDir)
  assert.ok(names.length === HOSTILE.length && names.every((name) => /^\d+$/.test(name)), names.join(' '))
  const { answer } = await served.ask<PinsAnswer>('pins')
  assert.deepEqual(answer.pins.map(({ incident }) => incident.device).sort(), HOSTILE.map(kept).sort())
})

test('hostile ids, words and cursors are refused in a short answer that says why', async () => {
  for (const name of HOSTILE.filter((one) => one.length < 1000)) {
    for (const id of [name, `${served.node}:${name}`, `${name}:17`]) {
      const { answer, bytes } = await served.ask<{ error: { code: string } }>(
        `incidents/${encodeURIComponent(id)}`,
        404,
      )
      assert.ok(JSON.stringify(answer).includes('INC_UNKNOWN') && bytes < 1000, id)
    }
    const { answer } = await served.ask(`incidents?cursor=${encodeURIComponent(name)}`, 400)
    assert.ok(JSON.stringify(answer).includes('QRY_FORM'), name)
    assert.equal((await listed(`&find=${encodeURIComponent(`nothing ${name}`)}`)).length, 0)
  }
  await served.ask(`incidents?find=${'x'.repeat(201)}`, 400)
})

test('hostile texts of notes arrive as they are; a text that is too long is refused', async () => {
  const texts = HOSTILE.filter((text) => text.length <= 2000)
  for (const text of texts) await served.ask(`incidents/${idOf(0)}/notes`, 201, { text })
  await served.ask(`incidents/${idOf(0)}/notes`, 400, { text: 'x'.repeat(2001) })
  const { answer } = await served.ask<IncidentAnswer>(`incidents/${idOf(0)}`)
  assert.deepEqual(
    answer.notes.map(({ text }) => text),
    texts,
  )
})

test('a pinned incident whose records are gone is shown with what is left, and takes notes', async () => {
  const [pinned] = (await served.ask<PinsAnswer>('pins')).answer.pins
  assert.ok(pinned)
  const empty = await serve(pinsDir)
  const id = encodeURIComponent(pinned.incident.id)
  const { answer } = await empty.ask<IncidentAnswer>(`incidents/${id}`)
  assert.equal(answer.incident.sentence, pinned.incident.sentence)
  assert.equal(answer.gone?.[0], 'The history has removed its records: it is shown as it was pinned.')
  assert.ok(answer.unknown === undefined || answer.unknown.every(({ reason }) => reason !== ''))
  const { answer: moved } = await empty.ask<MovedAnswer>(`incidents/${id}/moved`)
  assert.deepEqual(moved.signals, [])
  await empty.ask(`incidents/${id}/acknowledge`, 201, 'empty')
  await empty.ask(`incidents/${id}/notes`, 201, { text: 'seen later' })
  await empty.ask(`incidents/${id}/pin`, 201, 'empty')
  const { answer: last } = await empty.ask<IncidentAnswer>(`incidents/${id}`)
  assert.deepEqual(
    [last.notes.at(-1)?.text, typeof last.incident.acknowledged?.atMs, last.pin?.records],
    ['seen later', 'number', pinned.records],
  )
  const [first] = (await empty.ask<IncidentsAnswer>('incidents?kind=hint')).answer.incidents as Incident[]
  assert.equal(first, undefined)
})
