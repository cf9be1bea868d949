// Remote write into Debian's Prometheus and VictoriaMetrics: each has every sample that was reported, and no other.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { buckets, counter, createSchema, defineType, gauge, label, timestamp } from '@sonde/sdk'
import type { PodsAnswer } from '@sonde/sdk/api'
import type { QueryResult } from '@sonde/sdk/internal'
import { FaultyWay, pass } from '../../packages/sdk/test/faulty-way.ts'
import { ask } from '../ask.ts'
import { needs } from '../debian.ts'
import { startSonde, temporaryDir, until } from '../sonde-process.ts'
import { launchPrometheus } from './prometheus-peer.ts'
import { launchVictoria, storedIn } from './query-peers.ts'

const LIMIT_MS = 60_000
const ROUNDS = 200
const DEVICES = 20
const SECOND_NS = 1_000_000_000n

const link = defineType('rw_link', 'A link', {
  time: timestamp(),
  device: label(),
  rx_bytes_total: counter('u64', { unit: 'bytes' }),
  heat_celsius: gauge('f64', { unit: 'celsius' }),
  wait_seconds: buckets('u32', [0.5, 1, 2], { unit: 'seconds' }),
  wait_seconds_sum: counter('f64'),
})
/** Two scalars, four buckets, count and sum. */
const SERIES = DEVICES * 8

/** Samples as text: name, labels, milliseconds, value. */
type Answer = ReadonlySet<string>

interface Peer {
  readonly url: string
  samples(job: string): Promise<Answer>
}

describe('remote write', needs('prometheus', 'victoria-metrics'), () => {
  const ends: (() => unknown)[] = []
  const t = { after: (end: () => unknown) => void ends.unshift(end) }
  const peers: Record<string, Peer> = {}
  before(async () => {
    const [dir, other] = [temporaryDir(), temporaryDir()]
    const config = join(dir.path, 'prometheus.yml')
    writeFileSync(config, JSON.stringify({ storage: { tsdb: { out_of_order_time_window: '1h' } } }))
    const flags = [
      `--config.file=${config}`,
      `--storage.tsdb.path=${dir.path}/tsdb`,
      '--web.enable-remote-write-receiver',
    ]
    const [{ url }, victoria] = await Promise.all([
      launchPrometheus(t, flags, dir),
      launchVictoria(t, ['-search.latencyOffset=0s'], other),
    ])
    peers.prometheus = { url, samples: (job) => prometheusSamples(url, job) }
    peers.victoria = { url: victoria, samples: (job) => victoriaSamples(victoria, job) }
  })
  after(async () => {
    for (const end of ends) await end()
  })

  for (const version of ['1.0', '2.0'] as const)
    it(`an application reports with ${version}, and both have every sample with its value`, () =>
      report(peers, version))
  for (const name of ['prometheus', 'victoria'])
    it(`after an outage ${name} has current samples and the old ones that come beside them`, (t) =>
      reportThroughOutage(t, peers[name]))
  it('the console over the VictoriaMetrics to which an agent pushes shows its host, GPUs and pods', async () => {
    const dir = temporaryDir()
    t.after(dir.remove)
    const config = join(dir.path, 'sonde.yaml')
    const url = peers.victoria?.url ?? ''
    writeFileSync(config, JSON.stringify({ export: { remote_write: { url: `${url}/api/v1/write`, interval_s: 1 } } }))
    const env = { XDG_STATE_HOME: dir.path }
    const [agent, page] = await Promise.all([
      startSonde(['agent', '--log-level', 'error', '--only-simulated', '--config', config], { env }),
      startSonde(['console', '--prometheus', url, '--log-level', 'error']),
    ])
    t.after(() => agent.stop())
    t.after(() => page.stop())
    const seriesOf = async (metric: string) => {
      const toMs = Math.floor(Date.now() / 1000) * 1000
      const form = { fromMs: toMs - 10_000, toMs, stepMs: 1000, queries: [{ metric }] }
      return (await ask<{ results: QueryResult[] }>(page, '/api/v1/query', form)).results[0]?.series ?? []
    }
    const gpus = await until('eight GPUs', LIMIT_MS, async () => {
      const series = await seriesOf('DCGM_FI_DEV_GPU_TEMP')
      return series.length === 8 && series
    })
    assert.deepEqual([...new Set(gpus.map(({ labels }) => labels.instance))], [hostname()])
    await until('the host', LIMIT_MS, async () => (await seriesOf('sonde_process_uptime_seconds')).length === 1)
    await until('the pods of the training', LIMIT_MS, async () => {
      const { pods } = await ask<PodsAnswer>(page, '/api/v1/pods')
      return pods.filter(({ service, gpus }) => service === 'trainer' && gpus === 2).length === 4
    })
    // The agent says that its series have ended: nobody waits five minutes for that.
    await agent.stop()
    await until('no GPU is there', LIMIT_MS, async () => {
      const answer = await fetch(`${url}/api/v1/query?query=DCGM_FI_DEV_GPU_TEMP&nocache=1`)
      return ((await answer.json()) as { data: { result: unknown[] } }).data.result.length === 0
    })
  })
})

/** Both receivers answer 204 to 2.0 and store nothing of it: they get the same samples as 1.0. */
async function report(peers: Readonly<Record<string, Peer>>, version: '1.0' | '2.0'): Promise<void> {
  const job = `app${version}`
  const urls = Object.values(peers).map(({ url }) => ({ url: `${url}/api/v1/write`, version, externalLabels: { job } }))
  const schema = createSchema({ name: 'app', export: { remoteWrite: urls } })
  schema.addType(link)
  await schema.start()
  const source = schema.createSource({ id: 'links', tag: 'links' })
  const startNs = (BigInt(Date.now()) / 1000n) * SECOND_NS - BigInt(ROUNDS) * SECOND_NS
  for (let round = 0; round < ROUNDS; round++) {
    for (let device = 0; device < DEVICES; device++) {
      source.report(link, {
        time: startNs + BigInt(round) * SECOND_NS,
        device: `d${device}`,
        rx_bytes_total: 2 ** 49 + round * 1_000_000,
        heat_celsius: heatOf(round, device),
        wait_seconds: [round, round * 2, 1, device],
        wait_seconds_sum: round * 1.25,
      })
    }
  }
  await schema.flush()
  const { prometheus, victoria } = peers
  const [ofPrometheus, ofVictoria] = await Promise.all([prometheus?.samples(job), victoria?.samples(job)])
  assert.equal(ofPrometheus?.size, ROUNDS * SERIES)
  assert.deepEqual([...(ofVictoria ?? [])].sort(), [...(ofPrometheus ?? [])].sort())
  const nineMs = Number(startNs / 1_000_000n) + 9000
  assert.ok(ofPrometheus?.has(`rw_link_heat_celsius d3 - ${nineMs} ${heatOf(9, 3)}`))
  assert.ok(ofPrometheus?.has(`rw_link_wait_seconds_bucket d3 +Inf ${nineMs} 31`))
  await schema.close()
  await until('the series have ended in Prometheus', LIMIT_MS, async () => (await latestOf(prometheus)).length === 0)
}

/** Both receivers take samples out of order. */
async function reportThroughOutage(t: TestContext, peer: Peer | undefined): Promise<void> {
  assert.ok(peer !== undefined)
  const way = await FaultyWay.start(t, Number(new URL(peer.url).port))
  const job = 'outage'
  const url = `http://127.0.0.1:${way.port}/api/v1/write`
  const limits = { lingerMs: 0, backoffInitialMs: 10, backoffMaxMs: 50, backlogBytesPerSecond: 16_384 }
  const schema = createSchema({
    name: 'app',
    export: { remoteWrite: { url, backlog: 'live_first', externalLabels: { job }, batchRecordsMax: 10, ...limits } },
  })
  schema.addType(link)
  await schema.start()
  const source = schema.createSource({ id: 'links', tag: 'links' })
  const startNs = (BigInt(Date.now()) / 1000n) * SECOND_NS - BigInt(ROUNDS) * SECOND_NS
  const reportRound = (round: number) => {
    const time = startNs + BigInt(round) * SECOND_NS
    const wait = { wait_seconds: [round, 0, 0, 0], wait_seconds_sum: round }
    source.report(link, { time, device: 'd0', rx_bytes_total: round, heat_celsius: round, ...wait })
    source.emit()
  }
  const failing = () => schema.status().sinks[0]?.failing ?? ''
  way.fault = (client) => client.destroy()
  reportRound(0)
  await until('the outage is seen', LIMIT_MS, () => failing() !== '')
  for (let round = 1; round < ROUNDS - 1; round++) reportRound(round)
  way.fault = pass
  await until('the receiver is back', LIMIT_MS, () => failing() === '')
  reportRound(ROUNDS - 1)
  const has = async (round: number) =>
    (await peer.samples(job)).has(`rw_link_heat_celsius d0 - ${Number(startNs / 1_000_000n) + round * 1000} ${round}`)
  await until('the current sample', LIMIT_MS, () => has(ROUNDS - 1))
  assert.equal(await has(ROUNDS - 2), false, 'the newest of the old samples arrived before the current one')
  await schema.flush()
  assert.equal((await peer.samples(job)).size, ROUNDS * 8)
  await schema.close()
}

/** Few digits: VictoriaMetrics rounds to 15. */
function heatOf(round: number, device: number): number {
  return round === 7 ? 0 : Math.round(40_000 + Math.sin(round) * 1000 * device) / 1000
}

async function latestOf(peer: Peer | undefined): Promise<readonly unknown[]> {
  const answer = (await (await fetch(`${peer?.url}/api/v1/query?query=rw_link_heat_celsius`)).json()) as {
    data: { result: unknown[] }
  }
  return answer.data.result
}

async function prometheusSamples(url: string, job: string): Promise<Answer> {
  const query = encodeURIComponent(`{__name__=~"rw_link.*",job="${job}"}[1h]`)
  const { data } = (await (await fetch(`${url}/api/v1/query?query=${query}`)).json()) as {
    data: { result: { metric: Record<string, string>; values: [number, string][] }[] }
  }
  return new Set(
    data.result.flatMap(({ metric, values }) =>
      values.map(([seconds, value]) => line(metric, Math.round(seconds * 1000), Number(value))),
    ),
  )
}

async function victoriaSamples(url: string, job: string): Promise<Answer> {
  const series = await storedIn(url, `{__name__=~"rw_link.*",job="${job}"}`)
  return new Set(
    series.flatMap(({ metric, values, timestamps }) =>
      timestamps.map((timeMs, i) => line(metric, timeMs, Number(values[i]))),
    ),
  )
}

function line({ __name__, device, le = '-' }: Readonly<Record<string, string>>, timeMs: number, value: number): string {
  return `${__name__} ${device} ${le} ${timeMs} ${value}`
}
