// The configurations of deploy/prometheus, as docs/scale.md shows them: one agent that Prometheus scrapes, and that
// pushes to another Prometheus and to VictoriaMetrics. Each has the same recorded series.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { counter, createSchema, defineType, label, timestamp } from '@sonde/sdk'
import type { QueryResult } from '@sonde/sdk/internal'
import { parse } from 'yaml'
import { CLUSTER_SIGNALS, nodeLines, RAW_WINDOW_MS } from '../../packages/console/web/pages/nodes/cluster-signals.ts'
import { ask as askSonde } from '../ask.ts'
import { needs } from '../debian.ts'
import { startSonde, temporaryDir, until } from '../sonde-process.ts'
import { launchPrometheus } from './prometheus-peer.ts'
import { launchVictoria } from './query-peers.ts'

const LIMIT_MS = 60_000
const HOUR_NS = 3_600_000_000_000n
const FOLDER = fileURLToPath(new URL('../../deploy/prometheus/', import.meta.url))
/** The rules, with the rail and the app that they are evaluated for. */
const RULES = (
  parse(readFileSync(join(FOLDER, 'rules/cluster.yaml'), 'utf8')) as {
    groups: { rules: { record: string; expr: string }[] }[]
  }
).groups.flatMap(({ rules }) => rules)

/** A series of an answer, without the labels of the engine. */
interface Found {
  readonly labels: string
  readonly value: number
}

describe('deploy/prometheus', needs('prometheus', 'promtool', 'victoria-metrics', 'vmalert'), () => {
  const ends: (() => unknown)[] = []
  const t = { after: (end: () => unknown) => void ends.unshift(end) }
  const engines: Record<'scraping' | 'receiving' | 'victoria', string> = { scraping: '', receiving: '', victoria: '' }

  before(async () => {
    const { path: dir, remove } = temporaryDir()
    t.after(remove)
    cpSync(FOLDER, dir, { recursive: true })
    change(join(dir, 'rules/cluster.yaml'), /interval: 30s/g, 'interval: 1s')
    change(join(dir, 'receive.yml'), '30s', '1s')
    engines.receiving = await prometheus(dir, 'receive.yml', ['--web.enable-remote-write-receiver'])
    // The flags of the page.
    const flags = ['-dedup.minScrapeInterval=1ms', '-search.latencyOffset=0s']
    engines.victoria = await launchVictoria(t, flags, temporaryDir())
    const [push = {}] = parse(readFileSync(join(FOLDER, 'push.yaml'), 'utf8')).export.remote_write
    const pushes = [engines.receiving, engines.victoria].map((url, i) => {
      return { ...push, name: `push_${i}`, url: `${url}/api/v1/write`, interval_s: 1 }
    })
    const config = join(dir, 'sonde.yaml')
    writeFileSync(config, JSON.stringify({ store: { enabled: false }, export: { remote_write: pushes } }))
    const sonde = await startSonde(['agent', '--only-simulated', '--config', config], { env: { XDG_STATE_HOME: dir } })
    t.after(() => sonde.stop('SIGKILL'))
    change(join(dir, 'agents.yml'), '127.0.0.1:9394', new URL(sonde.address).host)
    change(join(dir, 'scrape.yml'), /(15|30)s/g, '1s')
    engines.scraping = await prometheus(dir, 'scrape.yml', [])
  })
  after(async () => {
    for (const end of ends) await end()
  })

  async function prometheus(dir: string, config: string, more: readonly string[]): Promise<string> {
    const flags = [`--config.file=${join(dir, config)}`, `--storage.tsdb.path=${join(dir, `${config}.tsdb`)}`, ...more]
    return (await launchPrometheus(t, flags, { remove: () => undefined })).url
  }

  it('promtool and vmalert accept the rules, and the tests of the rules pass', () => {
    const run = (...[command = '', ...args]: string[]) => execFileSync(command, args, { cwd: FOLDER, stdio: 'pipe' })
    run('promtool', 'check', 'rules', 'rules/cluster.yaml')
    run('promtool', 'test', 'rules', 'rules/tests/cluster.yaml')
    for (const config of ['scrape.yml', 'receive.yml']) run('promtool', 'check', 'config', config)
    run('vmalert', '-dryRun', '-rule=rules/*.yaml')
    const tests = readFileSync(join(FOLDER, 'rules/tests/cluster.yaml'), 'utf8')
    for (const { record } of RULES) assert.ok(tests.includes(`expr: '${record}'`), `${record} has a test`)
  })

  it('each rule has a value for the node, each rail and each app: by scrape, by push, and in VictoriaMetrics', async () => {
    for (const { record, expr } of RULES) {
      const found = await until(`all engines have ${record}`, LIMIT_MS, async () => {
        const answers = await Promise.all([
          ask(engines.scraping, record),
          ask(engines.receiving, record),
          ask(engines.victoria, expr),
        ])
        const [first = []] = answers
        return first.length > 0 && answers.every(({ length }) => length === first.length) ? answers : undefined
      })
      const labels = found.map((series) => series.map((one) => one.labels).sort())
      const expected = labels[0]?.length
      assert.equal(expected, { instance: 1, rail: 9, app: 1 }[record.split(':')[0] as 'app'], record)
      if (!record.startsWith('instance')) assert.deepEqual([labels[1], labels[2]], [labels[0], labels[0]], record)
      if (/gpus:/.test(record))
        assert.deepEqual(
          found.map(([one]) => one?.value),
          [8, 8, 8],
          record,
        )
    }
  })

  it('a console draws all nodes from recorded series and from raw ones', async () => {
    const page = await startSonde(['console', '--prometheus', engines.scraping, '--log-level', 'error'])
    t.after(() => page.stop('SIGKILL'))
    const toMs = Math.floor(Date.now() / 1000) * 1000
    for (const signal of CLUSTER_SIGNALS) {
      const [recorded = [], raw = []] = [RAW_WINDOW_MS + 1, RAW_WINDOW_MS].map((windowMs) =>
        nodeLines(signal, windowMs, () => true).map(({ query }) => query),
      )
      const form = { fromMs: toMs - 10_000, toMs, stepMs: 1000, queries: [...recorded, ...raw] }
      const { results } = await askSonde<{ results: QueryResult[] }>(page, '/api/v1/query', form)
      const counts = results.map(({ series }) => series.length)
      assert.deepEqual(counts, [1, 1, 1, 1, 1, 1], signal.recorded)
    }
  })

  it('an application that was cut off for five hours delivers what it has kept', async () => {
    const urls = [engines.receiving, engines.victoria]
    const exports = urls.map((url) => ({ url: `${url}/api/v1/write` }))
    const schema = createSchema({ name: 'late', export: { remoteWrite: exports } })
    const late = defineType('late', 'Late', { time: timestamp(), device: label(), records_total: counter('u64') })
    schema.addType(late)
    await schema.start()
    const startNs = BigInt(Date.now()) * 1_000_000n - 5n * HOUR_NS
    const source = schema.createSource({ id: 'late', tag: 'late' })
    for (let i = 0; i < 100; i++)
      source.report(late, { time: startNs + BigInt(i) * 15_000_000_000n, device: 'a', records_total: i })
    await schema.flush()
    for (const url of urls)
      await until('all samples are there', LIMIT_MS, async () => {
        const [count] = await ask(url, 'count_over_time(late_records_total[6h])')
        return count?.value === 100
      })
    assert.deepEqual(
      schema.status().sinks.map(({ stats }) => Object.values(stats.dropped)),
      [[], []],
    )
    await schema.close()
  })
})

function change(path: string, from: string | RegExp, to: string): void {
  const text = readFileSync(path, 'utf8')
  const changed = text.replace(from, to)
  assert.notEqual(changed, text, path)
  writeFileSync(path, changed)
}

async function ask(url: string, query: string): Promise<Found[]> {
  const answer = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(query)}`)
  const { data } = (await answer.json()) as {
    data: { result: { metric: Record<string, string>; value: [number, string] }[] }
  }
  return data.result.map(({ metric: { __name__, ...labels }, value }) => {
    return { labels: JSON.stringify(Object.entries(labels).sort()), value: Number(value[1]) }
  })
}
