// What reading NICs by the DOCA libraries costs: at default intervals beside node_exporter, at full rate beside C.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { idText } from '../../packages/agent/src/native/doca/ids.ts'
import { DocaDouble } from '../../test/doubles/doca/doca-double.ts'
import { atMost, type BenchResult, type Figure, median } from '../bench.ts'
import { childrenOf, startMeasured, usedBy } from '../idle/process.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const MAIN = join(ROOT, 'packages/cli/dist/main.js')
const RIVAL = fileURLToPath(new URL('rival.c', import.meta.url))
const EXPORTER = '/usr/bin/prometheus-node-exporter'
const COLLECTORS = ['cpu', 'loadavg', 'meminfo', 'netclass', 'netdev', 'pressure', 'softnet', 'stat']
const WINDOW_MS = 30_000
const WARM_UP_MS = 20_000
const DEVICES = 8
const IDS = 64
const PERIOD_US = 100
/** The rival drains as often as the product does where no rule looks at the samples. */
const DRAIN_US = 100_000
const RING_MS = 1000
/** A series of each source. */
const FIRST_SERIES = ['doca_adp_retx_packets{', 'doca_diag_icmc_', 'doca_phy_', 'doca_pci_', 'doca_pcc_', 'doca_dpa_']
const GROUPS = [0x1020, 0x1040, 0x1080, 0x10c0, 0x1100, 0x1140, 0x1160, 0x1180]

/** Ends something; those of a run are called in the end, the last first. */
type Stop = () => void

/** Windows of both parts, one after the other. */
export async function run({ rounds }: { readonly rounds: number }): Promise<BenchResult> {
  const { status } = spawnSync('npm', ['run', 'build'], { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new Error('npm run build failed, its message is above')
  const parts = [await inTurn(rounds, measureDefault), await inTurn(rounds, measureFullRate)]
  return { figures: parts.flatMap(({ figures }) => figures), lines: parts.flatMap(({ lines }) => lines) }
}

async function inTurn(
  rounds: number,
  measure: (rounds: number, stops: Stop[], folder: string) => Promise<BenchResult>,
): Promise<BenchResult> {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-doca-'))
  const stops: Stop[] = [() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })]
  try {
    return await measure(rounds, stops, folder)
  } finally {
    for (const stop of stops.reverse()) stop()
  }
}

async function measureDefault(rounds: number, stops: Stop[], folder: string): Promise<BenchResult> {
  const double = doubleOf(stops)
  const doca = ['adp_retx', 'phy', 'pci', 'pcc', 'dpa', 'diag'].map((name) => {
    return { type: `doca_telemetry_${name}`, ...(name === 'diag' ? { accept_taint: true } : {}) }
  })
  const startedMs = performance.now()
  const reading = await startAgent(stops, folder, 19_461, [{ type: 'host' }, ...doca], double.folder)
  const firstMs = await firstSeries(19_461, startedMs)
  const plain = await startAgent(stops, folder, 19_462, [{ type: 'host' }], double.folder)
  const exporterArgs = ['--collector.disable-defaults', ...COLLECTORS.map((name) => `--collector.${name}`)]
  const exporter = await startMeasured(EXPORTER, ['--web.listen-address=127.0.0.1:19463', ...exporterArgs], {
    ready: /Listening on|msg="TLS is disabled/,
  })
  stops.push(() => exporter.kill('SIGKILL'))
  for (const [port, everyMs] of [
    [19_461, 15_000],
    [19_462, 15_000],
    [19_463, 1000],
  ] as const)
    stops.push(scrapeEvery(everyMs, port))
  await pause(WARM_UP_MS)
  const [child = 0] = childrenOf(reading)
  const pids = { reading, child, plain, exporter: exporter.pid ?? 0 }
  const windows = []
  for (let round = 0; round < rounds; round++) windows.push(await windowOf(pids, double))
  const ratio = median(windows.map(({ used }) => (used.reading + used.child - used.plain) / used.exporter))
  const childMb = usedBy(child).residentBytes / 1e6
  return {
    figures: [
      gated('agent and child with six sources, less the same agent without, against node_exporter', ratio, 'x', 1.5),
      gated('child with six sources, resident memory', childMb, 'MB', 100),
      { name: 'all six in /metrics after the start of the process', value: firstMs / 1000, unit: 's' },
      { name: 'share of a core that the double itself took', value: median(windows.map(shareOfDouble)), unit: '%' },
    ],
    lines: [`Default intervals: ${windows.length} windows of 30 s, ${DEVICES} devices.`, ''],
  }
}

async function measureFullRate(rounds: number, stops: Stop[], folder: string): Promise<BenchResult> {
  const [double, ofRival] = [doubleOf(stops), doubleOf(stops)]
  const diag = {
    type: 'doca_telemetry_diag',
    accept_taint: true,
    interval_ms: 1000,
    high_frequency: true,
    sample_period_us: PERIOD_US,
    ring_ms: RING_MS,
    counters: idsOf(),
  }
  const agent = await startAgent(stops, folder, 19_464, [diag], double.folder)
  const rival = await startMeasured(buildRival(folder), rivalArgs(ofRival), { ready: /ready on/ })
  stops.push(() => rival.kill('SIGKILL'))
  await pause(WARM_UP_MS)
  const [child = 0] = childrenOf(agent)
  const pids = { child, agent, rival: rival.pid ?? 0 }
  const windows = []
  for (let round = 0; round < rounds; round++) windows.push(await windowOf(pids, double))
  const [produced, lost] = ['produced', 'lost'].map((what) =>
    Array.from({ length: DEVICES }, (_, at) => double.total(`mlx5_${at} ${what}`)).reduce((sum, one) => sum + one),
  )
  // The source counts missing sample numbers; the double counts the samples that it overwrote.
  const missed = (await skippedOf(19_464)) - (lost ?? Number.NaN)
  const ratio = median(windows.map(({ used }) => used.child / used.rival))
  const aboveDouble = median(windows.map((one) => (one.used.child / one.seconds) * 100 - shareOfDouble(one)))
  const ofChild = median(windows.map((one) => (shareOfDouble(one) / ((one.used.child / one.seconds) * 100)) * 100))
  const ringMb = (DEVICES * (RING_MS / PERIOD_US) * 1000 * (24 + 8 * IDS)) / 1e6
  const childMb = usedBy(child).residentBytes / 1e6
  return {
    figures: [
      gated('child at 100 µs and 64 counters of 8 devices, processor time against the C program', ratio, 'x', 3),
      { name: 'child, above the double', value: aboveDouble, unit: '% of a core' },
      gated('share of the double in the processor time of the child', ofChild, '%', 30),
      {
        name: 'child, processor',
        value: median(windows.map(({ used, seconds }) => (used.child / seconds) * 100)),
        unit: '% of a core',
      },
      {
        name: 'agent beside it, processor',
        value: median(windows.map(({ used, seconds }) => (used.agent / seconds) * 100)),
        unit: '% of a core',
      },
      { name: 'child, resident memory without its rings', value: childMb - ringMb, unit: 'MB' },
      gated('samples that the devices overwrote before they were read', lost ?? Number.NaN, 'lost samples', 0),
      gated('samples missed that the devices did not overwrite', missed, 'lost samples', 0),
    ],
    lines: [
      `Full rate: ${windows.length} windows of 30 s; ${produced} samples taken, rings of ${ringMb.toFixed(0)} MB.`,
    ],
  }
}

/** Eight devices, whose values are computed from their number and clock. */
function doubleOf(stops: Stop[]): DocaDouble {
  const double = new DocaDouble({ after: (end) => void stops.push(end) })
  // Full rate samples more counters than a BlueField-3 has.
  const counters = ['CNP_RX', 'RTT_REQ', 'RTT_RES', 'NACK'].map((name, at) => [name, 0, 1000 + at] as const)
  const threads = [0, 1, 2, 3].map((id) => ({ id, ticks: 1e8, cycles: 1e9, instructions: 5e8, executions: 1e4 }))
  const device = {
    bins: [100, 50, 25, 12, 6, 3, 1],
    facts: { any_id: 1 },
    algorithms: [{ slot: 0, description: 'zero-touch RoCE', counters }],
    processes: [{ id: 1, name: 'pcc', threads }],
  }
  double.play(Object.fromEntries(Array.from({ length: DEVICES }, (_, at) => [`mlx5_${at}`, device])))
  return double
}

async function startAgent(stops: Stop[], folder: string, port: number, sources: object[], library: string) {
  const file = join(folder, `sonde-${port}.yaml`)
  const config = {
    data_sources: sources,
    native: { doca_library: library },
    export: { prometheus: { port } },
    service: { enabled: false },
  }
  // YAML holds JSON.
  writeFileSync(file, JSON.stringify(config))
  const args = [MAIN, 'agent', '--log-level', 'warn', '--config', file]
  const agent = await startMeasured(process.execPath, args, { ready: /ready on/ })
  stops.push(() => agent.kill('SIGTERM'))
  return agent.pid ?? 0
}

/** How long after its start a process showed series of all six sources. Unit: milliseconds. */
async function firstSeries(port: number, startedMs: number): Promise<number> {
  for (;;) {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    if (FIRST_SERIES.every((name) => text.includes(`\n${name}`))) return performance.now() - startedMs
    if (performance.now() - startedMs > 60_000) throw new Error('no series of all six sources within a minute')
    await pause(20)
  }
}

interface Window<Name extends string> {
  readonly seconds: number
  /** Processor time of the window. Unit: seconds. */
  readonly used: Readonly<Record<Name, number>>
  readonly doubleSeconds: number
}

async function windowOf<Name extends string>(
  pids: Readonly<Record<Name, number>>,
  double: DocaDouble,
): Promise<Window<Name>> {
  const look = () => ({
    cpu: Object.entries<number>(pids).map(([name, pid]) => [name, usedBy(pid).cpuSeconds] as const),
    ofDouble: double.total('cpu_ns') / 1e9,
  })
  const before = look()
  const startedMs = performance.now()
  await pause(WINDOW_MS)
  const after = look()
  const used = after.cpu.map(([name, seconds], at) => [name, seconds - (before.cpu[at]?.[1] ?? 0)])
  return {
    seconds: (performance.now() - startedMs) / 1000,
    used: Object.fromEntries(used) as Record<Name, number>,
    doubleSeconds: after.ofDouble - before.ofDouble,
  }
}

function shareOfDouble({ doubleSeconds, seconds }: Window<string>): number {
  return (doubleSeconds / seconds) * 100
}

function gated(name: string, value: number, unit: string, allowed: number): Figure {
  return { name, value, unit, gate: atMost(value, allowed) }
}

function scrapeEvery(everyMs: number, port: number): Stop {
  const scrape = () => fetch(`http://127.0.0.1:${port}/metrics`).then((answer) => answer.text())
  const timer = setInterval(() => void scrape().catch(() => undefined), everyMs)
  return () => clearInterval(timer)
}

function idsOf(): string[] {
  return Array.from({ length: IDS }, (_, at) =>
    idText((BigInt(GROUPS[at % GROUPS.length] ?? 0) << 48n) | (BigInt(1 + Math.floor(at / GROUPS.length)) << 32n)),
  )
}

function buildRival(folder: string): string {
  const program = join(folder, 'rival')
  execFileSync('cc', ['-O2', '-Wall', '-Wextra', '-Werror', '-pthread', '-o', program, RIVAL, '-ldl'])
  return program
}

function rivalArgs({ common, telemetry }: DocaDouble): string[] {
  const numbers = [DEVICES, IDS, PERIOD_US * 1000, DRAIN_US, (RING_MS * 1000) / PERIOD_US]
  return [common, telemetry, ...numbers.map(String)]
}

/** Number of samples that the source missed, by their numbers. */
async function skippedOf(port: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const skipped = text.split('\n').filter((line) => line.startsWith('doca_diag_sampling_skipped_samples_total{'))
  return skipped.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}
