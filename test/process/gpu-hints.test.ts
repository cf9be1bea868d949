import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Hint, HintsAnswer } from '@sonde/sdk/api'
import { checkNumbers } from '../../packages/agent/src/hints/test-numbers.ts'
import { serveExporter, withBody } from '../../packages/agent/src/sources/scraping/test-exporter.ts'
import { ask, metricsOf, numberOn } from '../ask.ts'
import { startSonde, temporaryDir, until } from '../sonde-process.ts'

const LIMIT_MS = 60_000

type Gpu = Readonly<Record<string, number>>

/** A body as dcgm-exporter answers: a pod for each GPU, and energy that grows. */
function bodyOf(gpus: readonly Gpu[]): string {
  return gpus
    .flatMap((values, gpu) => {
      const energy = Math.round(performance.now() * 1000)
      const all = { GPU_UTIL: 99, POWER_USAGE: 690.5, TOTAL_ENERGY_CONSUMPTION: energy, XID_ERRORS: 0, ...values }
      const labels = `gpu="${gpu}",UUID="GPU-${gpu}",device="nvidia${gpu}",modelName="NVIDIA H100",Hostname="node-a"`
      const pod = `namespace="ml",pod="train-${gpu}",container="main"`
      return Object.entries(all).map(([name, value]) => {
        const prefix = /ACTIVE$/.test(name) ? 'PROF' : 'DEV'
        return `DCGM_FI_${prefix}_${name}{${labels},${pod}} ${value}\n`
      })
    })
    .join('')
}

/** Four GPUs: the first works, the second has an old XID 79, the third stuck profiling, the fourth a bad memory row. */
const WORKING = { GR_ENGINE_ACTIVE: 0.97, SM_ACTIVE: 0.8 }
const STANDING = { GR_ENGINE_ACTIVE: 0, SM_ACTIVE: 0 }
const gpusOf = (last: Gpu): Gpu[] => [WORKING, { ...WORKING, XID_ERRORS: 79 }, STANDING, { ...WORKING, ...last }]

test('hints of GPUs: what was before the start, profiling that stands still, and a severity that rises and ends', async (t) => {
  let last: Gpu = { ROW_REMAP_PENDING: 0, ROW_REMAP_FAILURE: 0 }
  const exporter = await serveExporter('')
  t.after(() => exporter.close())
  exporter.answer = (request, response) => withBody(bodyOf(gpusOf(last)))(request, response)
  const dir = temporaryDir()
  t.after(() => dir.remove())
  const file = join(dir.path, 'sonde.yaml')
  const times = { interval_ms: 1000, timeout_ms: 900, collect_interval_ms: 1000 }
  const dcgm = { type: 'dcgm_exporter', addresses: [exporter.address], export: true, ...times }
  writeFileSync(file, JSON.stringify({ data_sources: [dcgm] }))
  const sonde = await startSonde(['agent', '--log-level', 'error', '--config', file])
  t.after(() => sonde.stop())
  const open = async (what: string, holds: (hints: readonly Hint[]) => boolean): Promise<readonly Hint[]> =>
    until(what, LIMIT_MS, async () => {
      const { hints, ended } = await ask<HintsAnswer>(sonde, '/api/v1/hints')
      for (const hint of [...hints, ...ended]) checkNumbers(hint)
      return holds(hints) && hints
    })
  const ofPending = (severity: string) => `{rule="ecc_pending",severity="${severity}"}`
  const counted = async (metric: string, severity: string) =>
    numberOn(await metricsOf(sonde), `sonde_hints_${metric}${ofPending(severity)}`)

  const hints = await open('hints of the start', (hints) => hints.length === 2)
  const [told, standing] = ['error_before_start', 'standing_profile'].map((rule) =>
    hints.find((hint) => hint.rule === rule),
  )
  assert.match(told?.sentence ?? '', /^GPU 1@node-a has XID 79, reported before Sonde started/)
  assert.equal(told?.severity, 'warning')
  assert.match(standing?.sentence ?? '', /^GPU 2@node-a is in use .*NVIDIA\/dcgm-exporter#662, NVIDIA\/DCGM#303/)
  const page = await until('numbers of pods', LIMIT_MS, async () => {
    const text = await metricsOf(sonde)
    return /^pod_gpu_sm_active_ratio\{.*pod="train-0".*\} 0\.8$/m.test(text) && text
  })
  assert.doesNotMatch(page, /^pod_gpu_sm_active_ratio\{.*pod="train-2"/m, 'a number that is not believed')
  assert.doesNotMatch(page, /^DCGM_FI_PROF_SM_ACTIVE\{.*gpu="2"/m)
  assert.match(page, /^sonde_gpu_doubt_readings\{.*gpu="2".*\} 2$/m)
  for (const metric of ['open', 'opened_total'])
    for (const severity of ['warning', 'critical']) assert.equal(await counted(metric, severity), 0, 'before the first')

  last = { ROW_REMAP_PENDING: 1, ROW_REMAP_FAILURE: 0 }
  await open('a warning', (hints) =>
    hints.some(({ rule, severity }) => rule === 'ecc_pending' && severity === 'warning'),
  )
  await until('it is counted', LIMIT_MS, async () => (await counted('open', 'warning')) === 1)
  last = { ROW_REMAP_PENDING: 1, ROW_REMAP_FAILURE: 1 }
  await until('it rose', LIMIT_MS, async () => (await counted('open', 'critical')) === 1)
  assert.equal(await counted('open', 'warning'), 0)
  last = { ROW_REMAP_PENDING: 0, ROW_REMAP_FAILURE: 0 }
  await open('its end', (hints) => hints.length === 2)
  await until('no hint is counted', LIMIT_MS, async () => (await counted('open', 'critical')) === 0)
  assert.deepEqual([await counted('open', 'warning'), await counted('opened_total', 'warning')], [0, 1])
  const { ended } = await ask<HintsAnswer>(sonde, '/api/v1/hints')
  assert.deepEqual(
    ended.map(({ title, severity }) => `${title} ${severity}`),
    ['GPU 3@node-a cannot replace a memory row critical'],
  )
})
