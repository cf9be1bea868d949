import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ask, goesOn, metricsOf, numberOn, sourceOf, untilSource } from '../ask.ts'
import { assertStops, type SondeProcess, startSonde, until } from '../sonde-process.ts'

const MAIN = fileURLToPath(new URL('../faults/unruly-main.ts', import.meta.url))
const LIMIT_MS = 30_000

async function start(t: TestContext, type: string, misdeed: string, sample: number): Promise<SondeProcess> {
  const sonde = await startSonde([misdeed, String(sample), type], { main: MAIN })
  t.after(() => sonde.stop('SIGKILL'))
  return sonde
}

test('a child whose library writes into its pipe is replaced, and nobody else is concerned', async (t) => {
  const sonde = await start(t, 'unruly', 'no-count', 3)
  await untilSource(sonde, 'unruly', 'a restart', ({ restarts }) => restarts >= 1)
  await untilSource(sonde, 'unruly', 'the next one reading', ({ state }) => state === 'reading')
  await goesOn(sonde, 'host')
  const errors = 'sonde_source_errors_total{source="unruly"}'
  await until('its failure on the page', LIMIT_MS, async () => (numberOn(await metricsOf(sonde), errors) ?? 0) >= 1)
  await assertStops(sonde)
})

for (const [type, placement] of [
  ['unruly', 'process'],
  ['unruly_worker', 'worker'],
] as const) {
  test(`a source in a ${placement} that hangs is stuck, ready all the same, and replaced; the others go on`, async (t) => {
    const sonde = await start(t, type, 'hang', 3)
    const stuck = await untilSource(sonde, 'unruly', 'stuck', ({ state }) => state === 'stuck')
    assert.equal(stuck.host, placement === 'process' ? 'unruly' : placement)
    assert.match(stuck.reason, /^The (process|worker) of .* has not answered for 1000 ms; it is replaced/)
    assert.equal((await fetch(`${sonde.address}/readyz`)).status, 200)
    await goesOn(sonde, 'host')
    await untilSource(
      sonde,
      'unruly',
      'the next one reading',
      ({ state, restarts }) => state === 'reading' && restarts >= 1,
    )
    const restarts = numberOn(await metricsOf(sonde), 'sonde_source_restarts_total{source="unruly"}')
    assert.ok(restarts !== undefined && restarts >= 1, String(restarts))
    await assertStops(sonde)
  })

  test(`a source in a ${placement} that hangs in its first call is awaited by /readyz, and settles as stuck`, async (t) => {
    const sonde = await start(t, type, 'hang', 1)
    const early = await fetch(`${sonde.address}/readyz`)
    const { waiting } = (await early.json()) as { waiting: string[] }
    assert.equal(early.status, 503)
    assert.ok(waiting.includes('unruly'))
    await until('ready', LIMIT_MS, async () => (await fetch(`${sonde.address}/readyz`)).ok)
    assert.equal((await sourceOf(sonde, 'unruly')).state, 'stuck')
    await goesOn(sonde, 'host')
    await assertStops(sonde)
  })
}

// Workers crash and flood in `hosting/hosts.test.ts`.

test('a source in a process that crashes again and again is replaced, and its series leave meanwhile', async (t) => {
  const sonde = await start(t, 'unruly', 'crash', 3)
  const failed = await untilSource(sonde, 'unruly', 'failed', ({ state }) => state === 'failed')
  assert.match(failed.reason, /it is replaced/)
  await until('its series to leave', LIMIT_MS, async () => !(await metricsOf(sonde)).includes('unruly_samples_total{'))
  await until('its series to leave the API', LIMIT_MS, async () => {
    const { series } = await ask<{ series: unknown[] }>(sonde, '/api/v1/series?type=unruly')
    return series.length === 0
  })
  await goesOn(sonde, 'host')
  await until('its series to come back', LIMIT_MS, async () =>
    (await metricsOf(sonde)).includes('unruly_samples_total{'),
  )
  await assertStops(sonde)
})

test('a source in a process that crashes again and again does not keep the agent from ending in time', async (t) => {
  const sonde = await start(t, 'unruly', 'crash', 1)
  await untilSource(sonde, 'unruly', 'two crashes', ({ restarts }) => restarts >= 2)
  await assertStops(sonde)
})

test('a source in a process that floods loses what is beyond its limit, counted, and goes on', async (t) => {
  const sonde = await start(t, 'unruly', 'flood', 3)
  const flooded = await untilSource(sonde, 'unruly', 'a flood', ({ dropped }) => (dropped.flood ?? 0) > 200_000)
  await untilSource(sonde, 'unruly', 'samples after it', ({ samples, state }) => samples > 3 && state === 'reading')
  assert.equal(flooded.restarts, 0)
  await until('the loss on the page', LIMIT_MS, async () => {
    const lost = numberOn(await metricsOf(sonde), 'sonde_loss_records_total{component="unruly",reason="flood"}')
    return lost === flooded.dropped.flood
  })
  await goesOn(sonde, 'host')
  await assertStops(sonde)
})
