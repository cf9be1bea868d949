// The alerts on GPUs, RDMA and PCIe, with scrapes of simulated nodes: each has a fault, or looks as if it had one.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { InfoRows } from '../../packages/agent/src/infos/info-rows.ts'
import { ONSET_S, SET_S, StruckNode } from '../../packages/agent/src/sources/simulator/scenarios/test-struck-node.ts'
import type { ScenarioRequest } from '../../packages/sdk/src/api/index.ts'
import { needs } from '../debian.ts'
import { temporaryDir } from '../sonde-process.ts'
import { metricsOf, RULES_FOLDER } from './rule-files.ts'
import { type SeriesValues, Target, valuesText } from './scraped.ts'

const FILES = ['gpu', 'rdma']
const STEP_S = 60
const SCRAPES = 32
/** The onset of the scenarios. What a rule looks back on is before it. */
const FAULT_SCRAPE = 11
const LONG_S = SCRAPES * STEP_S

type Scenario = Omit<ScenarioRequest, 'delayS' | 'durationS'>

/** Scenarios of a node, and all alerts that fire there in 20 minutes: `NAME severity`, once for each device. */
const NODES: Readonly<Record<string, { readonly scenarios: readonly Scenario[]; readonly fires: readonly string[] }>> =
  {
    healthy: { scenarios: [], fires: [] },
    lost: {
      scenarios: [
        { name: 'gpu-lost', device: 'sim-gpu-6' },
        { name: 'mig', device: 'sim-gpu-0' },
      ],
      fires: ['GpuLost critical'],
    },
    broken: {
      scenarios: [
        { name: 'ecc-burst', device: 'sim-gpu-2' },
        { name: 'link-downtrain', device: 'sim-nic-mlx5_1-1' },
      ],
      // XIDs 48 and 94.
      fires: [
        'GpuEccUncorrected critical',
        'GpuRowRemapPending warning',
        ...times(2, 'GpuXidMemory critical'),
        'RdmaLinkSlower critical',
      ],
    },
    hot: {
      scenarios: [
        { name: 'thermal-throttle', device: 'sim-gpu-3' },
        { name: 'pcie-aer', device: 'sim-nic-mlx5_3-1', severity: 50 },
      ],
      // By the card itself, and by the driver.
      fires: [...times(2, 'GpuSlowedByHeat warning'), 'PcieAerCorrected warning'],
    },
    braked: {
      scenarios: [{ name: 'power-brake' }, { name: 'pcie-downtrain', device: 'sim-nic-mlx5_3-1' }],
      fires: [...times(8, 'GpuPowerBrake critical'), 'PauseStorm critical', 'PcieLinkSlower critical'],
    },
    capped: {
      scenarios: [{ name: 'power-cap' }, { name: 'retransmission-storm', device: 'sim-nic-mlx5_1-1', severity: 0.01 }],
      fires: [...times(8, 'GpuPowerLimitLowered warning'), 'RdmaRetransmissions warning'],
    },
    pausing: {
      scenarios: [{ name: 'pfc-storm', device: 'sim-nic-mlx5_3-1' }],
      fires: ['PauseStorm critical', ...times(7, 'PausedByPeer warning')],
    },
  }

test('faults of simulated nodes fire their alerts, and nothing else fires', needs('promtool'), async (t) => {
  const series: SeriesValues = new Map()
  for (const [name, { scenarios }] of Object.entries(NODES)) await scrape(name, scenarios, series)
  const fired = firedIn(series, t)
  assert.deepEqual(fired, Object.fromEntries(Object.entries(NODES).map(([name, { fires }]) => [name, fires])))
})

async function scrape(name: string, scenarios: readonly Scenario[], series: SeriesValues): Promise<void> {
  const delayS = ONSET_S - SET_S + FAULT_SCRAPE * STEP_S
  const requests = scenarios.map((scenario) => ({ ...scenario, delayS, durationS: LONG_S }))
  const { report } = new StruckNode(requests, 'hgx-h100', { hasAbsences: true })
  const target = new Target(name, FILES.flatMap(metricsOf))
  const infos = new InfoRows(target.accept)
  for (let number = 0; number < SCRAPES; number++) {
    const arrivedMs = number * STEP_S * 1000
    for (const batch of report.batchesAt(ONSET_S + number * STEP_S)) {
      target.accept(batch)
      infos.accept({ ...batch, origin: 'own', arrivedMs })
    }
    infos.evaluate(arrivedMs)
    await target.scrape(series, number)
  }
}

function times(count: number, alert: string): string[] {
  return Array.from({ length: count }, () => alert)
}

/** What fired on each node at any time. promtool prints it, because the test of rules expects nothing. */
function firedIn(series: SeriesValues, t: { after(end: () => void): void }): Record<string, string[]> {
  const dir = temporaryDir()
  t.after(dir.remove)
  const path = join(dir.path, 'tests.yaml')
  const all = [...series].map(([name, values]) => ({
    series: name,
    values: valuesText(Array.from({ length: SCRAPES }, (_, at) => values[at])),
  }))
  const devices = 'gpu, rdma_device, device, priority, pci_address, xid, reason'
  const expr = `count by (alertname, severity, instance, ${devices}) (count_over_time(ALERTS{alertstate="firing"}[40m]))`
  const query = { expr, eval_time: `${SCRAPES - 1}m`, exp_samples: [] }
  const tests = [{ interval: '1m', input_series: all, promql_expr_test: [query] }]
  const rule_files = FILES.map((file) => fileURLToPath(new URL(`${file}.yaml`, RULES_FOLDER)))
  // JSON is YAML too.
  writeFileSync(path, JSON.stringify({ rule_files, evaluation_interval: '1m', tests }))
  const { stdout, stderr } = spawnSync('promtool', ['test', 'rules', path], { encoding: 'utf8' })
  const fired: Record<string, string[]> = Object.fromEntries(Object.keys(NODES).map((name) => [name, []]))
  for (const [labels] of (stdout + stderr).matchAll(/\{alertname=[^}]*\}/g)) {
    const read = (label: string) => new RegExp(`\\b${label}="([^"]*)"`).exec(labels)?.[1] ?? ''
    fired[read('instance')]?.push(`${read('alertname')} ${read('severity')}`)
  }
  for (const alerts of Object.values(fired)) alerts.sort()
  return fired
}
