// The child process of a source is killed: the source in the next child goes on with the series.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readRecords, viewsOf } from '@sonde/sdk'
import { absenceType } from '@sonde/sdk/internal'
import { unrulyType } from '../../packages/agent/test/unruly-source.ts'
import { openStore } from '../../packages/console/test/open-store.ts'
import { ask, metricLinesOf, sourceOf, untilSource } from '../ask.ts'
import { assertStops, childrenOf, type SondeProcess, startSonde, temporaryDir, until } from '../sonde-process.ts'

const MAIN = fileURLToPath(new URL('replaced-child-main.ts', import.meta.url))
const DEVICES = 200
const LIMIT_MS = 30_000

/** The series of the source on the page of metrics, with their values. */
async function shown(sonde: SondeProcess): Promise<Map<string, number>> {
  const lines = [...(await metricLinesOf(sonde))].filter((line) => line.startsWith('unruly_samples_total{'))
  const values = lines.map((line): [string, number] => {
    const [series = '', value] = line.split(' ')
    return [series, Number(value)]
  })
  assert.equal(new Set(values.map(([series]) => series)).size, values.length)
  return new Map(values)
}

test('a child that is killed is replaced, and each of its series goes on as the same series', async (t) => {
  const dir = temporaryDir()
  t.after(dir.remove)
  const path = join(dir.path, 'store.db')
  const sonde = await startSonde([path, `${DEVICES}`], { main: MAIN })
  t.after(() => sonde.stop('SIGKILL'))
  await untilSource(sonde, 'unruly', 'many samples', ({ samples }) => samples > 20)
  const before = await shown(sonde)
  const names = [...before.keys()].sort()
  assert.equal(names.length, DEVICES)
  const atLeast = Math.max(...before.values())
  process.kill(childrenOf(sonde)[0] ?? 0, 'SIGKILL')
  await until('values of the next child, with every series on every page', LIMIT_MS, async () => {
    const now = await shown(sonde)
    assert.deepEqual([...now.keys()].sort(), names)
    return [...now.values()].every((value) => value < atLeast)
  })
  assert.equal((await sourceOf(sonde, 'unruly')).restarts, 1)
  assert.doesNotMatch([...(await metricLinesOf(sonde))].join('\n'), /duplicate_series|symbol_limit/)
  const { series } = await ask<{ series: unknown[] }>(sonde, '/api/v1/series?type=unruly')
  assert.equal(series.length, DEVICES)
  await assertStops(sonde)

  const { store, close } = await openStore({ path })
  t.after(close)
  const all = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY, recordLimit: 1_000_000 }
  const lives = new Map<string, number[]>()
  for (const { bytes, count, symbols } of await store.records({ ...all, type: 'unruly' })) {
    for (const { device, samples_total } of readRecords(unrulyType, viewsOf(bytes.slice()), count, symbols))
      lives.set(device, [...(lives.get(device) ?? []), Number(samples_total)])
  }
  assert.equal(lives.size, DEVICES)
  for (const samples of lives.values()) {
    const second = samples.indexOf(1, 1)
    assert.ok(second >= atLeast, 'what was shown is stored')
    const wanted = [...Array(second).keys(), ...Array(samples.length - second).keys()].map((index) => index + 1)
    assert.deepEqual(samples, wanted, 'each sample of both children, once')
  }
})

test('a device that the next child does not report leaves with a reason, and the others go on', async (t) => {
  const dir = temporaryDir()
  t.after(dir.remove)
  const path = join(dir.path, 'store.db')
  const lossFile = join(dir.path, 'lost')
  const sonde = await startSonde([path, '3', lossFile], { main: MAIN })
  t.after(() => sonde.stop('SIGKILL'))
  await untilSource(sonde, 'unruly', 'many samples', ({ samples }) => samples > 20)
  const names = [...(await shown(sonde)).keys()].sort()
  assert.match(names[2] ?? '', /device="dev2"/)
  writeFileSync(lossFile, '')
  process.kill(childrenOf(sonde)[0] ?? 0, 'SIGKILL')
  await until('a page without the device that was lost', LIMIT_MS, async () => {
    const now = [...(await shown(sonde)).keys()].sort()
    assert.deepEqual(now.slice(0, 2), names.slice(0, 2))
    return now.length === 2
  })
  const { samples } = await sourceOf(sonde, 'unruly')
  await untilSource(sonde, 'unruly', 'more samples', (now) => now.samples > samples + 2)
  assert.deepEqual([...(await shown(sonde)).keys()].sort(), names.slice(0, 2), 'the series stay')
  await assertStops(sonde)

  const { store, close } = await openStore({ path })
  t.after(close)
  const all = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY, recordLimit: 1_000_000 }
  const absences = await store.records({ ...all, type: absenceType.name })
  const told = absences.flatMap(({ bytes, count, symbols }) => [
    ...readRecords(absenceType, viewsOf(bytes.slice()), count, symbols),
  ])
  const ofDevice = told.filter(({ type }) => type !== 'sonde_child')
  const [only, ...others] = ofDevice.map(({ type, series, code, reason }) => ({ type, series, code, reason }))
  assert.deepEqual(only, {
    ...{ type: 'unruly', series: '', code: 'gone' },
    reason: 'no longer reported since its host was replaced',
  })
  assert.deepEqual(others, [])
})
