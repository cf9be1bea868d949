import assert from 'node:assert/strict'
import { needs } from '../../debian.ts'
import { startPrometheus } from '../../interop/prometheus-peer.ts'
import { doubledNode, RECIPE_DEVICES, RECIPE_ENV } from '../../recipe/recipe.ts'
import { startSonde, until } from '../../sonde-process.ts'
import type { FaultLoop } from '../loop.ts'

const SCRAPES = 10
const WAIT_MS = 60_000

/** Scrapes an agent of the recipe while one of its two devices comes and goes. */
export const recipe: FaultLoop = {
  name: 'recipe',
  what: 'Prometheus scrapes an agent under the environment of the recipe each second, ten times a round, while one device leaves and returns: no scrape fails, the other device counts on, and what left is stale',
  testRounds: 1,
  ...needs('cc', 'prometheus'),
  async open() {
    const ends: (() => unknown)[] = []
    const owner = { after: (end: () => unknown) => void ends.unshift(end) }
    const { double, runClocks, flags, env } = doubledNode(owner)
    runClocks()
    const sonde = await startSonde(['agent', ...flags], { env: { ...env, ...RECIPE_ENV, PROMETHEUS_PORT: '0' } })
    ends.unshift(() => sonde.stop())
    const port = /metrics alone on port (\d+) of all addresses/.exec(sonde.output())?.[1]
    const peer = await startPrometheus(owner, `127.0.0.2:${port}`, 1)
    const ups = async () => (await peer.range('up[1h]'))[0]?.values ?? []
    const shown = async () => (await peer.range('doca_adp_retx_packets')).map(({ metric }) => metric.device)
    await until('both devices', WAIT_MS, async () => (await shown()).length === 2)
    return {
      async round() {
        const from = (await ups()).length
        double.play({ mlx5_0: RECIPE_DEVICES.mlx5_0 ?? {} })
        await until('mlx5_1 to be stale', WAIT_MS, async () => (await shown()).join() === 'mlx5_0')
        double.play(RECIPE_DEVICES)
        await until('mlx5_1 to be back', WAIT_MS, async () => (await shown()).length === 2)
        await until('scrapes', WAIT_MS, async () => (await ups()).length >= from + SCRAPES)
        assert.deepEqual([...new Set((await ups()).map(([, value]) => value))], ['1'])
        const [kept] = await peer.range('resets(doca_adp_retx_packets{device="mlx5_0"}[1h]) > 0')
        assert.equal(kept, undefined, 'the device that stayed began anew')
        assert.deepEqual((await peer.range('{__name__=~"doca_adp_retx_(bytes|avg_rtt_ns)"}')).length, 0)
      },
      async close() {
        const scrapes = (await ups()).length
        for (const end of ends) await end()
        return `${scrapes} scrapes`
      },
    }
  },
}
