// A Sonde that ends without stopping, and what the next start says of it.

import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { IncidentsAnswer } from '@sonde/sdk/api'
import { ask } from '../ask.ts'
import { type SondeProcess, startSonde, temporaryDir, until } from '../sonde-process.ts'

const LIMIT_MS = 30_000
const LOST = /"from":"([^"]+)","to":"([^"]+)","reason":"([^"]+)".*samples of the node in this time are lost/
/** The kernel may end another process of this machine meanwhile, which the sentence then names. */
const KILLED = /^Sonde ended without stopping/

interface Node {
  readonly store: { readonly ackedMs: number }
}

function folder(t: TestContext): string {
  const dir = temporaryDir()
  t.after(dir.remove)
  return dir.path
}

/** Until when the running Sonde has noted that samples are kept; 0 before its first note. */
function keptMs(dir: string): number {
  const path = join(dir, 'life.json')
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  return text === '' ? 0 : JSON.parse(text).keptMs
}

async function start(t: TestContext, command: 'up' | 'agent', dir: string): Promise<SondeProcess> {
  const sonde = await startSonde([command, '--data-dir', dir, '--only-simulated'])
  t.after(() => sonde.stop('SIGKILL'))
  return sonde
}

async function unknownOf(sonde: SondeProcess, fromMs: number) {
  return (await ask<IncidentsAnswer>(sonde, `/api/v1/incidents?from=${fromMs}&to=${Date.now()}`)).unknown
}

test('after kill -9 the next start says which samples are lost, in the log, to the page and in the history', async (t) => {
  const dir = folder(t)
  const first = await start(t, 'up', dir)
  const ackedMs = () => ask<Node>(first, '/api/v1/node').then(({ store }) => store.ackedMs)
  const storedMs = await until('a sample on disk', LIMIT_MS, async () => (await ackedMs()) || undefined)
  await until('a later note', LIMIT_MS, () => keptMs(dir) > storedMs)
  const killedMs = Date.now()
  await first.stop('SIGKILL')
  assert.ok(existsSync(join(dir, 'life.json')))

  const second = await start(t, 'up', dir)
  const said = await until('the loss in the log', LIMIT_MS, () => LOST.exec(second.output()) ?? undefined)
  const [fromMs, toMs] = [said[1], said[2]].map((time) => Date.parse(time ?? '')) as [number, number]
  const reason = said[3] ?? ''
  assert.match(reason, KILLED)
  assert.ok(fromMs > storedMs && fromMs <= killedMs && toMs >= killedMs, said[0])
  const span = { fromMs, toMs, reason }
  assert.deepEqual(
    (await unknownOf(second, storedMs - 1000)).filter((one) => KILLED.test(one.reason)),
    [span],
  )
  // It stops as it should, so the next start has nothing new to say, and reads this from the history.
  assert.equal(await second.stop(), 0)
  assert.ok(!existsSync(join(dir, 'life.json')))
  const third = await start(t, 'up', dir)
  assert.doesNotMatch(third.output(), LOST)
  assert.deepEqual(
    (await unknownOf(third, storedMs - 1000)).filter((one) => KILLED.test(one.reason)),
    [span],
  )
  assert.equal(await third.stop(), 0)
})

test('an agent without a history says it too; a damaged note prevents no start', async (t) => {
  const dir = folder(t)
  const startMs = Date.now()
  const first = await start(t, 'agent', dir)
  await until('its note', LIMIT_MS, () => keptMs(dir) > 0)
  await first.stop('SIGKILL')
  const second = await start(t, 'agent', dir)
  await until('the loss in the log', LIMIT_MS, () => LOST.test(second.output()))
  const unknown = await unknownOf(second, startMs)
  assert.ok(
    unknown.some(({ reason }) => KILLED.test(reason)),
    JSON.stringify(unknown),
  )
  await second.stop('SIGKILL')
  writeFileSync(join(dir, 'life.json'), '{"pid":')
  const third = await start(t, 'agent', dir)
  assert.doesNotMatch(third.output(), LOST)
  assert.equal(await third.stop(), 0)
})
