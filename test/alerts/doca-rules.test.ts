// The tests of deploy/prometheus/rules/doca.yaml, whose series are scrapes of the double, of a tree of the kernel's
// files and of the simulator. Where a change is meant, this renews them:
// SONDE_GOLDEN=renew npm test -- alerts/doca-rules

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { docaTelemetryAdpRetx } from '../../packages/agent/src/sources/doca-telemetry-adp-retx/doca-telemetry-adp-retx.ts'
import { docaTelemetryDiag } from '../../packages/agent/src/sources/doca-telemetry-diag/doca-telemetry-diag.ts'
import { docaTelemetryPci } from '../../packages/agent/src/sources/doca-telemetry-pci/doca-telemetry-pci.ts'
import { docaTelemetryPhy } from '../../packages/agent/src/sources/doca-telemetry-phy/doca-telemetry-phy.ts'
import { pci } from '../../packages/agent/src/sources/pci/pci.ts'
import { ONSET_S, SET_S, StruckNode } from '../../packages/agent/src/sources/simulator/scenarios/test-struck-node.ts'
import { mockClock } from '../../packages/agent/src/sources/test-clock.ts'
import { TestNode } from '../../packages/agent/src/sources/test-node.ts'
import { needs } from '../debian.ts'
import { DocaDouble } from '../doubles/doca/doca-double.ts'
import {
  DOUBLE_CASES,
  DOUBLE_DEVICES,
  KERNEL_CASES,
  SIMULATED_CASES,
  simulatedAddress,
  writeKernelCases,
} from './cases.ts'
import { metricsOf, RULES_FOLDER } from './rule-files.ts'
import { type SeriesValues, Target, valuesText } from './scraped.ts'

const TESTS = new URL('tests/doca.yaml', RULES_FOLDER)
const STEP_S = 30
const SCRAPES = 40
/** Before it the agent of the target `restarted` was away for longer than rules look back. */
const RESTART = 20
/** When the alerts are compared. */
const END = `${(SCRAPES - 1) * STEP_S}s`
const SOURCES = [docaTelemetryAdpRetx, docaTelemetryDiag, docaTelemetryPci, docaTelemetryPhy]

test('faults fire their alerts and look-alikes do not, in series from scrapes', needs('cc', 'promtool'), async (t) => {
  const series: SeriesValues = new Map()
  await scrapeSources(t, series)
  await scrapeSimulator(series)
  const text = testsText(series)
  if (process.env.SONDE_GOLDEN === 'renew') writeFileSync(TESTS, text)
  assert.equal(readFileSync(TESTS, 'utf8'), text, 'the series or the cases changed; renew the file')
  const folder = fileURLToPath(new URL('.', TESTS))
  const run = (...args: string[]) => execFileSync('promtool', args, { cwd: folder, encoding: 'utf8' })
  run('check', 'rules', '../doca.yaml')
  run('test', 'rules', 'doca.yaml')
})

/** The double and the kernel's files, each with a target of its own. */
async function scrapeSources(t: TestContext, series: SeriesValues): Promise<void> {
  const metrics = metricsOf('doca')
  // The sources release their devices before the double is gone.
  const ends: (() => unknown)[] = []
  t.after(async () => {
    for (const end of ends) await end()
  })
  const later = { after: (end: () => unknown) => void ends.unshift(end) }
  const [double, node] = [new DocaDouble(later), new TestNode(later)]
  double.play(DOUBLE_DEVICES)
  double.setElapsed(0n)
  const clock = mockClock(t)
  const [library, kernel, restarted] = ['double', 'kernel', 'restarted'].map((name) => new Target(name, metrics)) as [
    Target,
    Target,
    Target,
  ]
  const paths = { ...node.paths, doca_library: double.folder }
  const sources = SOURCES.map((definition) =>
    library.source(later, definition, paths, definition === docaTelemetryDiag ? { accept_taint: true } : {}),
  )
  writeKernelCases(node, 0)
  const files = [kernel.source(later, pci, paths), restarted.source(later, pci, paths)]
  for (let scrape = 0; scrape < SCRAPES; scrape++) {
    double.setElapsed(BigInt(scrape * STEP_S) * 1_000_000_000n)
    writeKernelCases(node, scrape)
    for (const tested of [...sources, ...files]) {
      await tested.source.sample()
      tested.take()
    }
    await library.scrape(series, scrape)
    await kernel.scrape(series, scrape)
    if (scrape >= RESTART) await restarted.scrape(series, scrape)
    clock.advance(STEP_S * 1000)
  }
}

/** The NICs of the cases, of a node whose scenarios start after two minutes. */
async function scrapeSimulator(series: SeriesValues): Promise<void> {
  const requests = Object.entries(SIMULATED_CASES).map(([nic, { request }]) => ({
    ...request,
    device: `sim-nic-${nic}-1`,
    delayS: ONSET_S - SET_S + 120,
  }))
  const { report } = new StruckNode(requests)
  const target = new Target('simulator', metricsOf('doca'))
  const all: SeriesValues = new Map()
  for (let scrape = 0; scrape < SCRAPES; scrape++) {
    for (const batch of report.batchesAt(ONSET_S + scrape * STEP_S)) target.accept(batch)
    await target.scrape(all, scrape)
  }
  const kept = [...Object.keys(SIMULATED_CASES), 'mlx5_0'].flatMap((nic) => [nic, simulatedAddress(nic)])
  for (const [key, values] of all) if (kept.some((id) => key.includes(`="${id}"`))) series.set(key, values)
}

/** The file of tests: JSON is YAML too, with a series in each line. */
function testsText(series: SeriesValues): string {
  const lines = [...series]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, values]) => {
      const all = Array.from({ length: SCRAPES }, (_, at) => values[at])
      return `      - { series: '${key}', values: '${valuesText(all)}' }`
    })
  const grouped = 'count by (alertname, severity, instance, device, rdma_device, pci_address)'
  const fired = expectedLabels().map((labels) => `          - { labels: '${labels}', value: 1 }`)
  return `# Made by test/alerts/doca-rules.test.ts from scrapes of the double, the kernel's files and the simulator; do not edit.
rule_files: [../doca.yaml]
evaluation_interval: 30s
tests:
  - interval: ${STEP_S}s
    input_series:
${lines.join('\n')}
    promql_expr_test:
      # Nothing else fires.
      - expr: '${grouped} (ALERTS{alertstate="firing"})'
        eval_time: ${END}
        exp_samples:
${fired.join('\n')}
      # After a restart of the agent, old errors are not new.
      - expr: 'ALERTS{alertname="PCITLPErrors",instance="restarted",severity="critical"}'
        eval_time: ${(RESTART + 6) * STEP_S}s
        exp_samples: []
`
}

/** Labels of all alerts that must fire, in order. */
function expectedLabels(): string[] {
  const alerts: string[] = []
  const add = (instance: string, fires: readonly string[], labelsOf: (alert: string) => readonly string[]) => {
    for (const text of fires) {
      const [alert = '', severity = ''] = text.split(' ')
      for (const label of labelsOf(alert))
        alerts.push(`{alertname="${alert}",${label},instance="${instance}",severity="${severity}"}`)
    }
  }
  const ofNic = (nic: string) => (alert: string) => [
    `${/Timeouts|TLP/.test(alert) ? 'rdma_device' : 'device'}="${nic}"`,
  ]
  for (const [nic, { fires }] of Object.entries(DOUBLE_CASES)) add('double', fires, ofNic(nic))
  for (const [address, { fires }] of Object.entries(KERNEL_CASES))
    for (const instance of ['kernel', 'restarted']) add(instance, fires, () => [`pci_address="${address}"`])
  for (const [nic, { fires }] of Object.entries(SIMULATED_CASES)) {
    // The kernel and the firmware count errors of packets.
    const ofKernel = (alert: string) => (/TLP/.test(alert) ? [`pci_address="${simulatedAddress(nic)}"`] : [])
    add('simulator', fires, (alert) => [...ofKernel(alert), ...ofNic(nic)(alert)])
  }
  return alerts.sort()
}
