import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import type { PodsAnswer } from '@sonde/sdk/api'
import type { QueryResult } from '@sonde/sdk/internal'
import { ask } from '../ask.ts'
import { type DebianProgram, needs } from '../debian.ts'
import { runSonde, type SondeProcess, startSonde, temporaryDir, until } from '../sonde-process.ts'
import { launchPrometheus } from './prometheus-peer.ts'
import { launchVictoria } from './query-peers.ts'

// What is now, over servers that scrape while they are asked, and began a moment ago.

const LIMIT_MS = 60_000
/**
 * What VictoriaMetrics hides here: by default half a minute. A test that waits for this to pass fails, however long
 * anything takes.
 */
const HIDDEN = '10m'
/** A value is from a scrape, and not from before the server started. Unit: seconds. */
const OLD_S = 120

type Ends = Pick<TestContext, 'after'>

/** Serves the time of each scrape. */
async function startClock(t: Ends): Promise<string> {
  const server = createServer((_, answer) => void answer.end(`live_time_seconds ${Date.now() / 1000}\n`))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A folder with the configuration of scrapes, which both servers read. */
function scraping(targets: readonly string[]) {
  const dir = temporaryDir()
  const file = join(dir.path, 'scrapes.yml')
  const scrape_configs = [{ job_name: 'live', static_configs: [{ targets }] }]
  writeFileSync(file, JSON.stringify({ global: { scrape_interval: '1s' }, scrape_configs }))
  return { dir, file }
}

const PEERS: readonly {
  readonly name: string
  readonly program: DebianProgram
  readonly start: (t: Ends, targets: readonly string[]) => Promise<string>
}[] = [
  {
    name: 'Prometheus',
    program: 'prometheus',
    async start(t, targets) {
      const { dir, file } = scraping(targets)
      return (await launchPrometheus(t, [`--config.file=${file}`, `--storage.tsdb.path=${dir.path}/tsdb`], dir)).url
    },
  },
  {
    name: 'VictoriaMetrics',
    program: 'victoria-metrics',
    start(t, targets) {
      const { dir, file } = scraping(targets)
      return launchVictoria(t, [`-promscrape.config=${file}`, `-search.latencyOffset=${HIDDEN}`], dir)
    },
  },
]

interface Peer {
  readonly url: string
  readonly page: SondeProcess
}

describe('over servers that began to scrape a moment ago', needs(...PEERS.map(({ program }) => program)), () => {
  const ends: (() => unknown)[] = []
  const peers = new Map<string, Peer>()
  before(async () => {
    const t = { after: (end: () => unknown) => void ends.unshift(end) }
    const node = await startSonde(['agent', '--log-level', 'error', '--only-simulated'])
    t.after(() => node.stop())
    const targets = [new URL(node.address).host, await startClock(t)]
    const begin = async ({ name, start }: (typeof PEERS)[number]) => {
      const url = await start(t, targets)
      const page = await startSonde(['console', '--prometheus', url, '--log-level', 'error'])
      t.after(() => page.stop())
      peers.set(name, { url, page })
    }
    await Promise.all(PEERS.map(begin))
  })
  after(async () => {
    for (const end of ends) await end()
  })
  for (const { name } of PEERS) describe(name, () => scrapedNow(() => peers.get(name) as Peer))
})

/** The cases that each peer must pass. */
function scrapedNow(peer: () => Peer): void {
  const trainers = ({ pods }: PodsAnswer) => pods.filter((pod) => pod.service === 'trainer' && pod.gpus === 2)
  const lastOf = async (metric: string, windowMs: number) => {
    const toMs = Math.floor(Date.now() / 1000) * 1000
    const form = { fromMs: toMs - windowMs, toMs, stepMs: 1000, queries: [{ metric }] }
    const answer = await ask<{ times: number[]; results: QueryResult[] }>(peer().page, '/api/v1/query', form)
    return { times: answer.times, series: answer.results[0]?.series ?? [] }
  }

  it('the pods that are there are found, by the console and by ps', async () => {
    const found = await until('pods', LIMIT_MS, async () => {
      const pods = trainers(await ask<PodsAnswer>(peer().page, '/api/v1/pods'))
      return pods.length === 4 && pods
    })
    for (const { ageMs } of found) assert.ok((ageMs ?? Number.POSITIVE_INFINITY) < OLD_S * 1000, `${ageMs}`)
    const { code, output } = await runSonde(['ps', '--prometheus', peer().url, '--json'])
    assert.equal(code, 0, output)
    assert.equal(trainers(JSON.parse(output) as PodsAnswer).length, 4)
  })
  it('the devices that are there are found', async () => {
    const gpus = await until('eight GPUs', LIMIT_MS, async () => {
      const { series } = await lastOf('DCGM_FI_DEV_GPU_TEMP', 1000)
      return series.length === 8 && series
    })
    for (const { values } of gpus) assert.ok(Number(values[0]) > 0)
  })
  it('a chart that ends now ends with values of now, and every value is of its time', async () => {
    const { times, series } = await until('values', LIMIT_MS, async () => {
      const found = await lastOf('live_time_seconds', 20_000)
      return (found.series[0]?.values.length ?? 0) > 0 && found
    })
    const values = Array.from(series[0]?.values ?? [], (value) => value as number | null)
    const ages = values.flatMap((value, at) => (value === null ? [] : [(times[at] ?? 0) / 1000 - value]))
    assert.ok(ages.length > 0, JSON.stringify(values))
    for (const age of ages) assert.ok(age < OLD_S, JSON.stringify(ages))
    const distinct = await until('values of several scrapes', LIMIT_MS, async () => {
      const { series: later } = await lastOf('live_time_seconds', 20_000)
      const seen = new Set(Array.from(later[0]?.values ?? []).filter((value) => value !== null))
      return seen.size > 3 && seen
    })
    assert.ok(distinct.size > 3)
  })
  it('the live view gets values', async () => {
    const q = encodeURIComponent(JSON.stringify({ stepMs: 1000, queries: [{ metric: 'live_time_seconds' }] }))
    const controller = new AbortController()
    const limit = setTimeout(() => controller.abort(), LIMIT_MS)
    const response = await fetch(`${peer().page.address}/api/v1/stream?q=${q}`, { signal: controller.signal })
    let text = ''
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString()
      if (/"values":\[[^\]]*\d/.test(text)) break
    }
    clearTimeout(limit)
    controller.abort()
    assert.match(text, /event: points/)
  })
}
