import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { temporaryDir, until } from '../sonde-process.ts'

const START_LIMIT_MS = 120_000

/** A series as Prometheus answers with it: `values` of a range are seconds and text. */
export interface PeerSeries {
  readonly metric: Readonly<Record<string, string>>
  readonly values: readonly (readonly [seconds: number, value: string])[]
}

/** A Prometheus that scrapes one target with nothing set but the interval, and paths where they are given. */
export interface PrometheusPeer {
  /** A range query such as `up[1m]`. */
  range(query: string): Promise<readonly PeerSeries[]>
  /** What is under `data` in the answer of a route below `/api/v1/`. */
  api(path: string): Promise<unknown>
  /** The value of one of Prometheus's own metrics without labels. */
  own(metric: string): Promise<number>
  readonly address: string
  /** Everything it logged so far. */
  log(): string
}

/** Further settings of all jobs of a {@link PrometheusPeer}. */
export interface PeerJobs {
  readonly honorLabels?: boolean
  /** Labels that the target itself has, as discovery in a cluster gives them. */
  readonly labels?: Readonly<Record<string, string>>
}

/** Alerts of a {@link PrometheusPeer}. */
export interface PeerAlerts {
  readonly ruleFiles: readonly string[]
  /** `host:port` of the Alertmanager. */
  readonly alertmanager: string
  /** A file of further targets, which Prometheus reads again when it changes. Their job is `sonde_later`. */
  readonly laterTargets: string
}

/** Starts Debian's Prometheus on a free port; it ends with the test. `paths` are those of its jobs, by their names. */
export async function startPrometheus(
  t: Pick<TestContext, 'after'>,
  target: string,
  intervalS: number,
  paths: Readonly<Record<string, string>> = { sonde: '/metrics' },
  { honorLabels, labels }: PeerJobs = {},
  alerts?: PeerAlerts,
): Promise<PrometheusPeer> {
  const dir = temporaryDir()
  const config = join(dir.path, 'prometheus.yml')
  const jobs: object[] = Object.entries(paths).map(([job_name, metrics_path]) => {
    const honor = honorLabels === undefined ? {} : { honor_labels: honorLabels }
    return { job_name, metrics_path, ...honor, static_configs: [{ targets: [target], ...(labels && { labels }) }] }
  })
  const alerting = alerts && {
    rule_files: alerts.ruleFiles,
    alerting: { alertmanagers: [{ static_configs: [{ targets: [alerts.alertmanager] }] }] },
  }
  if (alerts !== undefined) jobs.push({ job_name: 'sonde_later', file_sd_configs: [{ files: [alerts.laterTargets] }] })
  const global = { scrape_interval: `${intervalS}s`, evaluation_interval: `${intervalS}s` }
  // JSON is YAML too.
  writeFileSync(config, JSON.stringify({ global, ...alerting, scrape_configs: jobs }))
  const flags = [`--config.file=${config}`, `--storage.tsdb.path=${dir.path}/tsdb`, '--log.level=debug']
  const { url, log } = await launchPrometheus(t, flags, dir)
  const api = async (path: string) => {
    const answer = (await (await fetch(`${url}/api/v1/${path}`)).json()) as { data: unknown }
    return answer.data
  }
  return {
    api,
    range: async (query) => {
      const { result } = (await api(`query?query=${encodeURIComponent(query)}`)) as { result: PeerSeries[] }
      return result
    },
    own: async (metric) => {
      const page = await (await fetch(`${url}/metrics`)).text()
      return Number(new RegExp(`^${metric} (\\S+)$`, 'm').exec(page)?.[1])
    },
    address: url,
    log,
  }
}

/** Starts Debian's Prometheus on a free port with these flags; it ends with the test, and its folder with it. */
export async function launchPrometheus(
  t: Pick<TestContext, 'after'>,
  flags: readonly string[],
  dir: { remove(): void },
): Promise<{ readonly url: string; log(): string }> {
  const child = spawn('prometheus', ['--web.listen-address=127.0.0.1:0', ...flags], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  child.stderr.on('data', (chunk: Buffer) => {
    log += chunk.toString()
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
    dir.remove()
  })
  const url = await until('Prometheus to listen', START_LIMIT_MS, () => {
    if (child.exitCode !== null) throw new Error(`Prometheus ended with ${child.exitCode}:\n${log}`)
    const host = /"Listening on" address=(\S+)/.exec(log)?.[1]
    return host === undefined ? undefined : `http://${host}`
  })
  await until('Prometheus to be ready', START_LIMIT_MS, async () => (await fetch(`${url}/-/ready`)).ok)
  return { url, log: () => log }
}
