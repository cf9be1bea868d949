// Samples for dashboards: scrapes of a simulated node, of the double of DOCA and of a captured host, and captured
// pages of dcgm-exporter.

import { readFileSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { docaTelemetryAdpRetx } from '../../packages/agent/src/sources/doca-telemetry-adp-retx/doca-telemetry-adp-retx.ts'
import { docaTelemetryDiag } from '../../packages/agent/src/sources/doca-telemetry-diag/doca-telemetry-diag.ts'
import { docaTelemetryDpa } from '../../packages/agent/src/sources/doca-telemetry-dpa/doca-telemetry-dpa.ts'
import { docaTelemetryPcc } from '../../packages/agent/src/sources/doca-telemetry-pcc/doca-telemetry-pcc.ts'
import { docaTelemetryPci } from '../../packages/agent/src/sources/doca-telemetry-pci/doca-telemetry-pci.ts'
import { docaTelemetryPhy } from '../../packages/agent/src/sources/doca-telemetry-phy/doca-telemetry-phy.ts'
import { host } from '../../packages/agent/src/sources/host/host.ts'
import { hostFilesystemType } from '../../packages/agent/src/sources/host/type.ts'
import { netdev } from '../../packages/agent/src/sources/netdev/netdev.ts'
import { rdma } from '../../packages/agent/src/sources/rdma/rdma.ts'
import { TestedSource, TestNode } from '../../packages/agent/src/sources/test-node.ts'
import { createPrometheus } from '../../packages/sdk/src/index.ts'
import { parseExposition } from '../../packages/sdk/test/parse-exposition.ts'
import { declaredTypes } from '../../scripts/docs/metric-list.ts'
import { DOUBLE_DEVICES } from '../alerts/cases.ts'
import { DocaDouble, type DoubleDevice } from '../doubles/doca/doca-double.ts'
import type { PeerSample } from '../interop/query-peers.ts'
import { startSonde, until } from '../sonde-process.ts'

/** When the last scrape was. */
export const NOW_MS = Date.UTC(2026, 0, 2)
/** Node that is simulated. */
export const NODE = 'sim-node'
const STEP_MS = 15_000
const SCRAPES = 3
const SOURCES = [
  ...[docaTelemetryAdpRetx, docaTelemetryDiag, docaTelemetryDpa],
  ...[docaTelemetryPcc, docaTelemetryPci, docaTelemetryPhy, host, netdev, rdma],
]
const OPTIONS = new Map<object, object>([
  [docaTelemetryDiag, { accept_taint: true }],
  [host, { root_folder: '/' }],
])
const LIMIT_MS = 60_000
const FIXTURES = new URL('../../packages/agent/src/sources/dcgm-exporter/fixtures/', import.meta.url)
const TREES = ['host/fixtures/guest', 'netdev/fixtures/veth-namespace', 'rdma/fixtures/node'].map(
  (tree) => new URL(`../../packages/agent/src/sources/${tree}`, import.meta.url),
)
/** What programs of the running machine and the agent itself say, who are not asked: a sample is made up. */
const MADE_UP = declaredTypes()
  .flatMap(({ metrics }) => metrics.map(({ name }) => name))
  .filter((name) => /^host_(clock_|systemd_|kernel_info)/.test(name))
/** Each spelling of dcgm-exporter, by the file. */
export const EXPORTERS = ['kubernetes', 'new-names', 'old-labels', 'renamed'] as const

/** An adapter on which everything counts. */
const ADAPTER: DoubleDevice = {
  ...{ ...DOUBLE_DEVICES.full_link, bins: [150] },
  grows: {
    phy_counter_and_ber_info: { 'effective_errors.effective_errors_counter': 1 },
    pci_perf_counters_1: { crc_error_tlp: 1 },
  },
  algorithms: [{ slot: 0, counters: [['ecn', 0, 1000]] }],
  processes: [{ id: 1, threads: [{ id: 1, cycles: 1000 }] }],
}

/** All samples, three scrapes of each target at 15 s. */
export async function recordedSamples(t: TestContext): Promise<PeerSample[]> {
  const samples: PeerSample[] = []
  const sonde = await startSonde(['agent', '--log-level', 'error', '--only-simulated'])
  t.after(() => sonde.stop())
  const page = async () => (await fetch(`${new URL(sonde.address).origin}/metrics`)).text()
  const others = sourcePages(t)
  for (let scrape = 0; scrape < SCRAPES; scrape++) {
    const take = (instance: string, text: string, isTwice = /^$/) => {
      const timeMs = NOW_MS - (SCRAPES - 1 - scrape) * STEP_MS
      const found = samplesIn(text, timeMs, { instance, job: 'sonde' })
      // A second job scrapes the node too, and keeps a part.
      const second = found.filter(({ metric }) => isTwice.test(metric))
      samples.push(...found, ...second.map((one) => ({ ...one, labels: { ...one.labels, job: 'second' } })))
    }
    take(NODE, await page(), /^pci_device_/)
    take('other-node', await others(scrape), /^rdma_port_/)
    take('other-node', MADE_UP.map((name) => `# TYPE ${name} gauge\n${name} 1\n`).join(''))
    for (const exporter of EXPORTERS)
      take(`exporter-${exporter}`, readFileSync(new URL(`${exporter}.txt`, FIXTURES), 'utf8'))
  }
  // The target of `renamed`, which discovery in a cluster gave labels.
  const labels = { job: 'dcgm', instance: '10.0.0.7:9400', namespace: 'gpu-operator', pod: 'dcgm-exporter-zk2l9' }
  samples.push({ metric: 'up', labels, timeMs: NOW_MS, value: 1 })
  return samples
}

/** The samples of a page. Labels of the page stay, as with `honor_labels`. */
function samplesIn(text: string, timeMs: number, target: Readonly<Record<string, string>>): PeerSample[] {
  return [...parseExposition(Buffer.from(text), 'text').values()].flatMap(({ samples }) =>
    samples.map(({ name, labels, value }) => {
      return { metric: name, labels: { ...target, ...labels }, timeMs, value: Number(value) }
    }),
  )
}

/** Pages of sources: those of DOCA over the double, whose counters grow, and the others over captured trees. */
function sourcePages(t: TestContext): (scrape: number) => Promise<string> {
  const view = createPrometheus()
  // The sources release their devices before the double is gone.
  const ends: (() => unknown)[] = []
  const later = { after: (end: () => unknown) => void ends.unshift(end) }
  t.after(async () => {
    for (const end of ends) await end()
  })
  const [double, node] = [new DocaDouble(later), new TestNode(later, ...TREES)]
  double.play({ mlx5_0: ADAPTER })
  node.write('proc/1/mountinfo', '26 1 254:0 / / rw - ext4 /dev/vda rw\n')
  node.write('proc/pressure/irq', 'full avg10=0.00 avg60=0.00 avg300=0.00 total=1000\n')
  node.write('proc/meminfo', `${node.read('proc/meminfo')}HardwareCorrupted:     0 kB\n`)
  const paths = { ...node.paths, doca_library: double.folder }
  const sources = SOURCES.map((definition) => {
    const options = OPTIONS.get(definition) ?? {}
    const tested = new TestedSource(definition, paths, options, definition.intervalMs, (batch) => view.accept(batch))
    later.after(() => tested.source.close())
    return tested
  })
  // File systems are asked in the background.
  const hasFileSystems = async () => {
    const tested = sources[SOURCES.indexOf(host)]
    await tested?.source.sample()
    return tested?.take().some(({ type }) => type === hostFilesystemType)
  }
  return async (scrape) => {
    await until('file systems', LIMIT_MS, hasFileSystems)
    double.setElapsed(BigInt(scrape * STEP_MS) * 1_000_000n)
    for (const tested of sources) {
      await tested.source.sample()
      tested.take()
    }
    const rendered = await view.render({})
    const text = Buffer.concat(rendered.chunks).toString()
    rendered.release()
    return text
  }
}
