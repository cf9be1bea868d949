// What an agent costs that does nothing but its work: memory and processor time, beside bare Node and Debian's node_exporter.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { atMost, type BenchResult, type Figure, median } from '../bench.ts'
import { childrenOf, type Measured, startMeasured } from './process.ts'
import { INTERFACE_COUNT, type Tree, writeTree } from './tree.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const MAIN = join(ROOT, 'packages/cli/dist/main.js')
const EXPORTER = '/usr/bin/prometheus-node-exporter'
/** Those that read what the agent reads. */
const COLLECTORS = ['cpu', 'loadavg', 'meminfo', 'netclass', 'netdev', 'pressure', 'softnet', 'stat'].map(
  (name) => `--collector.${name}`,
)
const WINDOW_MS = 30_000
/** Two intervals of what an agent keeps in memory would be ten minutes; after one minute the rest grows by kilobytes. */
const WARM_UP_MS = 60_000
const SCRAPE_EVERY_MS = 15_000
const SAMPLE_EVERY_MS = 1_000
const RESIDENT_LIMIT_BYTES = 130e6
const CHILD_RESIDENT_LIMIT_BYTES = 80e6
const CPU_LIMIT_PERCENT = 1

interface Peer {
  readonly name: string
  readonly process: Measured
  readonly cpuPercent: number[]
  residentBytes: number
}

/** Runs all programs side by side over one tree, so that each window is the same seconds for all of them. */
export async function run({ rounds }: { readonly rounds: number }): Promise<BenchResult> {
  build()
  const root = mkdtempSync(join(tmpdir(), 'sonde-idle-'))
  const stops: (() => void)[] = [() => rmSync(root, { recursive: true, force: true })]
  try {
    const tree = writeTree(root)
    stops.push(every(SAMPLE_EVERY_MS, tree.step))
    const { peers, seriesCount } = await startPeers(tree, stops)
    await pause(WARM_UP_MS)
    peers.push(...childPeersOf(peers))
    for (let round = 0; round < rounds; round++) await measureWindow(peers)
    return { figures: figuresOf(peers), lines: linesOf(seriesCount, peers) }
  } finally {
    for (const stop of stops.reverse()) stop()
  }
}

/** The command is measured as it is published: JavaScript, not TypeScript that Node strips while it loads. */
function build(): void {
  const { status } = spawnSync('npm', ['run', 'build'], { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new Error('npm run build failed, its message is above')
}

async function startPeers(tree: Tree, stops: (() => void)[]): Promise<{ peers: Peer[]; seriesCount: number }> {
  const start = async (name: string, program: string, args: readonly string[], ready?: RegExp): Promise<Peer> => {
    const { child, process } = await startMeasured(program, args, ready)
    stops.push(() => child.kill('SIGKILL'))
    return { name, process, cpuPercent: [], residentBytes: 0 }
  }
  const agent = (name: string, port: number): Promise<Peer> =>
    start(
      name,
      process.execPath,
      [MAIN, 'agent', '--log-level', 'warn', '--listen', `127.0.0.1:${port}`, ...roots],
      /ready on/,
    )
  const roots = [`--path.procfs=${tree.procfs}`, `--path.sysfs=${tree.sysfs}`]
  const [port, scrapedPort, exporterPort] = [19_451, 19_452, 19_453]
  const peers = [
    await start('bare Node', process.execPath, ['-e', 'setInterval(() => {}, 1 << 30)']),
    await agent('agent, not scraped', port),
    await agent('agent, scraped every 15 s', scrapedPort),
  ]
  stops.push(scrapeEvery(SCRAPE_EVERY_MS, scrapedPort))
  if (existsSync(EXPORTER)) {
    const args = [
      `--web.listen-address=127.0.0.1:${exporterPort}`,
      ...roots,
      '--collector.disable-defaults',
      ...COLLECTORS,
    ]
    peers.push(await start('node_exporter, scraped every second', EXPORTER, args, /Listening on|msg="TLS is disabled/))
    stops.push(scrapeEvery(SAMPLE_EVERY_MS, exporterPort))
  }
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/node`)
  const { seriesCount } = (await answer.json()) as { seriesCount: number }
  return { peers, seriesCount }
}

/** The child process in which an agent asks network drivers; of all agents one each. */
function childPeersOf(peers: readonly Peer[]): Peer[] {
  return peers.flatMap(({ name, process }) =>
    childrenOf(process).map((child) => ({
      name: `child of ${name}`,
      process: child,
      cpuPercent: [],
      residentBytes: 0,
    })),
  )
}

async function measureWindow(peers: readonly Peer[]): Promise<void> {
  const before = peers.map(({ process }) => process.cpuSeconds())
  const startedMs = performance.now()
  await pause(WINDOW_MS)
  const seconds = (performance.now() - startedMs) / 1000
  peers.forEach((peer, at) => {
    peer.cpuPercent.push(((peer.process.cpuSeconds() - (before[at] ?? 0)) / seconds) * 100)
    peer.residentBytes = Math.max(peer.residentBytes, peer.process.residentBytes())
  })
}

function figuresOf(peers: readonly Peer[]): Figure[] {
  const resident = peers.map(({ name, residentBytes }) => ({
    name: `resident: ${name}`,
    value: residentBytes / 1e6,
    unit: 'MB',
    ...gateOf(name, residentBytes / 1e6, {
      agent: RESIDENT_LIMIT_BYTES / 1e6,
      child: CHILD_RESIDENT_LIMIT_BYTES / 1e6,
    }),
  }))
  const cpu = peers.map(({ name, cpuPercent }) => ({
    name: `processor: ${name}`,
    value: median(cpuPercent),
    unit: '% of a core',
    ...gateOf(name, median(cpuPercent), { agent: CPU_LIMIT_PERCENT, child: CPU_LIMIT_PERCENT }),
  }))
  return [...resident, ...cpu, ...ratioOf(peers)]
}

function gateOf(
  name: string,
  value: number,
  limits: Readonly<Record<'agent' | 'child', number>>,
): Pick<Figure, 'gate'> {
  if (name.startsWith('agent')) return { gate: atMost(value, limits.agent) }
  return name.startsWith('child') ? { gate: atMost(value, limits.child) } : {}
}

/** How often the processor time of an agent goes into that of the exporter, both reading once a second. */
function ratioOf(peers: readonly Peer[]): Figure[] {
  const [, agent, , exporter] = peers
  if (agent === undefined || exporter === undefined) return []
  const ratios = exporter.cpuPercent.map((percent, round) => percent / (agent.cpuPercent[round] ?? Number.NaN))
  return [{ name: 'processor: node_exporter over agent, both reading every second', value: median(ratios), unit: 'x' }]
}

function linesOf(seriesCount: number, peers: readonly Peer[]): string[] {
  const worst = peers.map(({ name, cpuPercent }) => `${name} ${Math.max(...cpuPercent).toFixed(2)} %`)
  return [
    `${INTERFACE_COUNT} interfaces and the host, ${seriesCount} series, every counter changed and read each second. All programs run side by`,
    `side; processor time is user and kernel time of windows of ${WINDOW_MS / 1000} s, the median of them; memory is the largest seen at their ends.`,
    'node_exporter reads when it is scraped, so it is scraped as often as the agent reads, with the collectors that read the same files.',
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
