import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ask, type SourceStatus } from '../../ask.ts'
import { type SondeProcess, startSonde, temporaryDir, until } from '../../sonde-process.ts'
import type { FaultLoop } from '../loop.ts'

const MAIN = fileURLToPath(new URL('../stepping-main.ts', import.meta.url))
const LIMIT_MS = 60_000
const INTERVAL_MS = 200
/** From a correction by a time server to a clock that was never set. Unit: seconds. */
const STEPS_S = [0.01, 0.5, 2, 30, 600, 7200, 86_400, 40 * 86_400]

/** Every source samples on, and the newest values bear the time that it is now. */
async function awaitValues(sonde: SondeProcess, offsetMs: number): Promise<void> {
  const { sources: before } = await ask<{ sources: SourceStatus[] }>(sonde, '/api/v1/sources')
  await until(`samples after a step to ${offsetMs} ms`, LIMIT_MS, async () => {
    const { sources } = await ask<{ sources: SourceStatus[] }>(sonde, '/api/v1/sources')
    return sources.every(({ name, state, samples }) => {
      const earlier = before.find((each) => each.name === name)?.samples ?? 0
      return state !== 'reading' || samples > earlier + 1
    })
  })
  for (const metric of ['host_load1', 'DCGM_FI_DEV_POWER_USAGE', 'netdev_rx_bytes_total']) {
    await until(`values of ${metric} of now, ${offsetMs} ms off`, LIMIT_MS, async () => {
      const { nowMs, series } = await ask<{ nowMs: number; series: { timeMs: number }[] }>(
        sonde,
        `/api/v1/series?metric=${metric}`,
      )
      return series.length > 0 && series.every(({ timeMs }) => Math.abs(nowMs - timeMs) < 2000)
    })
  }
}

/** Rates around the step: whatever the clock did, none is below 0. */
async function checkRates(sonde: SondeProcess, offsetMs: number): Promise<void> {
  const toMs = Date.now() + offsetMs
  const metrics = ['netdev_rx_bytes_total', 'rdma_port_xmit_data_bytes_total', 'DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION']
  const queries = metrics.map((metric) => ({ metric, function: 'rate' }))
  const form = { fromMs: toMs - 60_000, toMs: toMs + 2000, stepMs: 1000, queries }
  const { results } = await ask<{ results: { series: { values: (number | null)[] }[] }[] }>(
    sonde,
    '/api/v1/query',
    form,
  )
  for (const value of results.flatMap(({ series }) => series.flatMap(({ values }) => values)))
    assert.ok(value === null || value >= 0, `a rate of ${value}`)
}

/** Sets the wall clock of a running agent to and fro. */
export const clock: FaultLoop = {
  name: 'clock',
  what: 'the wall clock steps by milliseconds to weeks, either way: every source samples on, values bear the time that it is now, no rate is below 0, history is written on, and nothing is left once the clock is right',
  testRounds: 8,
  async open() {
    const dir = temporaryDir()
    const file = join(dir.path, 'clock')
    writeFileSync(file, '0')
    const kinds = ['host', 'netdev', 'simulator'].map((type) => `  - { type: ${type}, interval_ms: ${INTERVAL_MS} }`)
    writeFileSync(join(dir.path, 'sonde.yaml'), `data_sources:\n${kinds.join('\n')}\n`)
    const config = join(dir.path, 'sonde.yaml')
    const args = ['up', '--config', config, '--data-dir', join(dir.path, 'data'), '--log-level', 'error']
    const sonde = await startSonde(args, { main: MAIN, env: { SONDE_TEST_CLOCK: file } })
    let farthestMs = 0
    const set = async (offsetMs: number) => {
      writeFileSync(file, String(offsetMs))
      sonde.child.kill('SIGUSR2')
      await until(`a clock that is ${offsetMs} ms off`, LIMIT_MS, async () => {
        const { nowMs } = await ask<{ nowMs: number }>(sonde, '/api/v1/node')
        return Math.abs(nowMs - Date.now() - offsetMs) < 1000
      })
      await awaitValues(sonde, offsetMs)
      await checkRates(sonde, offsetMs)
    }
    return {
      async round(random, index) {
        const offsetMs = (STEPS_S[index % STEPS_S.length] ?? 0) * 1000 * random.pick([1, -1])
        farthestMs = Math.max(farthestMs, Math.abs(offsetMs))
        await set(offsetMs)
        await set(0)
        await until('history that is written on', LIMIT_MS, async () => {
          const { store } = await ask<{ store: { state: string; ackedMs: number } }>(sonde, '/api/v1/node')
          return store.state === 'writing' && Math.abs(Date.now() - store.ackedMs) < 5000
        })
      },
      async close() {
        const end = await sonde.stop()
        dir.remove()
        assert.equal(end, 0, sonde.output())
        return `steps of up to ${farthestMs / 86_400_000} days`
      },
    }
  },
}
