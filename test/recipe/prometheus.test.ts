// The recipe for Kubernetes from end to end: its file and its environment, a real Prometheus with its expressions and
// with the alert rules of Sonde, and a real Alertmanager.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { needs } from '../debian.ts'
import { type AlertmanagerPeer, startAlertmanager } from '../interop/alertmanager-peer.ts'
import { type PrometheusPeer, startPrometheus } from '../interop/prometheus-peer.ts'
import { startSonde, temporaryDir, until } from '../sonde-process.ts'
import { RECIPE_EXPRESSIONS } from './expressions.ts'
import { doubledNode, RECIPE_DEVICES, RECIPE_ENV } from './recipe.ts'

const LIMIT_MS = 180_000
const SOURCES_YAML = new URL('sources.yaml', import.meta.url).pathname
const RULES = new URL('../../deploy/prometheus/rules/doca.yaml', import.meta.url)
const PAGE = new URL('../../docs/doca.md', import.meta.url)

/**
 * Every condition of the recipe holds at this device, if its metric exists. The rates are those of 5 minutes, of which
 * the test waits for seconds only.
 */
const FAULTY = {
  ...RECIPE_DEVICES.mlx5_0,
  bins: [20_000, 0, 7],
  grows: { phy_counter_and_ber_info: { 'effective_errors.effective_errors_counter': 50 } },
}

describe('the recipe with a real Prometheus', needs('cc', 'prometheus', 'prometheus-alertmanager'), () => {
  const ends: (() => unknown)[] = []
  const t = { after: (end: () => unknown) => void ends.unshift(end) }
  let peer: PrometheusPeer
  let alertmanager: AlertmanagerPeer

  before(async () => {
    const { flags, env, runClocks } = doubledNode(t, { ...RECIPE_DEVICES, mlx5_0: FAULTY })
    runClocks()
    const args = ['agent', '--config', SOURCES_YAML, ...flags]
    const sonde = await startSonde(args, { env: { ...env, ...RECIPE_ENV, PROMETHEUS_PORT: '0' } })
    t.after(() => sonde.stop())
    const port = /metrics alone on port (\d+) of all addresses/.exec(sonde.output())?.[1]
    alertmanager = await startAlertmanager(t)
    const alerts = { ruleFiles: [hastyRules()], alertmanager: alertmanager.target }
    peer = await startPrometheus(t, `127.0.0.2:${port}`, 1, undefined, {}, alerts)
  })
  after(async () => {
    for (const end of ends) await end()
  })

  /** The rules, evaluated each second, with alerts that fire at once. */
  function hastyRules(): string {
    const { path, remove } = temporaryDir()
    t.after(remove)
    const file = join(path, 'doca.yaml')
    writeFileSync(file, readFileSync(RULES, 'utf8').replace(/(interval|for): \d+[sm]/g, '$1: 1s'))
    return file
  }

  it('the expressions of the recipe that have data are those that docs/doca.md names', async () => {
    const says = statedData()
    assert.deepEqual(Object.keys(says), Object.keys(RECIPE_EXPRESSIONS))
    const expressions = Object.entries(RECIPE_EXPRESSIONS)
    const found = new Map<string, readonly string[]>()
    await until(
      () => `data for what the page says: ${JSON.stringify([...found])}`,
      LIMIT_MS,
      async () => {
        for (const [name, expression] of expressions) found.set(name, await devicesOf(expression))
        return expressions.every(([name]) => says[name] === 'no' || found.get(name)?.includes('mlx5_0'))
      },
    )
    assert.deepEqual(
      Object.fromEntries([...found].map(([name, devices]) => [name, devices.length > 0 ? 'yes' : 'no'])),
      says,
    )
    // The rate of the second device is 1 event a second.
    assert.deepEqual(found.get('HighRetransmissionRate'), ['mlx5_0'])
    assert.deepEqual(found.get('RDMA Retransmission Rate'), ['mlx5_0', 'mlx5_1'])
  })

  it('series have the labels of the recipe', async () => {
    const series = await peer.range('doca_adp_retx_packets[1m]')
    const labels = series.map(({ metric: { job: _job, instance: _instance, ...others } }) => others)
    assert.deepEqual(
      labels.toSorted((a, b) => (a.device ?? '').localeCompare(b.device ?? '')),
      ['mlx5_0', 'mlx5_1'].map((device) => ({
        __name__: 'doca_adp_retx_packets',
        device,
        node: 'gpu-17',
        origin: 'timeouts',
        simulated: 'true',
      })),
    )
  })

  it('Alertmanager sends a firing alert with its labels, its texts and its runbook', async () => {
    const alert = await until('the alert', LIMIT_MS, () =>
      alertmanager.received.find(({ labels }) => labels.alertname === 'HighRetransmissionRate'),
    )
    const { instance: _, ...labels } = alert.labels
    assert.deepEqual(labels, {
      alertname: 'HighRetransmissionRate',
      component: 'network',
      device: 'mlx5_0',
      job: 'sonde',
      node: 'gpu-17',
      origin: 'timeouts',
      severity: 'warning',
      simulated: 'true',
    })
    assert.equal(alert.status, 'firing')
    assert.equal(alert.annotations.summary, 'Many retransmissions at mlx5_0 on gpu-17')
    assert.match(alert.annotations.description ?? '', /^\d+ events of adaptive retransmission a second: /)
    assert.match(alert.annotations.runbook_url ?? '', /\/HighRetransmissionRate\.md$/)
    assert.doesNotMatch(JSON.stringify(alertmanager.received), /error expanding template/)
  })

  async function devicesOf(expression: string): Promise<readonly string[]> {
    const { result } = (await peer.api(`query?query=${encodeURIComponent(expression)}`)) as {
      result: { metric: { device: string } }[]
    }
    return [...new Set(result.map(({ metric }) => metric.device))].sort()
  }

  /** The rows `| NAME | yes or no | …` of the page, by name. */
  function statedData(): Record<string, string> {
    const rows = readFileSync(PAGE, 'utf8').matchAll(/^\| [`*]([^`*]+)[`*] \| (yes|no)\b/gm)
    const stated = Array.from(rows, ([, name = '', data = '']) => [name, data] as const)
    return Object.fromEntries(stated.filter(([name]) => name in RECIPE_EXPRESSIONS))
  }
})
