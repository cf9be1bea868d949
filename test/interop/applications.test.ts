import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { needs } from '../debian.ts'
import { startSonde, temporaryDir, until } from '../sonde-process.ts'
import { type PrometheusPeer, startPrometheus } from './prometheus-peer.ts'

const LIMIT_MS = 30_000
const EXAMPLES = fileURLToPath(new URL('../../examples/', import.meta.url))

/** Runs an example until the test ends; answers the first line that it prints. */
async function runExample(t: TestContext, name: string, args: readonly string[] = []): Promise<string> {
  const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning']
  const child = spawn(process.execPath, [...flags, `${EXAMPLES}${name}`, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, PORT: '0' },
  })
  t.after(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  return String(line)
}

/** The values of an expression now, by the text of the labels that matter. */
async function valuesOf(peer: PrometheusPeer, query: string, label: string): Promise<Record<string, number>> {
  const answer = (await peer.api(`query?query=${encodeURIComponent(query)}`)) as {
    result: { metric: Record<string, string>; value: [number, string] }[]
  }
  return Object.fromEntries(answer.result.map(({ metric, value }) => [metric[label] ?? '', Number(value[1])]))
}

test(
  'Prometheus scrapes what an application hands to the agent, and computes its rate',
  needs('prometheus'),
  async (t) => {
    const { path, remove } = temporaryDir()
    t.after(remove)
    const env = { SONDE_SERVICE_ENABLED: 'true', SONDE_SERVICE_SOCKETS_DIR: path }
    const agent = await startSonde(['agent', '--log-level', 'error'], { env })
    t.after(() => agent.stop())
    await runExample(t, 'app-over-ipc.ts', [path])
    const peer = await startPrometheus(t, new URL(agent.address).host, 1)
    const rate = await until('a rate of loaves', LIMIT_MS, async () => {
      const { rye } = await valuesOf(peer, 'rate(loaves_total{bakery="north"}[5s])', 'kind')
      return rye !== undefined && rye > 0 ? rye : undefined
    })
    assert.ok(rate < 20, `two loaves a second, not ${rate}`)
    const { left } = await valuesOf(peer, 'oven_temperature_celsius{bakery="north"}', 'name')
    assert.ok(left !== undefined && left > 180, `${left} degrees`)
  },
)

test(
  'Prometheus scrapes the metrics API: types, exact totals as near as it can, and quantiles',
  needs('prometheus'),
  async (t) => {
    const address = await runExample(t, 'metrics-api.ts')
    const peer = await startPrometheus(t, new URL(address).host, 1)
    await until('a scrape', LIMIT_MS, async () => 'a' in (await valuesOf(peer, 'sent_bytes_total', 'pool')))
    assert.deepEqual(await valuesOf(peer, 'sent_bytes_total', 'pool'), { a: 2 ** 64 })
    assert.deepEqual(await valuesOf(peer, 'jobs_total{queue="letters"}', 'pool'), { a: 1000, b: 5 })
    const median = await valuesOf(peer, 'histogram_quantile(0.5, job_duration_seconds_bucket)', 'queue')
    assert.deepEqual(median, { letters: 1 })
    const mean = await valuesOf(peer, 'job_duration_seconds_sum / job_duration_seconds_count', 'queue')
    assert.ok(Math.abs((mean.letters ?? 0) - 1.001) < 1e-9)
    const metadata = (await peer.api('metadata')) as Record<string, { type: string }[]>
    const typeOf = (metric: string) => metadata[metric]?.[0]?.type
    assert.deepEqual(
      [typeOf('job_duration_seconds'), typeOf('jobs_waiting'), typeOf('jobs_total') ?? typeOf('jobs')],
      ['histogram', 'gauge', 'counter'],
    )
  },
)
