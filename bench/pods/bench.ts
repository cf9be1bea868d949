// What the source of pods costs: the child that asks kubelet and API server, beside Debian's node_exporter.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { ApiServerDouble, apiPod } from '../../test/doubles/api-server/api-server-double.ts'
import { KubeletDouble, podWith } from '../../test/doubles/kubelet/kubelet-double.ts'
import { atMost, type BenchResult, median } from '../bench.ts'
import { childrenOf, startMeasured, usedBy } from '../idle/process.ts'
import { writeTree } from '../idle/tree.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const MAIN = join(ROOT, 'packages/cli/dist/main.js')
const EXPORTER = '/usr/bin/prometheus-node-exporter'
/** The collectors with which `bench/idle` compares. */
const COLLECTORS = ['cpu', 'loadavg', 'meminfo', 'netclass', 'netdev', 'pressure', 'softnet', 'stat'].map(
  (name) => `--collector.${name}`,
)
const [PORT, EXPORTER_PORT] = [19_461, 19_462]
const POD_COUNT = 100
const INTERVAL_MS = 10_000
const WINDOW_MS = 30_000
const WARM_UP_MS = 60_000
/** Limits of the child: megabytes, and processor time as a multiple of node_exporter in the same seconds. */
const RESIDENT_MB = 95
const EXPORTERS = 0.2

/** Runs agent and node_exporter side by side, while pods come and go. */
export async function run({ rounds }: { readonly rounds: number }): Promise<BenchResult> {
  const { status } = spawnSync('npm', ['run', 'build'], { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new Error('npm run build failed, its message is above')
  const root = mkdtempSync(join(tmpdir(), 'sonde-pods-'))
  const ends: (() => unknown)[] = [() => rmSync(root, { recursive: true, force: true })]
  const owner = { after: (end: () => unknown) => void ends.push(end) }
  try {
    const child = await startAgent(root, owner)
    const exporter = await startExporter(root, ends)
    await pause(WARM_UP_MS)
    const ratios: number[] = []
    const percents: number[] = []
    let residentBytes = 0
    for (let round = 0; round < rounds; round++) {
      const before = [child, exporter].map((pid) => usedBy(pid).cpuSeconds)
      await pause(WINDOW_MS)
      const [ofChild = 0, ofExporter = 0] = [child, exporter].map(
        (pid, at) => usedBy(pid).cpuSeconds - (before[at] ?? 0),
      )
      ratios.push(ofChild / ofExporter)
      percents.push((ofChild / (WINDOW_MS / 1000)) * 100)
      residentBytes = Math.max(residentBytes, usedBy(child).residentBytes)
    }
    const [ratio, megabytes] = [median(ratios), residentBytes / 1e6]
    return {
      figures: [
        { name: 'resident: child of kubernetes', value: megabytes, unit: 'MB', gate: atMost(megabytes, RESIDENT_MB) },
        { name: 'processor: child of kubernetes', value: median(percents), unit: '% of a core' },
        { name: 'processor against node_exporter', value: ratio, unit: 'x', gate: atMost(ratio, EXPORTERS) },
      ],
      lines: [
        `${POD_COUNT} pods, of which one is replaced every ${INTERVAL_MS / 1000} s; kubelet and API server are doubles.`,
        `Windows of ${WINDOW_MS / 1000} s, the median of them; node_exporter is scraped every second, as in \`idle\`.`,
      ],
    }
  } finally {
    for (const end of ends.reverse()) await end()
  }
}

/** Gives the pid of the child of the agent. */
async function startAgent(root: string, owner: { after(end: () => unknown): void }): Promise<number> {
  const kubelet = await new KubeletDouble(owner).start()
  const api = await ApiServerDouble.start(owner as never)
  let first = 0
  const names = () => Array.from({ length: POD_COUNT }, (_, at) => `trainer-${first + at}`)
  const play = () => kubelet.pods(...names().map((name, at) => podWith(name, [`GPU-${at}`])))
  api.put(...names().map((name) => apiPod(name, { labels: { app: 'pretrain', service: 'worker' } })))
  play()
  const replacing = setInterval(() => {
    api.remove(`trainer-${first}`)
    first++
    api.put(apiPod(`trainer-${first + POD_COUNT - 1}`, { labels: { app: 'pretrain', service: 'worker' } }))
    play()
  }, INTERVAL_MS)
  owner.after(() => clearInterval(replacing))
  const source = { type: 'kubernetes', interval_ms: INTERVAL_MS, kubelet_socket: kubelet.socket, node_name: 'node-a' }
  const server = { api_server: api.address, api_token_file: '', api_ca_file: '' }
  const config = join(root, 'sonde.yaml')
  writeFileSync(config, JSON.stringify({ data_sources: [{ ...source, ...server }] }))
  const args = [MAIN, 'agent', '--log-level', 'warn', '--listen', `127.0.0.1:${PORT}`, '--config', config]
  const env = { SONDE_SERVICE_SOCKETS_DIR: join(root, 'sockets') }
  const agent = await startMeasured(process.execPath, args, { env, ready: /ready on/ })
  owner.after(() => agent.kill('SIGKILL'))
  for (;;) {
    const [child] = childrenOf(agent.pid ?? 0)
    if (child !== undefined) return child
    await pause(100)
  }
}

/** Gives the pid of node_exporter, which reads a tree whose counters change each second. */
async function startExporter(root: string, ends: (() => unknown)[]): Promise<number> {
  const { procfs, sysfs, step } = writeTree(join(root, 'hosts'))
  const flags = [`--path.procfs=${procfs}`, `--path.sysfs=${sysfs}`, '--collector.disable-defaults', ...COLLECTORS]
  const args = [`--web.listen-address=127.0.0.1:${EXPORTER_PORT}`, ...flags]
  const exporter = await startMeasured(EXPORTER, args, { ready: /Listening on|msg="TLS is disabled/ })
  const scraping = setInterval(() => {
    step()
    const scrape = fetch(`http://127.0.0.1:${EXPORTER_PORT}/metrics`).then((answer) => answer.arrayBuffer())
    // The last scrape may still run when the exporter is ended.
    scrape.catch(() => undefined)
  }, 1000)
  ends.push(
    () => exporter.kill('SIGKILL'),
    () => clearInterval(scraping),
  )
  return exporter.pid ?? 0
}
