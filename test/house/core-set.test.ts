import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { SIGNALS } from '../../packages/agent/src/hints/watch/signals.ts'
import { TestReport } from '../../packages/agent/src/sources/simulator/test-report.ts'
import { CORE_SET } from '../../packages/sdk/src/fieldset/fieldset.ts'
import { createPrometheus } from '../../packages/sdk/src/index.ts'
import { filesOf, root } from '../../scripts/check/sources.ts'
import { coreMetrics, declaredTypes, metricNames } from '../../scripts/docs/metric-list.ts'

const FILE = new URL('core-metrics.txt', import.meta.url)
const RENEW = 'SONDE_GOLDEN=renew npm test -- core-set'

/** Details of the DOCA libraries. Only the page of one NIC shows them. */
const ON_ONE_NIC = [
  'doca_diag_congestion_deschedules_total',
  'doca_diag_pci_read_latency_max_seconds',
  'doca_diag_pci_read_latency_min_seconds',
  'doca_diag_pci_read_wait_seconds_total',
  'doca_diag_pci_reads_total',
  'doca_diag_port_cnp_handled_packets_total',
  'doca_diag_port_cnp_sent_packets_total',
  'doca_diag_port_ecn_marked_packets_total',
  'doca_dpa_process_threads',
  'doca_dpa_thread_executions_total',
  'doca_dpa_thread_instructions_total',
  'doca_pcc_counters_enabled',
  'doca_pcc_enabled',
  'doca_pcc_value',
  'doca_pcc_version_major',
  'doca_pcc_version_minor',
  'doca_pci_crc_dllp_errors_total',
  'doca_pci_effective_bit_error_ratio',
  'doca_pci_fber_ratio',
  'doca_pci_l0_to_recovery_total',
  'doca_pci_link_generation',
  'doca_pci_link_generation_enabled',
  'doca_pci_link_width_enabled_lanes',
  'doca_pci_link_width_lanes',
  'doca_pci_max_payload_bytes',
  'doca_pci_max_read_request_bytes',
  'doca_pci_outbound_stalled_reads_events_total',
  'doca_pci_outbound_stalled_reads_ratio',
  'doca_pci_outbound_stalled_writes_events_total',
  'doca_pci_outbound_stalled_writes_ratio',
  'doca_pci_overflow_marked_packets_total',
  'doca_pci_overflow_packets_total',
  'doca_pci_rx_errors_total',
  'doca_pci_tx_errors_total',
  'doca_phy_lane_raw_errors_total',
  'doca_phy_round_trip_seconds',
]

/**
 * Metrics that hints, alerts or pages use and that are `full` all the same, and why. A page of one device asks the
 * agent of its node; hints are found there too.
 */
const FULL_ALL_THE_SAME: Readonly<Record<string, string>> = {
  ...Object.fromEntries(ON_ONE_NIC.map((name) => [name, 'a detail on the page of one NIC'])),
  dcb_port_default_priority: 'a detail on the page of one interface',
  doca_pci_read_latency_seconds: 'a histogram on the page of one NIC: 12 series each',
  ethtool_lane_rx_err_phy_total: 'four series a port; the core set has the errors of the port',
  ethtool_priority_rx_bytes_total: 'eight series a port; the page of one interface shows it',
  ethtool_priority_tx_bytes_total: 'eight series a port; a hint reads it on the node',
  gpu_process_memory_used_bytes: 'a series for each process; only with export_processes',
  gpu_process_util_ratio: 'a series for each process; only with export_processes',
  host_cpu_seconds_total: 'a series for each mode of each CPU; the core set has load and pressure',
  netdev_mtu_bytes: 'a property on the page of one interface',
  pci_device_max_link_bandwidth_bytes_per_second: 'the product of speed and lanes, which are in the core set',
}

const core = new Set(coreNames())

test('the core set is that of the list', () => {
  const found = coreMetrics()
  if (process.env.SONDE_GOLDEN === 'renew') writeFileSync(FILE, found)
  const [before, now] = [readFileSync(FILE, 'utf8').split('\n'), found.split('\n')]
  const gone = before.filter((line) => !now.includes(line))
  const added = now.filter((line) => !before.includes(line))
  const advice = 'Engines of users hold these series, and each costs on every node. A change is a decision'
  assert.deepEqual({ gone, added }, { gone: [], added: [] }, `${advice}: write it into CHANGELOG.md, then ${RENEW}`)
})

test('everything that hints, alerts and pages use is in the core set, but for what the list above names', () => {
  const used = new Set([...usedByHints(), ...usedByAlerts(), ...usedByPages()])
  const missing = [...used].filter((name) => !core.has(name) && FULL_ALL_THE_SAME[name] === undefined)
  assert.deepEqual(missing, [])
  const idle = Object.keys(FULL_ALL_THE_SAME).filter((name) => core.has(name) || !used.has(name))
  assert.deepEqual(idle, [], 'these are in the core set, or nobody uses them: leave them out of the list')
})

test('the largest simulated node has about a third of its series in the core set', async (t) => {
  const { full, core } = await seriesOf('hgx-h100')
  t.diagnostic(`${full} series, ${core} of them core`)
  assert.ok(full >= 4000, `${full} series`)
  assert.ok(core >= 1000 && core <= 1700, `${core} of ${full} series are core`)
})

function coreNames(): string[] {
  return coreMetrics()
    .split('\n')
    .map((line) => line.replace(/\{.*/, ''))
}

function usedByHints(): string[] {
  return SIGNALS.map(({ metric }) => metric)
}

/** Metrics of the rules for Prometheus. */
function usedByAlerts(): string[] {
  return namedIn(filesOf('deploy/prometheus/rules/*.yaml'))
}

/** Metrics whose names stand in the console, or in its exports of apps and exporters. */
function usedByPages(): string[] {
  // Parameters only render the list of counters that an exporter is to read. The page of a host has hundreds of
  // details, and asks the agent of that host.
  const elsewhere = /test|server\/params\/|web\/pages\/host\//
  return namedIn(filesOf('packages/console/**/*.{ts,tsx}').filter((file) => !elsewhere.test(file)))
}

function namedIn(files: readonly string[]): string[] {
  const names = new Set(
    metricNames()
      .split('\n')
      .map((line) => line.split(' ')[0] ?? ''),
  )
  const words = files.flatMap((file) => readFileSync(join(root, file), 'utf8').match(/\w+/g) ?? [])
  return [...new Set(words.map((word) => word.replace(/_bucket$/, '')))].filter((word) => names.has(word))
}

/** Series of a simulated node in `/metrics`, after its sources that read in turns have read all. */
async function seriesOf(node: string): Promise<{ full: number; core: number }> {
  const view = createPrometheus()
  const report = new TestReport({ node })
  for (let second = 0; second < 12; second++) for (const batch of report.batchesAt(second)) view.accept(batch)
  const count = async (filter?: typeof CORE_SET) => {
    const scrape = await view.render({}, filter)
    const lines = Buffer.concat(scrape.chunks).toString().split('\n')
    scrape.release()
    return lines.filter((line) => line !== '' && !line.startsWith('#')).length
  }
  const counts = { full: await count(), core: await count(CORE_SET) }
  await view.close()
  return counts
}

test('a metric of several types has the same class in all of them', () => {
  const classes = new Map<string, string>()
  const torn = new Set<string>()
  for (const { metrics } of declaredTypes())
    for (const { name, classes: own } of metrics) {
      const text = JSON.stringify([...own].sort())
      if ((classes.get(name) ?? text) !== text) torn.add(name)
      classes.set(name, text)
    }
  assert.deepEqual([...torn], [])
})
