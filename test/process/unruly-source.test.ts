import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type SondeProcess, startSonde, until } from '../sonde-process.ts'

const MAIN = fileURLToPath(new URL('../faults/unruly-main.ts', import.meta.url))
const LIMIT_MS = 30_000
const STOP_LIMIT_MS = 5000

interface SourceStatus {
  readonly name: string
  readonly placement: string
  readonly state: string
  readonly reason: string
  readonly samples: number
  readonly errors: number
  readonly restarts: number
  readonly dropped: Readonly<Record<string, number>>
}

async function start(t: TestContext, type: string, misdeed: string, sample: number): Promise<SondeProcess> {
  const sonde = await startSonde([misdeed, String(sample), type], { main: MAIN })
  t.after(() => sonde.stop('SIGKILL'))
  return sonde
}

async function statusOf({ address }: SondeProcess, source: string): Promise<SourceStatus> {
  const { sources } = (await (await fetch(`${address}/api/v1/sources`)).json()) as { sources: SourceStatus[] }
  const found = sources.find(({ name }) => name === source)
  assert.ok(found, source)
  return found
}

const untilStatus = (sonde: SondeProcess, what: string, holds: (status: SourceStatus) => boolean) =>
  until(what, LIMIT_MS, async () => {
    const status = await statusOf(sonde, 'unruly')
    return holds(status) && status
  })

const pageOf = async ({ address }: SondeProcess) => (await fetch(`${address}/metrics`)).text()

const counterOf = (page: string, series: string) =>
  Number(
    page
      .split('\n')
      .find((line) => line.startsWith(`${series} `))
      ?.split(' ')
      .at(-1) ?? Number.NaN,
  )

/** Children that were started and are still there. */
function childrenOf(sonde: SondeProcess): number[] {
  const started = [...sonde.output().matchAll(/"child":(\d+)/g)].map(([, pid]) => Number(pid))
  return started.filter((pid) => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  })
}

/** The other source goes on: it is sampled again and again. */
async function othersGoOn(sonde: SondeProcess): Promise<void> {
  const before = await statusOf(sonde, 'host')
  await until('samples of the other source', LIMIT_MS, async () => {
    const { samples, state } = await statusOf(sonde, 'host')
    assert.equal(state, 'reading')
    return samples > before.samples + 3
  })
}

async function stopsInTime(sonde: SondeProcess): Promise<void> {
  const startMs = performance.now()
  assert.equal(await sonde.stop(), 0, sonde.output())
  assert.ok(performance.now() - startMs < STOP_LIMIT_MS)
  assert.deepEqual(childrenOf(sonde), [])
}

for (const [type, placement] of [
  ['unruly', 'process'],
  ['unruly_worker', 'worker'],
] as const) {
  test(`a source in a ${placement} that hangs is stuck, ready all the same, and replaced; the others go on`, async (t) => {
    const sonde = await start(t, type, 'hang', 3)
    const stuck = await untilStatus(sonde, 'stuck', ({ state }) => state === 'stuck')
    assert.equal(stuck.placement, placement)
    assert.match(stuck.reason, /took more than 1000 ms; its (process|worker) is replaced/)
    assert.equal((await fetch(`${sonde.address}/readyz`)).status, 200)
    await othersGoOn(sonde)
    await untilStatus(sonde, 'the next one reading', ({ state, restarts }) => state === 'reading' && restarts >= 1)
    const page = await pageOf(sonde)
    assert.ok(counterOf(page, 'sonde_source_restarts_total{source="unruly"}') >= 1)
    await stopsInTime(sonde)
  })

  test(`a source in a ${placement} that hangs in its first call is awaited by /readyz, and settles as stuck`, async (t) => {
    const sonde = await start(t, type, 'hang', 1)
    const early = await fetch(`${sonde.address}/readyz`)
    const { waiting } = (await early.json()) as { waiting: string[] }
    assert.equal(early.status, 503)
    assert.ok(waiting.includes('unruly'))
    await until('ready', LIMIT_MS, async () => (await fetch(`${sonde.address}/readyz`)).ok)
    assert.equal((await statusOf(sonde, 'unruly')).state, 'stuck')
    await othersGoOn(sonde)
    await stopsInTime(sonde)
  })

  test(`a source in a ${placement} that crashes is replaced, and its series leave meanwhile`, async (t) => {
    const sonde = await start(t, type, 'crash', 3)
    const failed = await untilStatus(sonde, 'failed', ({ state }) => state === 'failed')
    assert.match(failed.reason, /it is replaced/)
    await until('its series to leave', LIMIT_MS, async () => !(await pageOf(sonde)).includes('unruly_samples_total{'))
    await until('its series to leave the API', LIMIT_MS, async () => {
      const response = await fetch(`${sonde.address}/api/v1/series?type=unruly`)
      return ((await response.json()) as { series: unknown[] }).series.length === 0
    })
    await othersGoOn(sonde)
    await until('its series to come back', LIMIT_MS, async () =>
      (await pageOf(sonde)).includes('unruly_samples_total{'),
    )
    await stopsInTime(sonde)
  })

  test(`a source in a ${placement} that crashes again and again does not keep the agent from ending in time`, async (t) => {
    const sonde = await start(t, type, 'crash', 1)
    await untilStatus(sonde, 'two crashes', ({ restarts }) => restarts >= 2)
    await stopsInTime(sonde)
  })

  test(`a source in a ${placement} that floods loses what is beyond its limit, counted, and goes on`, async (t) => {
    const sonde = await start(t, type, 'flood', 3)
    const flooded = await untilStatus(sonde, 'a flood', ({ dropped }) => (dropped.flood ?? 0) > 200_000)
    await untilStatus(sonde, 'samples after it', ({ samples, state }) => samples > 3 && state === 'reading')
    assert.equal(flooded.restarts, 0)
    await until('the loss on the page', LIMIT_MS, async () => {
      const lost = counterOf(await pageOf(sonde), 'sonde_loss_records_total{component="unruly",reason="flood"}')
      return lost === flooded.dropped.flood
    })
    await othersGoOn(sonde)
    await stopsInTime(sonde)
  })
}
