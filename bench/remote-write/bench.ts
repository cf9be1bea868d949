// What a sample costs on its way into VictoriaMetrics, beside vmagent, which scrapes the same series and pushes them.
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createPrometheus, metricsHandler } from '@sonde/sdk'
import { atLeast, atMost, type BenchResult, type Figure, median } from '../bench.ts'
import { SERIES, sweeps } from './records.ts'

/** Sweeps of Sonde in a turn. */
const SWEEPS = 12
/** A turn of vmagent, which scrapes each second. Unit: milliseconds. */
const WINDOW_MS = 12_000
const WARM_ROUNDS = 1
const LIMIT_MS = 60_000
const QUIET_MS = 1000
const SENDER = fileURLToPath(new URL('sender-main.ts', import.meta.url))
const NAMES = ['Sonde', 'Sonde with its queue on disk', 'vmagent'] as const
type Name = (typeof NAMES)[number]

/** What a turn took. */
interface Turn {
  readonly samples: number
  readonly cpuUs: number
  /** Bytes of requests, with their headers. */
  readonly bytes: number
}

/** Runs the turns one after the other in each round; see the README beside. */
export async function run({ rounds }: { readonly rounds: number }): Promise<BenchResult> {
  const dir = mkdtempSync(join(tmpdir(), 'sonde-bench-remote-write-'))
  const stops: (() => unknown)[] = [() => rmSync(dir, { recursive: true, force: true })]
  try {
    const victoria = await startVictoria(dir, stops)
    const way = await startWay(victoria, stops)
    const target = await startTarget(stops)
    const senders = new Map<Name, ChildProcess>()
    for (const [name, ...more] of [['Sonde'], ['Sonde with its queue on disk', join(dir, 'queue')]] as const) {
      const labels = JSON.stringify({ job: `sonde${senders.size}`, instance: `127.0.0.1:${target}` })
      const args = [`http://127.0.0.1:${way.port}/api/v1/write`, labels, ...more]
      const child = fork(SENDER, args, { execArgv: ['--conditions=source'] })
      stops.push(() => child.kill())
      await once(child, 'message')
      senders.set(name, child)
    }
    const measured: Record<Name, Turn>[] = []
    for (let round = -WARM_ROUNDS; round < rounds; round++) {
      const turns: Partial<Record<Name, Turn>> = {}
      for (const [name, child] of senders) turns[name] = await turnOfSonde(child, victoria, way)
      turns.vmagent = await turnOfVmagent(dir, target, victoria, way)
      if (round >= 0) measured.push(turns as Record<Name, Turn>)
    }
    return resultOf(measured)
  } finally {
    for (const stop of stops.reverse()) await stop()
  }
}

async function turnOfSonde(child: ChildProcess, victoria: number, way: Way): Promise<Turn> {
  const before = await settledIn(victoria)
  way.bytes = 0
  child.send(SWEEPS)
  const [cpuUs] = (await once(child, 'message')) as [number]
  const samples = SWEEPS * SERIES
  await reached('VictoriaMetrics has what Sonde sent', async () => (await insertedIn(victoria)) - before === samples)
  return { samples, cpuUs, bytes: way.bytes }
}

/** vmagent is measured between two moments at which everything that it scraped has arrived. */
async function turnOfVmagent(dir: string, target: number, victoria: number, way: Way): Promise<Turn> {
  const config = join(dir, 'scrapes.yml')
  const scrape = { job_name: 'vmagt0', static_configs: [{ targets: [`127.0.0.1:${target}`] }] }
  writeFileSync(config, JSON.stringify({ global: { scrape_interval: '1s' }, scrape_configs: [scrape] }))
  const port = await freePort()
  const before = await settledIn(victoria)
  const agent = spawn(
    'vmagent',
    [
      `-promscrape.config=${config}`,
      `-remoteWrite.url=http://127.0.0.1:${way.port}/api/v1/write`,
      `-remoteWrite.tmpDataPath=${dir}/vmagent`,
      `-httpListenAddr=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  )
  const pid = agent.pid ?? 0
  const scraped = () => metricIn(port, 'vm_promscrape_scraped_samples_sum')
  const scrapes = () => metricIn(port, 'vm_promscrape_scraped_samples_count')
  /** Beside its samples a scrape has samples of vmagent itself. */
  const settled = async () => {
    const [samples, inserted, count] = [await scraped(), (await insertedIn(victoria)) - before, await scrapes()]
    const more = (inserted - samples) / count
    return count > 2 && samples / count === SERIES && Number.isInteger(more) && more >= 0 && more < 20
      ? inserted
      : undefined
  }
  try {
    const from = await reached('vmagent has sent its first scrapes', settled)
    const cpuFrom = cpuUsOf(pid)
    way.bytes = 0
    await new Promise((resolve) => setTimeout(resolve, WINDOW_MS))
    const to = await reached('vmagent has sent what it scraped', settled)
    return { samples: to - from, cpuUs: cpuUsOf(pid) - cpuFrom, bytes: way.bytes }
  } finally {
    const ended = once(agent, 'close')
    agent.kill('SIGKILL')
    await ended
    rmSync(`${dir}/vmagent`, { recursive: true, force: true })
  }
}

/** Processor time of all threads of a process. Unit: microseconds. */
function cpuUsOf(pid: number): number {
  const tasks = readdirSync(`/proc/${pid}/task`)
  return tasks.reduce((sum, task) => {
    const [ns = '0'] = readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')
    return sum + Number(ns) / 1000
  }, 0)
}

interface Way {
  readonly port: number
  bytes: number
}

/** Passes requests on, and counts their bytes. */
async function startWay(to: number, stops: (() => unknown)[]): Promise<Way> {
  const way = { port: 0, bytes: 0 }
  const server = createServer((socket) => {
    const peer = connect(to, '127.0.0.1')
    socket.on('data', (bytes) => {
      way.bytes += bytes.length
    })
    socket.pipe(peer).pipe(socket)
    for (const each of [socket, peer]) each.on('error', () => undefined)
  })
  way.port = await listen(server)
  stops.push(() => server.close())
  return way
}

/** The series of the senders, as a page that changes each second. */
async function startTarget(stops: (() => unknown)[]): Promise<number> {
  const view = createPrometheus()
  const next = sweeps()
  const step = () => view.accept(next())
  step()
  const timer = setInterval(step, 1000)
  const server = createHttpServer(metricsHandler(view))
  stops.push(() => {
    clearInterval(timer)
    server.closeAllConnections()
    server.close()
  })
  return listen(server)
}

async function startVictoria(dir: string, stops: (() => unknown)[]): Promise<number> {
  const port = await freePort()
  const flags = [`-httpListenAddr=127.0.0.1:${port}`, `-storageDataPath=${dir}/victoria`]
  const child = spawn('victoria-metrics', flags, { stdio: 'ignore' })
  stops.push(async () => {
    const ended = once(child, 'close')
    child.kill('SIGKILL')
    await ended
  })
  await reached('VictoriaMetrics to listen', async () =>
    fetch(`http://127.0.0.1:${port}/health`).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  return port
}

/** Samples that VictoriaMetrics took by remote write. */
function insertedIn(port: number): Promise<number> {
  return metricIn(port, 'vm_rows_inserted_total{type="promremotewrite"}')
}

/** The same once nothing more comes: the last requests of a vmagent that was ended may still be under way. */
async function settledIn(port: number): Promise<number> {
  let known = -1
  return reached('VictoriaMetrics to be at rest', async () => {
    const before = known
    known = await insertedIn(port)
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS))
    return known === before ? known : undefined
  })
}

async function metricIn(port: number, name: string): Promise<number> {
  const page = await fetch(`http://127.0.0.1:${port}/metrics`).then(
    (answer) => answer.text(),
    () => '',
  )
  const line = page.split('\n').find((each) => each.startsWith(`${name} `))
  return Number(line?.slice(name.length + 1) ?? 0)
}

async function reached<T>(what: string, read: () => Promise<T | false | undefined>): Promise<T> {
  const endMs = performance.now() + LIMIT_MS
  for (;;) {
    const found = await read()
    if (found !== false && found !== undefined) return found
    if (performance.now() > endMs) throw new Error(`waited in vain: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  const port = await listen(server)
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

function resultOf(measured: readonly Record<Name, Turn>[]): BenchResult {
  const perSecond = ({ samples, cpuUs }: Turn) => (samples / cpuUs) * 1e6
  const bytesOf = ({ samples, bytes }: Turn) => bytes / samples
  const medianOf = (value: (turns: Record<Name, Turn>) => number) => median(measured.map(value))
  const ratio = (name: Name) => medianOf((turns) => perSecond(turns[name]) / perSecond(turns.vmagent))
  const bytes = medianOf((turns) => bytesOf(turns.Sonde) / bytesOf(turns.vmagent))
  const figures: Figure[] = [
    ...NAMES.map((name) => ({
      name: `${name}: samples`,
      value: medianOf((turns) => perSecond(turns[name])),
      unit: 'a processor second',
    })),
    { name: 'Sonde against vmagent', value: ratio('Sonde'), unit: 'x', gate: atLeast(ratio('Sonde'), 0.4) },
    {
      name: 'Sonde with its queue on disk against vmagent',
      value: ratio('Sonde with its queue on disk'),
      unit: 'x',
    },
    ...(['Sonde', 'vmagent'] as const).map((name) => ({
      name: `${name}: size`,
      value: medianOf((turns) => bytesOf(turns[name])),
      unit: 'bytes a sample',
    })),
    { name: 'bytes of Sonde against vmagent', value: bytes, unit: 'x', gate: atMost(bytes, 1) },
  ]
  const spread = measured.map((turns) => (perSecond(turns.Sonde) / perSecond(turns.vmagent)).toFixed(2)).join(', ')
  return { figures, lines: [`Ratios of the rounds: ${spread}. ${SERIES} series a sweep, ${SWEEPS} sweeps a turn.`] }
}
