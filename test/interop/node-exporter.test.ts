import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { HOST_PARTS } from '../../packages/agent/src/sources/host/config.ts'
import { TestNode } from '../../packages/agent/src/sources/test-node.ts'
import { leftOutReason } from '../../scripts/docs/node-exporter-left-out.ts'
import { NOT_COMPARED } from '../../scripts/docs/node-exporter-names.ts'
import { needs } from '../debian.ts'
import { startSonde, until } from '../sonde-process.ts'
import { DIFFERENT, OURS_ONLY, SAME } from './node-exporter-differences.ts'

const SOURCES = new URL('../../packages/agent/src/sources/', import.meta.url)
const TREES = ['netdev/fixtures/veth-namespace', 'host/fixtures/guest', 'rdma/fixtures/node'].map(
  (tree) => new URL(tree, SOURCES),
)
const COLLECTORS = [
  ...['netdev', 'netclass', 'meminfo', 'cpu', 'stat', 'pressure', 'softnet', 'loadavg', 'diskstats', 'netstat'],
  'sockstat',
  ...['vmstat', 'filefd', 'meminfo_numa', 'infiniband', 'hwmon', 'thermal_zone', 'edac', 'cpufreq'],
]
/** What its defaults would leave out. */
const ALL_OF = [
  // It would ask the kernel for the counters by netlink, not the tree, and leave loopback out.
  ...['--no-collector.netdev.netlink', '--collector.netdev.device-exclude=^$'],
  ...['--collector.stat.softirq', '--collector.netstat.fields=.*', '--collector.vmstat.fields=.*'],
  '--collector.diskstats.device-exclude=^(ram|loop|fd|zram)\\d+$',
]
const LIMIT_MS = 20_000
/** Parts that ask the running machine, whatever the tree is. */
const OF_THIS_MACHINE: readonly string[] = ['clock', 'systemd', 'kernel_log']

/** Values of a page by metric, and by the labels of each series. */
type Page = Map<string, Map<string, number>>

interface Selector {
  readonly metric: string
  readonly labels: ReadonlyMap<string, string>
}

/** Labels of ours for which node_exporter says `device`. */
const DEVICE_LABELS = ['disk', 'rdma_device']

function labelsOf(text: string): Map<string, string> {
  const labels = text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)
  return new Map(
    Array.from(labels, ([, name = '', value = '']) => [DEVICE_LABELS.includes(name) ? 'device' : name, value]),
  )
}

function pageOf(text: string): Page {
  const page: Page = new Map()
  for (const [, metric = '', labels = '', value = ''] of text.matchAll(/^([a-z]\w*)(\{.*\})? (\S+)$/gim)) {
    const series = page.get(metric) ?? new Map<string, number>()
    series.set(labels, Number(value))
    page.set(metric, series)
  }
  return page
}

function selectorOf(text: string): Selector {
  const [, metric = '', labels = ''] = /^(\w+)(\{.*\})?$/.exec(text) ?? []
  return { metric, labels: labelsOf(labels) }
}

/** Values of the series that a selector meets, by what else their labels say. */
function select(page: Page, { metric, labels: wanted }: Selector): Map<string, number> {
  const found = new Map<string, number>()
  for (const [text, value] of page.get(metric) ?? []) {
    const labels = labelsOf(text)
    if (![...wanted].every(([name, label]) => labels.get(name) === label)) continue
    const others = [...labels].filter(([name]) => !wanted.has(name)).sort()
    found.set(others.map(([name, label]) => `${name}="${label}"`).join(','), value)
  }
  return found
}

/**
 * A captured tree with the awkward values of real machines: counters at the end of u64, unknown speeds, missing files,
 * offline CPUs.
 */
function awkwardTree(t: TestContext): TestNode {
  const node = new TestNode(t, ...TREES)
  const edit = (file: string, pattern: RegExp, text: string) => {
    assert.match(node.read(file), pattern)
    node.write(file, node.read(file).replace(pattern, text))
  }
  edit('proc/net/dev', /eth0: +266 +3/, 'eth0: 18446744073709551615 9007199254740993')
  edit('proc/net/dev', /^ +p0:.*$/m, 'p0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16')
  edit('proc/net/dev', /off1:/, 'a"b\\:')
  node.write('sys/class/net/a"b\\/mtu', '1280\n')
  node.write('sys/class/net/ens3f0np0_long1/speed', '-1\n')
  node.write('sys/class/net/eth0/speed', '400000\n')
  node.write('sys/class/net/eth0/carrier_changes', '4294967295\n')
  node.write('sys/class/net/p0/carrier', '0\n')
  node.write('sys/class/net/p0/speed', '10\n')
  node.remove('sys/class/net/br0/carrier')
  node.remove('sys/class/net/p0/mtu')
  node.remove('sys/class/net/off1')
  node.remove('sys/class/net/off0')
  node.write('sys/class/net/fresh0/operstate', 'up\n')
  node.write('sys/class/net/fresh0/mtu', '9000\n')
  edit('proc/stat', /^cpu1 .*$/m, 'cpu11 18446744073709 8 4847 186788 326 1 91 9 12 13')
  edit('proc/stat', /^ctxt .*$/m, 'ctxt 9007199254740993')
  edit('proc/stat', /^procs_blocked 0$/m, 'procs_blocked 4')
  edit('proc/net/softnet_stat', /000045dc 00000000 00000000/, 'ffffffff 00000010 0000000a')
  edit('proc/net/softnet_stat', /00000001 00000000 00000000$/m, '0000000b 00000000 00000000')
  edit('proc/meminfo', /^MemTotal: .*$/m, 'MemTotal:       8796093022207 kB')
  edit('proc/meminfo', /^HugePages_Total: .*$/m, 'HugePages_Total:       7')
  edit('proc/pressure/memory', /total=\d+/, 'total=9007199254740991')
  node.write('sys/class/infiniband/mlx5_3/ports/1/counters/port_rcv_data', '4611686018427387903\n')
  // Where one device has no folder of counters or no board, node_exporter reports no device at all.
  for (const device of ['bnxt_re0', 'irdma0', 'rxe0']) node.remove(`sys/class/infiniband/${device}`)
  edit('proc/diskstats', /vda 365057/, 'vda 9007199254740993')
  edit('proc/vmstat', /^oom_kill 0$/m, 'oom_kill 18446744073709551615')
  edit('proc/net/snmp', /^Tcp: 1 200 120000 -1 \d+/m, 'Tcp: 1 200 120000 -1 4294967295')
  node.write('proc/loadavg', '1234.56 0.00 99.01 3/456 789\n')
  node.write('sys/class/hwmon/hwmon1/temp1_input', '-12500\n')
  node.write('sys/devices/system/edac/mc/mc0/ue_count', '4294967295\n')
  node.write('sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count', '9007199254740993\n')
  addWhatOnlyTheyRead(node)
  return node
}

/** node_exporter gives up a zone, a CPU or a clock of which a file is missing that every kernel has. */
function addWhatOnlyTheyRead(node: TestNode): void {
  node.write('sys/class/thermal/thermal_zone0/policy', 'step_wise\n')
  node.write('sys/class/thermal/cooling_device0/type', 'Processor\n')
  for (const state of ['cur_state', 'max_state']) node.write(`sys/class/thermal/cooling_device0/${state}`, '0\n')
  for (const cpu of ['0', '1']) node.write(`sys/devices/system/cpu/cpu${cpu}/topology/core_id`, `${cpu}\n`)
  node.write('sys/devices/system/cpu/cpu1/topology/physical_package_id', '0\n')
  const clocks = ['cpuinfo_min_freq', 'scaling_min_freq', 'scaling_cur_freq', 'cpuinfo_transition_latency']
  for (const name of clocks) node.write(`sys/devices/system/cpu/cpu0/cpufreq/${name}`, '800000\n')
  const words = ['scaling_available_governors', 'scaling_driver', 'related_cpus', 'scaling_setspeed']
  for (const name of words) node.write(`sys/devices/system/cpu/cpu0/cpufreq/${name}`, 'performance\n')
}

async function theirPage(t: TestContext, { paths }: TestNode): Promise<Page> {
  const collectors = COLLECTORS.map((name) => `--collector.${name}`)
  const flags = ['--collector.disable-defaults', ...collectors, ...ALL_OF]
  const roots = [`--path.procfs=${paths.procfs}`, `--path.sysfs=${paths.sysfs}`]
  const child = spawn('prometheus-node-exporter', [...flags, ...roots, '--web.listen-address=127.0.0.1:0'])
  t.after(() => child.kill('SIGKILL'))
  let log = ''
  child.stderr.on('data', (chunk: Buffer) => {
    log += chunk.toString()
  })
  const host = await until('node_exporter', LIMIT_MS, () => /Listening on" address=(\S+)/.exec(log)?.[1])
  const page = pageOf(await (await fetch(`http://${host}/metrics`)).text())
  for (const name of COLLECTORS) {
    assert.equal(page.get('node_scrape_collector_success')?.get(`{collector="${name}"}`), 1, `${name}\n${log}`)
  }
  return page
}

async function ourPage(t: TestContext, { root, paths }: TestNode): Promise<Page> {
  const config = join(root, 'sonde.yaml')
  const parts = HOST_PARTS.filter((part) => !OF_THIS_MACHINE.includes(part))
  const sources = [{ type: 'netdev' }, { type: 'host', parts }, { type: 'rdma' }].map((source) => ({
    ...source,
    interval_ms: 50,
  }))
  writeFileSync(config, JSON.stringify({ data_sources: sources }))
  const roots = ['--path.procfs', paths.procfs, '--path.sysfs', paths.sysfs]
  const sonde = await startSonde(['agent', '--config', config, '--log-level', 'error', ...roots])
  t.after(() => sonde.stop())
  return until('all sources on the page', LIMIT_MS, async () => {
    const page = pageOf(await (await fetch(`${sonde.address}/metrics`)).text())
    return page.has('netdev_up') && page.has('host_load1') && page.has('rdma_port_vl15_dropped_total') && page
  })
}

test(
  'the same tree below the roots, read by node_exporter and by Sonde, gives equal values',
  needs('prometheus-node-exporter'),
  async (t) => {
    const node = awkwardTree(t)
    const [theirs, ours] = await Promise.all([theirPage(t, node), ourPage(t, node)])
    const differences: string[] = []
    let equal = 0
    for (const [our, their] of SAME) {
      const ourSeries = select(ours, selectorOf(our))
      const theirSeries = select(theirs, selectorOf(their))
      assert.ok(ourSeries.size > 0, `${our} is not on our page`)
      assert.ok(theirSeries.size > 0, `${their} is not on theirs`)
      for (const labels of new Set([...ourSeries.keys(), ...theirSeries.keys()])) {
        const [ourValue, theirValue] = [ourSeries.get(labels), theirSeries.get(labels)]
        if (isSame(ourValue, theirValue)) equal++
        else differences.push(`${our}{${labels}}: ${ourValue ?? 'absent'}, ${theirValue ?? 'absent'}`)
      }
    }
    const unexplained = differences.filter((line) => !DIFFERENT.some(([pattern]) => pattern.test(line)))
    assert.deepEqual(unexplained, [])
    for (const [pattern, why] of DIFFERENT) {
      assert.ok(
        differences.some((line) => pattern.test(line)),
        `no longer differs: ${why}`,
      )
    }
    t.diagnostic(`${equal} values equal, ${differences.length} different for ${DIFFERENT.length} reasons`)
    assert.deepEqual(
      withoutCounterpart(
        ours,
        /^(netdev|host|rdma_port)_/,
        [...SAME, ...NOT_COMPARED, ...OURS_ONLY].map(([our]) => our),
      ),
      [],
      'ours without a counterpart',
    )
    const others = withoutCounterpart(
      theirs,
      /^node_(?!scrape_|exporter_)/,
      [...SAME, ...NOT_COMPARED].map(([, their]) => their),
    )
    assert.deepEqual(
      others.filter((metric) => leftOutReason(metric) === undefined),
      [],
      'theirs without a counterpart',
    )
  },
)

/** Metrics of a page with series that no selector meets. */
function withoutCounterpart(page: Page, names: RegExp, selectors: readonly string[]): string[] {
  return [...page].flatMap(([metric, series]) => {
    if (!names.test(metric)) return []
    const fitting = selectors.map(selectorOf).filter((selector) => selector.metric === metric)
    const met = fitting.reduce((count, selector) => count + select(page, selector).size, 0)
    return met === series.size ? [] : [metric]
  })
}

/** Microseconds divided by a million at once, and by a thousand twice, may differ in the last bit. */
function isSame(ours: number | undefined, theirs: number | undefined): boolean {
  if (ours === undefined || theirs === undefined) return ours === theirs
  return Math.abs(ours - theirs) <= Math.abs(theirs) * Number.EPSILON
}
