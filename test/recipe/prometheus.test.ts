import assert from 'node:assert/strict'
import { test } from 'node:test'
import { needs } from '../debian.ts'
import { startPrometheus } from '../interop/prometheus-peer.ts'
import { startSonde, until } from '../sonde-process.ts'
import { doubledNode, RECIPE_ENV } from './recipe.ts'

const SCRAPES = 4

test(
  "Debian's Prometheus scrapes an agent under the environment of the recipe",
  needs('cc', 'prometheus'),
  async (t) => {
    const { flags, env, runClocks } = doubledNode(t)
    runClocks()
    const sonde = await startSonde(['agent', ...flags], { env: { ...env, ...RECIPE_ENV, PROMETHEUS_PORT: '0' } })
    t.after(() => sonde.stop())
    const port = /metrics alone on port (\d+) of all addresses/.exec(sonde.output())?.[1]
    const peer = await startPrometheus(t, `127.0.0.2:${port}`, 1)
    const series = await until('a few scrapes of both devices', 120_000, async () => {
      const found = await peer.range('doca_adp_retx_packets[5m]')
      return found.length === 2 && found.every(({ values }) => values.length >= SCRAPES) && found
    })
    assert.deepEqual(
      series.map(({ metric: { job: _job, instance: _instance, ...labels } }) => labels).sort(byDevice),
      ['mlx5_0', 'mlx5_1'].map((device) => ({
        __name__: 'doca_adp_retx_packets',
        device,
        node: 'gpu-17',
        origin: 'timeouts',
        simulated: 'true',
      })),
    )
    // The rate of the alert rule: 107 and 1 events a second.
    const alerts = await until('a rate', 60_000, async () => {
      const above = (await peer.api(`query?query=${encodeURIComponent('rate(doca_adp_retx_packets[1m]) > 50')}`)) as {
        result: { metric: { device: string } }[]
      }
      return above.result.length > 0 && above.result
    })
    assert.deepEqual(
      alerts.map(({ metric }) => metric.device),
      ['mlx5_0'],
    )
    const names = (await peer.api('label/__name__/values')) as string[]
    assert.deepEqual(
      names.filter((name) => /^doca_(adp_retx_(bytes|avg_rtt_ns)|pci_tlp_errors)/.test(name)),
      [],
      'what no library has is not there',
    )
    for (const name of [
      'doca_adp_retx_timeout_seconds_bucket',
      'doca_diag_link_errors',
      'doca_pci_rx_bytes',
      'doca_pci_tx_bytes',
    ])
      assert.ok(names.includes(name), name)
  },
)

function byDevice(a: Record<string, string>, b: Record<string, string>): number {
  return (a.device ?? '').localeCompare(b.device ?? '')
}
