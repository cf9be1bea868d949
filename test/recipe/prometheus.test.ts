// The recipe for Kubernetes from end to end: its file and its environment, a real Prometheus with its expressions and
// with the alert rules of Sonde, and a real Alertmanager with its routes. A simulated node joins them at the end.

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
const DEPLOYED = new URL('../../deploy/prometheus/', import.meta.url)
const RULES = ['doca', 'gpu', 'rdma', 'sonde']
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

/** It has a card of its own, because only one function of a card has diagnostic counters at a high frequency. */
const OTHER = { ...RECIPE_DEVICES.mlx5_1, pci: '0000:3b:00.0' }

describe('the recipe with a real Prometheus', needs('cc', 'prometheus', 'prometheus-alertmanager'), () => {
  const ends: (() => unknown)[] = []
  const t = { after: (end: () => unknown) => void ends.unshift(end) }
  let peer: PrometheusPeer
  let alertmanager: AlertmanagerPeer
  let laterTargets: string

  before(async () => {
    const { flags, env, runClocks } = doubledNode(t, { mlx5_0: FAULTY, mlx5_1: OTHER })
    runClocks()
    const args = ['agent', '--config', SOURCES_YAML, ...flags]
    const sonde = await startSonde(args, { env: { ...env, ...RECIPE_ENV, PROMETHEUS_PORT: '0' } })
    t.after(() => sonde.stop())
    const port = /metrics alone on port (\d+) of all addresses/.exec(sonde.output())?.[1]
    alertmanager = await startAlertmanager(t, new URL('alertmanager.yml', DEPLOYED))
    const { path, remove } = temporaryDir()
    t.after(remove)
    laterTargets = join(path, 'targets.json')
    const alerts = { ruleFiles: hastyRules(path), alertmanager: alertmanager.target, laterTargets }
    peer = await startPrometheus(t, `127.0.0.2:${port}`, 1, undefined, {}, alerts)
  })
  after(async () => {
    for (const end of ends) await end()
  })

  /** The rules, evaluated each second, with alerts that fire at once. */
  function hastyRules(path: string): string[] {
    return RULES.map((name) => {
      const file = join(path, `${name}.yaml`)
      const rules = readFileSync(new URL(`rules/${name}.yaml`, DEPLOYED), 'utf8')
      writeFileSync(file, rules.replace(/(interval|for): \d+[sm]/g, '$1: 1s'))
      return file
    })
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
    assert.deepEqual([alert.status, alert.receiver], ['firing', 'simulated'])
    assert.equal(alert.annotations.summary, 'Many retransmissions at mlx5_0 on gpu-17')
    assert.match(alert.annotations.description ?? '', /^\d+ events of adaptive retransmission a second: /)
    assert.match(alert.annotations.runbook_url ?? '', /\/HighRetransmissionRate\.md$/)
    assert.doesNotMatch(JSON.stringify(alertmanager.received), /error expanding template/)
  })

  it('a fault of a simulated node, and the end of its agent, reach the receivers of the routes', async () => {
    const node = await startSonde(['agent', '--simulate', '--only-simulated'])
    t.after(() => node.stop('SIGKILL'))
    const instance = new URL(node.address).host
    writeFileSync(laterTargets, JSON.stringify([{ targets: [instance] }]))
    const seen = `gpu:sonde_gpu:seen{instance="${instance}"}[1m]`
    await until('the rules to know 8 GPUs', LIMIT_MS, async () => (await peer.range(seen)).length === 8)
    const fault = { method: 'POST', body: JSON.stringify({ name: 'gpu-lost', device: 'sim-gpu-6' }) }
    const headers = { 'content-type': 'application/json' }
    assert.equal((await fetch(`${node.address}/api/v1/simulator/scenarios`, { ...fault, headers })).status, 201)
    const lost = await until('the alert of the GPU', LIMIT_MS, () =>
      alertmanager.received.find(({ labels }) => labels.alertname === 'GpuLost'),
    )
    assert.deepEqual([lost.labels.gpu, lost.labels.severity, lost.receiver], ['6', 'critical', 'simulated'])
    assert.match(lost.annotations.summary ?? '', /^GPU 6 on \S+ is lost$/)

    await node.stop('SIGKILL')
    const down = await until('the alert of the agent', LIMIT_MS, () =>
      alertmanager.received.find(
        ({ labels }) => labels.alertname === 'SondeAgentDown' && labels.severity === 'critical',
      ),
    )
    assert.equal(down.receiver, 'on-call')
    assert.match(down.annotations.description ?? '', /^100% of the agents/)
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
