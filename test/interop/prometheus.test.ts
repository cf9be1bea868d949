import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { needs } from '../debian.ts'
import { type SondeProcess, startSonde, temporaryDir, until } from '../sonde-process.ts'

const SCRAPE_FOR_MS = 60_000

/** A port that was free a moment ago; Prometheus cannot be asked for any. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  server.close()
  assert.ok(typeof address === 'object' && address !== null)
  return address.port
}

async function startPrometheus(
  dir: string,
  target: string,
): Promise<{ child: ChildProcess; url: string; log: () => string }> {
  const port = await freePort()
  const config = join(dir, 'prometheus.yml')
  writeFileSync(
    config,
    `global: { scrape_interval: 2s, scrape_timeout: 2s }\nscrape_configs:\n  - job_name: sonde\n    static_configs: [{ targets: ['${target}'] }]\n`,
  )
  const args = [
    `--config.file=${config}`,
    `--storage.tsdb.path=${dir}/tsdb`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--log.level=debug',
  ]
  const child = spawn('prometheus', args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let log = ''
  child.stderr?.on('data', (chunk) => {
    log += chunk
  })
  const url = `http://127.0.0.1:${port}`
  await until('Prometheus to be ready', 30_000, async () => (await fetch(`${url}/-/ready`).catch(() => undefined))?.ok)
  return { child, url, log: () => log }
}

interface Sample {
  readonly metric: Readonly<Record<string, string>>
  readonly values: readonly (readonly [number, string])[]
}

async function promql(url: string, query: string): Promise<Sample[]> {
  const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(query)}`)
  const { data } = (await response.json()) as { data: { result: Sample[] } }
  return data.result
}

/** Names and values of a page in either format, without its comments. */
async function samplesOf(
  { address }: SondeProcess,
  accept: string,
): Promise<{ type: string; samples: Map<string, string> }> {
  const response = await fetch(`${address}/metrics`, { headers: { accept } })
  const samples = new Map<string, string>()
  for (const line of (await response.text()).split('\n')) {
    const match = /^([^#\s][^ ]*(?:\{.*\})?) (\S+)$/.exec(line)
    if (match !== null) samples.set(match[1] as string, match[2] as string)
  }
  return { type: response.headers.get('content-type') ?? '', samples }
}

test(
  "Debian's Prometheus scrapes for a minute: target up, no parse error, counters equal",
  needs('prometheus'),
  async () => {
    const dir = temporaryDir()
    const sonde = await startSonde(['agent', '--log-level', 'error'])
    const { child, url, log } = await startPrometheus(dir.path, new URL(sonde.address).host)
    try {
      await new Promise((resolve) => setTimeout(resolve, SCRAPE_FOR_MS))
      const up = await promql(url, 'up{job="sonde"}[1m]')
      const ups = up[0]?.values ?? []
      assert.ok(ups.length >= 25, `${ups.length} scrapes in a minute`)
      // The first scrape may come before the listener; none after.
      assert.ok(
        ups.every(([, value]) => value === '1'),
        JSON.stringify(ups),
      )
      assert.doesNotMatch(log(), /append failed|expected|invalid|out of order|duplicate/i)

      const kept = await promql(url, '{__name__=~"netdev_.+|host_.+"}[10s]')
      assert.ok(kept.length > 20, `${kept.length} series`)
      const now = await samplesOf(sonde, 'application/openmetrics-text')
      for (const { metric, values } of kept) {
        if (!(metric.__name__ ?? '').endsWith('_total')) continue
        const labels = Object.entries(metric).filter(([name]) => !['__name__', 'job', 'instance'].includes(name))
        const key = `${metric.__name__}${labels.length > 0 ? `{${labels.map(([name, value]) => `${name}="${value}"`).join(',')}}` : ''}`
        const current = now.samples.get(key)
        assert.ok(current !== undefined, `${key} is not on the page`)
        // A counter that Prometheus read seconds ago is at or just below what it is now, and equal where nothing moved since.
        assert.ok(Number(values.at(-1)?.[1]) <= Number(current), `${key}: ${values.at(-1)?.[1]} > ${current}`)
      }
    } finally {
      child.kill('SIGTERM')
      await sonde.stop()
      dir.remove()
    }
  },
)

test('both formats hold the same names and values, and promtool finds nothing', needs('promtool'), async () => {
  const dir = temporaryDir()
  // A tree that stands still: two scrapes must be equal to the last digit.
  const sonde = await startSonde(['agent', '--log-level', 'error'])
  try {
    await until('the first samples', 10_000, async () => (await samplesOf(sonde, 'text/plain')).samples.size > 50)
    const text = await samplesOf(sonde, 'text/plain;version=0.0.4')
    const open = await samplesOf(sonde, 'application/openmetrics-text;version=1.0.0')
    assert.match(text.type, /^text\/plain; version=0\.0\.4/)
    assert.match(open.type, /^application\/openmetrics-text; version=1\.0\.0/)
    assert.deepEqual([...open.samples.keys()].sort(), [...text.samples.keys()].sort())
    const page = await (await fetch(`${sonde.address}/metrics`, { headers: { accept: 'text/plain' } })).text()
    const checked = spawnSync('promtool', ['check', 'metrics'], { input: page, encoding: 'utf8' })
    assert.equal(checked.status, 0, checked.stdout + checked.stderr)
    assert.equal(checked.stdout + checked.stderr, '')
  } finally {
    await sonde.stop()
    dir.remove()
  }
})
