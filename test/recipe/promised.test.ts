// What the recipe for Kubernetes promises, row by row: the metrics that serve it, or that nothing does. The pages are
// that of an agent with the double, which golden.test.ts compares, and that of a simulated BlueField.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { before, test } from 'node:test'
import { SOURCES } from '../../packages/agent/src/sources/doca/sources.ts'
import { UNOBTAINABLE } from '../../packages/agent/src/sources/doca/unobtainable.ts'
import { TestReport } from '../../packages/agent/src/sources/simulator/test-report.ts'
import { createPrometheus } from '../../packages/sdk/src/index.ts'
import { parseExposition } from '../../packages/sdk/test/parse-exposition.ts'

/** By promised value: metrics that serve it, and names that must not exist, because nothing can serve them. */
const PROMISED: Readonly<Record<string, { readonly by: readonly string[]; readonly not?: readonly string[] }>> = {
  'retransmitted packets, as events': {
    by: ['doca_adp_retx_packets', 'rdma_hw_roce_adp_retrans_total', 'doca_adp_retx_timeout_seconds'],
  },
  'retransmitted bytes': { by: [], not: ['doca_adp_retx_bytes'] },
  'average round trip': {
    by: ['doca_phy_round_trip_seconds', 'doca_adp_retx_timeout_seconds'],
    not: ['doca_adp_retx_avg_rtt_ns'],
  },
  'PCIe bytes': {
    by: [
      'doca_pci_rx_bytes',
      'doca_pci_tx_bytes',
      'doca_diag_pci_inbound_data_bytes_total',
      'doca_diag_pci_outbound_data_bytes_total',
    ],
  },
  'TLP errors, in two meanings': {
    by: ['doca_pci_crc_tlp_errors_total', 'pci_aer_errors_total'],
    not: ['doca_pci_tlp_errors'],
  },
  'link errors': {
    by: [
      'doca_diag_link_errors',
      'doca_phy_link_down_total',
      'doca_phy_effective_errors_total',
      'doca_phy_lane_raw_errors_total',
      'rdma_port_symbol_error_total',
      'rdma_port_link_error_recovery_total',
      'rdma_port_link_downed_total',
      'rdma_port_rcv_errors_total',
      'rdma_port_local_link_integrity_errors_total',
      'ethtool_port_rx_pcs_symbol_err_phy_total',
      'ethtool_port_rx_crc_errors_phy_total',
    ],
  },
  'DPA cycles': {
    by: [
      'doca_dpa_thread_cycles_total',
      'doca_dpa_thread_instructions_total',
      'doca_dpa_thread_active_seconds_total',
      'doca_dpa_thread_executions_total',
    ],
  },
  'DPA queue occupancy': { by: [], not: ['doca_dpa_queue_occupancy'] },
  'ECN marks': {
    by: ['doca_diag_port_ecn_marked_packets_total', 'rdma_hw_np_ecn_marked_roce_packets_total'],
  },
  'CNP sent and handled': {
    by: [
      'doca_diag_port_cnp_sent_packets_total',
      'doca_diag_port_cnp_handled_packets_total',
      'rdma_hw_np_cnp_sent_total',
      'rdma_hw_rp_cnp_handled_total',
      'rdma_hw_rp_cnp_ignored_total',
    ],
  },
  'rate limiting, as events': {
    by: ['doca_diag_congestion_deschedules_total', 'rdma_hw_roce_slow_restart_total', 'doca_pcc_events_total'],
  },
  'round trip of the algorithm': { by: ['doca_pcc_value'] },
  'CRC errors and buffer overruns': {
    by: [
      'ethtool_port_rx_crc_errors_phy_total',
      'ethtool_port_rx_discards_phy_total',
      'rdma_port_excessive_buffer_overrun_errors_total',
      'doca_diag_port_rx_discard_packets_total',
      'doca_diag_host_receive_buffer_discards_total',
    ],
  },
  'PCIe latency': {
    by: [
      'doca_pci_read_latency_seconds',
      'doca_diag_pci_read_wait_seconds_total',
      'doca_diag_pci_reads_total',
      'doca_diag_pci_read_latency_max_seconds',
      'doca_diag_pci_read_latency_min_seconds',
    ],
  },
  'PCIe utilisation': {
    by: [
      'doca_pci_rx_utilisation_ratio',
      'doca_pci_tx_utilisation_ratio',
      'doca_pci_link_bandwidth_bytes_per_second',
      'pci_device_current_link_bandwidth_bytes_per_second',
    ],
  },
}

/** Periods of the recipe. Unit: milliseconds. */
const PERIODS_MS = {
  doca_telemetry_adp_retx: 1000,
  doca_telemetry_diag: 5000,
  doca_telemetry_pcc: 1000,
  doca_telemetry_pci: 2000,
  doca_telemetry_phy: 1000,
}

const served = new Set<string>()

before(async () => {
  const golden = readFileSync(new URL('golden/doca.text.txt', import.meta.url), 'utf8')
  const view = createPrometheus()
  const report = new TestReport({ node: 'dpu-host' })
  // Sources that read in turns have read everything after a few samples, and each kind of PCIe error was counted.
  for (const second of [0, 1, 1_000_000]) for (const batch of report.batchesAt(second)) view.accept(batch)
  const scrape = await view.render({})
  // In a golden page some values are left out.
  for (const [, name = ''] of golden.matchAll(/^([a-z]\w+?)(?:_bucket)?\{/gm)) served.add(name)
  for (const { name, samples } of parseExposition(Buffer.concat(scrape.chunks), 'text').values())
    if (samples.length > 0) served.add(name)
  scrape.release()
  await view.close()
})

test('each promise of the recipe is served by its metrics, or by nothing that would have to be invented', () => {
  for (const [promise, { by, not = [] }] of Object.entries(PROMISED)) {
    assert.deepEqual(
      by.filter((metric) => !served.has(metric)),
      [],
      promise,
    )
    assert.deepEqual(
      not.filter((metric) => served.has(metric)),
      [],
      promise,
    )
  }
})

test('the tests that docs/doca.md names for each statement of the recipe exist', () => {
  const page = readFileSync(new URL('../../docs/doca.md', import.meta.url), 'utf8')
  const rows = page.slice(page.indexOf('## Statement by statement')).match(/^\| .* \| (?:works|differs) \| .*$/gm) ?? []
  assert.ok(rows.length >= 35, `${rows.length} rows`)
  for (const row of rows) {
    const [, verdict, proof = ''] = row.split(' | ')
    const tests = Array.from(
      proof.matchAll(/`((?:recipe|chart|container|alerts|interop|browser)\/[\w-]+)`/g),
      ([, name]) => name,
    )
    const isShown = tests.length > 0 || /faults -- |doca-telemetry-pcc|deploy\/prometheus\/rules|needed for/.test(proof)
    assert.ok(verdict === 'differs' || isShown, row)
    for (const name of tests)
      assert.ok(
        ['.test.ts', ''].some((end) => existsSync(new URL(`../${name}${end}`, import.meta.url))),
        name,
      )
  }
})

test('explain knows each name of the recipe that cannot be served, and what serves instead', () => {
  const names = ['doca_adp_retx_bytes', 'doca_adp_retx_avg_rtt_ns', 'doca_pci_tlp_errors']
  assert.deepEqual(Object.keys(UNOBTAINABLE).sort(), names.sort())
  for (const { instead } of Object.values(UNOBTAINABLE)) assert.ok(instead.every((metric) => served.has(metric)))
})

test('the default periods are those of the recipe', () => {
  const periods = SOURCES.map(({ name, intervalMs }) => [name, intervalMs] as const)
  assert.deepEqual(Object.fromEntries(periods.filter(([name]) => name in PERIODS_MS)), PERIODS_MS)
})
