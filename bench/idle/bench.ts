// What an agent costs that does nothing but its work: memory and processor time, beside bare Node and Debian's
// node_exporter.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { atMost, type BenchResult, type Figure, median } from '../bench.ts'
import { childrenOf, type StartOptions, startMeasured, usedBy } from './process.ts'
import { INTERFACE_COUNT, type Tree, writeFabric, writeTree } from './tree.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const MAIN = join(ROOT, 'packages/cli/dist/main.js')
const CLIENT = fileURLToPath(new URL('client-main.ts', import.meta.url))
const EXPORTER = '/usr/bin/prometheus-node-exporter'
/** The collectors that read the same files as the agent. */
const COLLECTORS = ['cpu', 'loadavg', 'meminfo', 'netclass', 'netdev', 'pressure', 'softnet', 'stat'].map(
  (name) => `--collector.${name}`,
)
const WINDOW_MS = 30_000
/**
 * Two intervals of what an agent keeps in memory would be ten minutes; after one minute the rest grows by kilobytes.
 */
const WARM_UP_MS = 60_000
const SCRAPE_EVERY_MS = 15_000
const SAMPLE_EVERY_MS = 1_000
const EVERYTHING = 'agent, everything on, scraped every 15 s'
/**
 * Limits of processes by the start of their name: megabytes, and processor time as a multiple of node_exporter in the
 * same seconds. Another day the same machine is half as fast, for both.
 */
const LIMITS = [
  { name: EVERYTHING, residentMb: 170, exporters: undefined },
  { name: 'agent', residentMb: 130, exporters: 1 },
  { name: 'child', residentMb: 80, exporters: 1 },
] as const
/** The same for each series of the agent with everything on, its child included: it has several times as many. */
const LIMIT_PER_SERIES = 0.8

interface Peer {
  readonly name: string
  readonly pid: number
  readonly cpuPercent: number[]
  residentBytes: number
}

/** Runs all programs side by side over one tree, so that each window is the same seconds for all of them. */
export async function run({ rounds }: { readonly rounds: number }): Promise<BenchResult> {
  build()
  const root = mkdtempSync(join(tmpdir(), 'sonde-idle-'))
  const stops: (() => void)[] = [() => rmSync(root, { recursive: true, force: true })]
  try {
    const trees = { hosts: writeTree(join(root, 'hosts')), fabric: writeTree(join(root, 'fabric')) }
    writeFabric(join(root, 'fabric'))
    for (const { step } of Object.values(trees)) stops.push(every(SAMPLE_EVERY_MS, step))
    const { peers, seriesCounts, exporterCount } = await startPeers(
      trees,
      (port) => join(root, `sockets-${port}`),
      stops,
    )
    await pause(WARM_UP_MS)
    peers.push(...childPeersOf(peers))
    for (let round = 0; round < rounds; round++) await measureWindow(peers)
    const perSeries = perSeriesFigures(peers, (seriesCounts[1] ?? 0) / exporterCount)
    return { figures: [...figuresOf(peers), ...perSeries], lines: linesOf(seriesCounts, exporterCount, peers) }
  } finally {
    for (const stop of stops.reverse()) stop()
  }
}

/** The command is measured as it is published: JavaScript, not TypeScript that Node strips while it loads. */
function build(): void {
  const { status } = spawnSync('npm', ['run', 'build'], { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new Error('npm run build failed, its message is above')
}

async function startPeers(
  { hosts, fabric }: Readonly<Record<'hosts' | 'fabric', Tree>>,
  socketsOf: (port: number) => string,
  stops: (() => void)[],
): Promise<{ peers: Peer[]; seriesCounts: number[]; exporterCount: number }> {
  const start = async (
    name: string,
    program: string,
    args: readonly string[],
    how: StartOptions = {},
  ): Promise<Peer> => {
    const child = await startMeasured(program, args, how)
    stops.push(() => child.kill('SIGKILL'))
    return { name, pid: child.pid ?? 0, cpuPercent: [], residentBytes: 0 }
  }
  const agent = (name: string, port: number, roots: readonly string[]): Promise<Peer> => {
    const args = [MAIN, 'agent', '--log-level', 'warn', '--listen', `127.0.0.1:${port}`, ...roots]
    const env = { SONDE_SERVICE_SOCKETS_DIR: socketsOf(port) }
    return start(name, process.execPath, args, { env, ready: /ready on/ })
  }
  const roots = rootsOf(hosts)
  const [port, scrapedPort, exporterPort, fullPort] = [19_451, 19_452, 19_453, 19_454]
  const peers = [
    await start('bare Node', process.execPath, ['-e', 'setInterval(() => {}, 1 << 30)']),
    await agent('agent, not scraped', port, roots),
    await agent('agent, scraped every 15 s', scrapedPort, roots),
    await agent(EVERYTHING, fullPort, [...rootsOf(fabric), '--simulate']),
  ]
  const clientArgs = [...process.execArgv, CLIENT, socketsOf(fullPort)]
  const client = await startMeasured(process.execPath, clientArgs, { ready: /ready on/ })
  stops.push(() => client.kill('SIGKILL'))
  stops.push(scrapeEvery(SCRAPE_EVERY_MS, scrapedPort), scrapeEvery(SCRAPE_EVERY_MS, fullPort))
  let exporterCount = Number.NaN
  if (existsSync(EXPORTER)) {
    const args = [
      `--web.listen-address=127.0.0.1:${exporterPort}`,
      ...roots,
      '--collector.disable-defaults',
      ...COLLECTORS,
    ]
    peers.push(
      await start('node_exporter, scraped every second', EXPORTER, args, {
        ready: /Listening on|msg="TLS is disabled/,
      }),
    )
    stops.push(scrapeEvery(SAMPLE_EVERY_MS, exporterPort))
    exporterCount = await samplesOf(exporterPort)
  }
  return { peers, seriesCounts: await Promise.all([port, fullPort].map(seriesCountOf)), exporterCount }
}

function rootsOf({ procfs, sysfs }: Tree): string[] {
  return [`--path.procfs=${procfs}`, `--path.sysfs=${sysfs}`]
}

async function seriesCountOf(port: number): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/node`)
  const { seriesCount } = (await answer.json()) as { seriesCount: number }
  return seriesCount
}

/** Number of samples in a scrape. */
async function samplesOf(port: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  return text.split('\n').filter((line) => /^[a-z]/.test(line)).length
}

/** The child process in which an agent asks network drivers; of all agents one each. */
function childPeersOf(peers: readonly Peer[]): Peer[] {
  return peers.flatMap(({ name, pid }) =>
    childrenOf(pid).map((child) => ({ name: `child of ${name}`, pid: child, cpuPercent: [], residentBytes: 0 })),
  )
}

async function measureWindow(peers: readonly Peer[]): Promise<void> {
  const before = peers.map(({ pid }) => usedBy(pid).cpuSeconds)
  const startedMs = performance.now()
  await pause(WINDOW_MS)
  const seconds = (performance.now() - startedMs) / 1000
  peers.forEach((peer, at) => {
    const { cpuSeconds, residentBytes } = usedBy(peer.pid)
    peer.cpuPercent.push(((cpuSeconds - (before[at] ?? 0)) / seconds) * 100)
    peer.residentBytes = Math.max(peer.residentBytes, residentBytes)
  })
}

function figuresOf(peers: readonly Peer[]): Figure[] {
  const resident = peers.map(({ name, residentBytes }) => ({
    name: `resident: ${name}`,
    value: residentBytes / 1e6,
    unit: 'MB',
    ...gateOf(residentBytes / 1e6, limitsOf(name)?.residentMb),
  }))
  const cpu = peers.map(({ name, cpuPercent }) => ({
    name: `processor: ${name}`,
    value: median(cpuPercent),
    unit: '% of a core',
  }))
  return [...resident, ...cpu, ...ratiosOf(peers)]
}

function limitsOf(name: string): (typeof LIMITS)[number] | undefined {
  return LIMITS.find((limits) => name.startsWith(limits.name))
}

function gateOf(value: number, limit: number | undefined): Pick<Figure, 'gate'> {
  return limit === undefined ? {} : { gate: atMost(value, limit) }
}

/**
 * Processor time of each agent and child against that of the exporter in the same window, both reading once a second.
 */
function ratiosOf(peers: readonly Peer[]): Figure[] {
  const exporter = peers.find(({ name }) => name.startsWith('node_exporter'))
  if (exporter === undefined) return []
  return peers.flatMap(({ name, cpuPercent }) => {
    const limits = limitsOf(name)
    if (limits === undefined) return []
    const ratio = ratioOf(cpuPercent, exporter)
    const gate = gateOf(ratio, limits.exporters)
    return [{ name: `processor against node_exporter: ${name}`, value: ratio, unit: 'x', ...gate }]
  })
}

function ratioOf(cpuPercent: readonly number[], exporter: Peer): number {
  return median(cpuPercent.map((percent, round) => percent / (exporter.cpuPercent[round] ?? Number.NaN)))
}

/**
 * The same for each series.
 *
 * @param seriesRatio Series of the agent with everything on, against those of the exporter.
 */
function perSeriesFigures(peers: readonly Peer[], seriesRatio: number): Figure[] {
  const [agent, child, exporter] = [EVERYTHING, `child of ${EVERYTHING}`, 'node_exporter'].map((start) =>
    peers.find(({ name }) => name.startsWith(start)),
  )
  if (agent === undefined || exporter === undefined) return []
  const together = agent.cpuPercent.map((percent, round) => percent + (child?.cpuPercent[round] ?? 0))
  const ratio = ratioOf(together, exporter) / seriesRatio
  const name = 'processor for each series against node_exporter: agent, everything on, with its child'
  return [{ name, value: ratio, unit: 'x', gate: atMost(ratio, LIMIT_PER_SERIES) }]
}

function linesOf([seriesCount, fullCount]: readonly number[], exporterCount: number, peers: readonly Peer[]): string[] {
  const worst = peers.map(({ name, cpuPercent }) => `${name} ${Math.max(...cpuPercent).toFixed(2)} %`)
  return [
    `${INTERFACE_COUNT} interfaces and the host, ${seriesCount} series, every counter changed and read each second. All programs run side by`,
    `side; processor time is user and kernel time of windows of ${WINDOW_MS / 1000} s, the median of them; memory is the largest seen at their ends.`,
    'node_exporter reads when it is scraped, so it is scraped as often as the agent reads, with the collectors that read the same files: ' +
      `${exporterCount} series.`,
    `Everything on: PCIe and RDMA of a node of eight GPUs beside it, a simulated one besides, and an application that reports 1 000 records a second over IPC, ${fullCount} series.`,
    `Worst window: ${worst.join(', ')}.`,
  ]
}

function scrapeEvery(periodMs: number, port: number): () => void {
  return every(periodMs, () => {
    void fetch(`http://127.0.0.1:${port}/metrics`).then((answer) => answer.arrayBuffer())
  })
}

function every(periodMs: number, work: () => void): () => void {
  const timer = setInterval(work, periodMs)
  return () => clearInterval(timer)
}

function pause(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs))
}
