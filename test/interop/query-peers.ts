import { execFileSync, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { temporaryDir, until } from '../sonde-process.ts'
import { launchPrometheus } from './prometheus-peer.ts'

const START_LIMIT_MS = 120_000

/** A sample of a peer. */
export interface PeerSample {
  readonly metric: string
  readonly labels: Readonly<Record<string, string>>
  readonly timeMs: number
  readonly value: number
}

/** Starts Debian's Prometheus over samples of the past, and gives its address; it ends with the test. */
export async function startBackfilled(
  t: Pick<TestContext, 'after'>,
  samples: readonly PeerSample[],
  more: readonly string[] = [],
): Promise<string> {
  const dir = temporaryDir()
  const [file, config, tsdb] = ['samples', 'prometheus.yml', 'tsdb'].map((name) => join(dir.path, name)) as [
    string,
    string,
    string,
  ]
  writeFileSync(file, `${linesOf(samples, 1000)}# EOF\n`)
  writeFileSync(config, '{}')
  execFileSync('promtool', ['tsdb', 'create-blocks-from', 'openmetrics', file, tsdb], { stdio: 'pipe' })
  const flags = [`--config.file=${config}`, `--storage.tsdb.path=${tsdb}`, '--storage.tsdb.retention.time=10y', ...more]
  return (await launchPrometheus(t, flags, dir)).url
}

/** Starts Debian's VictoriaMetrics over samples of the past, and gives its address; it ends with the test. */
export async function startVictoria(t: Pick<TestContext, 'after'>, samples: readonly PeerSample[]): Promise<string> {
  const url = await launchVictoria(t, [], temporaryDir())
  const answer = await fetch(`${url}/api/v1/import/prometheus`, { method: 'POST', body: linesOf(samples, 1) })
  if (!answer.ok) throw new Error(`VictoriaMetrics takes no samples: ${answer.status}`)
  await fetch(`${url}/internal/force_flush`)
  return url
}

/** Starts Debian's VictoriaMetrics with these flags; it ends with the test, and its folder with it. */
export async function launchVictoria(
  t: Pick<TestContext, 'after'>,
  more: readonly string[],
  dir: { readonly path: string; remove(): void },
): Promise<string> {
  const port = await freePort()
  const flags = [`-httpListenAddr=127.0.0.1:${port}`, `-storageDataPath=${dir.path}/data`, '-retentionPeriod=10y']
  const child = spawn('victoria-metrics', [...flags, ...more], { stdio: ['ignore', 'ignore', 'ignore'] })
  const ended = new Promise((resolve) => child.once('close', resolve))
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
    dir.remove()
  })
  const url = `http://127.0.0.1:${port}`
  await until('VictoriaMetrics to listen', START_LIMIT_MS, () =>
    fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  return url
}

/** A series as VictoriaMetrics exports it. */
export interface StoredSeries {
  readonly metric: Readonly<Record<string, string>>
  readonly values: readonly number[]
  /** Unit: milliseconds. */
  readonly timestamps: readonly number[]
}

/** Every sample of a VictoriaMetrics of the series that a selector names. */
export async function storedIn(url: string, selector: string): Promise<readonly StoredSeries[]> {
  await fetch(`${url}/internal/force_flush`)
  const text = await (await fetch(`${url}/api/v1/export?match[]=${encodeURIComponent(selector)}`)).text()
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as StoredSeries)
}

/** A port that was free a moment ago, for a peer that cannot say which one it took. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Times are written in milliseconds divided by `unitMs`. */
function linesOf(samples: readonly PeerSample[], unitMs: number): string {
  return samples
    .map(({ metric, labels, timeMs, value }) => {
      const pairs = Object.entries(labels).map(([name, text]) => `${name}=${JSON.stringify(text)}`)
      return `${metric}{${pairs.join(',')}} ${value} ${timeMs / unitMs}\n`
    })
    .join('')
}
