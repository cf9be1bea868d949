import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { TestNode } from '../../packages/agent/src/sources/test-node.ts'
import { type ExposedFamily, parseExposition } from '../../packages/sdk/test/parse-exposition.ts'
import { ask } from '../ask.ts'
import { needs } from '../debian.ts'
import { type SondeProcess, startSonde, until } from '../sonde-process.ts'
import { type PeerSeries, type PrometheusPeer, startPrometheus } from './prometheus-peer.ts'

const SCRAPE_INTERVAL_S = 3
/** A minute of them. */
const SCRAPES = 20
/** How old a value may be when it is scraped, and how far the clocks of two readings lie apart, on a busy machine. */
const AGE_LIMIT_MS = 5000
const READ_LIMIT_MS = 1000
const SOURCES = new URL('../../packages/agent/src/sources/', import.meta.url)
const TREES = [new URL('netdev/fixtures/veth-namespace', SOURCES), new URL('host/fixtures/guest', SOURCES)]
const ACCEPT = { text: 'text/plain;version=0.0.4', openmetrics: 'application/openmetrics-text;version=1.0.0' } as const

type Families = Map<string, ExposedFamily>

async function startAgent(t: TestContext, flags: readonly string[] = []): Promise<SondeProcess> {
  const sonde = await startSonde(['agent', '--log-level', 'error', ...flags])
  t.after(() => sonde.stop())
  await until('every source', 60_000, async () => (await fetch(`${sonde.address}/readyz`)).ok)
  await until('what Sonde says of itself', 60_000, async () =>
    (await pageOf(sonde, 'text')).has('sonde_process_uptime_seconds'),
  )
  return sonde
}

async function pageOf({ address }: SondeProcess, format: keyof typeof ACCEPT): Promise<Families> {
  const response = await fetch(`${address}/metrics`, { headers: { accept: ACCEPT[format] } })
  const [type] = ACCEPT[format].split(';')
  assert.equal(response.headers.get('content-type')?.split(';')[0], type)
  return parseExposition(new Uint8Array(await response.arrayBuffer()), format)
}

const sampleKey = (name: string, labels: Readonly<Record<string, string>>) =>
  `${name} ${JSON.stringify(Object.entries(labels).sort())}`

/** Every series of a page and its value, a number without the zeros in front. */
function samplesOf(families: Families): Map<string, string> {
  const samples = [...families.values()].flatMap((family) => family.samples)
  return new Map(
    samples.map(({ name, labels, value }) => [sampleKey(name, labels), value.replace(/^(-?)0+(?=\d)/, '$1')]),
  )
}

/** Name and labels of a series without those that Prometheus adds. */
function peerKey({ metric: { __name__ = '', job: _job, instance: _instance, ...labels } }: PeerSeries): string {
  return sampleKey(__name__, labels)
}

/** What the kernel's own table said, and when: it was read at or after `fromMs` and at or before `toMs`. */
interface Reading {
  readonly fromMs: number
  readonly toMs: number
  readonly values: ReadonlyMap<string, number>
}

function readKernel(): Reading {
  const fromMs = Date.now()
  const lines = readFileSync('/proc/net/dev', 'utf8').split('\n').slice(2)
  const toMs = Date.now()
  const values = new Map<string, number>()
  for (const line of lines) {
    const [, device, numbers = ''] = /^\s*(\S+):\s*(.*)$/.exec(line) ?? []
    const columns = numbers.split(/\s+/).map(Number)
    const of = (name: string, column: number) =>
      values.set(sampleKey(name, { device: device ?? '' }), columns[column] ?? 0)
    if (device === undefined) continue
    of('netdev_rx_bytes_total', 0)
    of('netdev_rx_packets_total', 1)
    of('netdev_tx_bytes_total', 8)
    of('netdev_tx_packets_total', 9)
  }
  return { fromMs, toMs, values }
}

/**
 * Every value that Prometheus kept lies between what the kernel said before and after; where that did not move, they
 * are equal.
 */
function assertAsKernel(kept: readonly PeerSeries[], readings: readonly Reading[]): void {
  let compared = 0
  for (const series of kept) {
    const key = peerKey(series)
    for (const [seconds, value] of series.values) {
      const before = readings.findLast(({ toMs }) => toMs < seconds * 1000 - AGE_LIMIT_MS)?.values.get(key)
      const after = readings.find(({ fromMs }) => fromMs > seconds * 1000 + READ_LIMIT_MS)?.values.get(key)
      if (before === undefined || after === undefined) continue
      compared++
      assert.ok(before <= Number(value) && Number(value) <= after, `${key}: ${before} ≤ ${value} ≤ ${after}`)
    }
  }
  assert.ok(compared > SCRAPES, `${compared} values compared with /proc/net/dev`)
}

interface HistoryAnswer {
  readonly times: readonly number[]
  readonly results: readonly {
    readonly series: readonly { readonly labels: Record<string, string>; readonly values: readonly (number | null)[] }[]
  }[]
}

/** Every value that Prometheus kept is one that the agent sampled just before. */
async function assertAsHistory(kept: readonly PeerSeries[], sonde: SondeProcess): Promise<void> {
  const metrics = [...new Set(kept.map(({ metric }) => metric.__name__ ?? ''))]
  const toMs = Date.now()
  const queries = metrics.map((metric) => ({ metric, function: 'last' }))
  // Steps of half the interval of sampling: none hides a sample.
  const question = { fromMs: toMs - 120_000, toMs, stepMs: 500, queries }
  const { times, results } = await ask<HistoryAnswer>(sonde, '/api/v1/query', question)
  const sampled = new Map<string, readonly (number | null)[]>()
  for (const [i, { series }] of results.entries()) {
    for (const { labels, values } of series) sampled.set(sampleKey(metrics[i] ?? '', labels), values)
  }
  for (const series of kept) {
    const values = sampled.get(peerKey(series))
    assert.ok(values !== undefined, `the agent has no history of ${peerKey(series)}`)
    for (const [seconds, value] of series.values) {
      const inTime = values.filter((_, i) => Math.abs((times[i] ?? 0) - seconds * 1000) <= AGE_LIMIT_MS)
      assert.ok(inTime.includes(Number(value)), `${peerKey(series)}: ${value} at ${seconds}; sampled: ${inTime}`)
    }
  }
}

interface Target {
  readonly health: string
  readonly lastError: string
}

async function assertNoComplaint(peer: PrometheusPeer): Promise<void> {
  const { activeTargets } = (await peer.api('targets')) as { activeTargets: Target[] }
  assert.deepEqual(
    activeTargets.map(({ health, lastError }) => [health, lastError]),
    [['up', '']],
  )
  const complaints = peer
    .log()
    .split('\n')
    .filter((line) => line.includes('component="scrape manager"') && line.includes('err='))
  assert.deepEqual(complaints, [])
  for (const what of ['duplicate_timestamp', 'out_of_bounds', 'out_of_order']) {
    assert.equal(await peer.own(`prometheus_target_scrapes_sample_${what}_total`), 0, what)
  }
}

test(
  "Debian's Prometheus scrapes for a minute: target up, no parse error, counters equal",
  needs('prometheus'),
  async (t) => {
    const sonde = await startAgent(t)
    const readings: Reading[] = [readKernel()]
    const peer = await startPrometheus(t, new URL(sonde.address).host, SCRAPE_INTERVAL_S)
    const ups = await until('a minute of scrapes', 150_000, async () => {
      readings.push(readKernel())
      const [up] = await peer.range('up{job="sonde"}[5m]')
      return (up?.values.length ?? 0) >= SCRAPES && up?.values
    })
    const kept = await peer.range('{job="sonde",__name__=~"netdev_.+_total"}[5m]')
    readings.push(
      await until('a reading after the last scrape', 60_000, () => {
        const reading = readKernel()
        return reading.fromMs > (ups.at(-1)?.[0] ?? 0) * 1000 + READ_LIMIT_MS && reading
      }),
    )
    assert.deepEqual([...new Set(ups.map(([, value]) => value))], ['1'], JSON.stringify(ups))
    await assertNoComplaint(peer)
    assertAsKernel(kept, readings)
    await assertAsHistory(kept, sonde)

    // Only OpenMetrics has units: Prometheus asked for it by default, and read them.
    const [known] = (await peer.api('targets/metadata?metric=netdev_rx_bytes')) as Record<string, string>[]
    assert.deepEqual([known?.type, known?.unit, known?.help], ['counter', 'bytes', 'Bytes received'])
    await until('Prometheus to have every series of the page', 60_000, async () => {
      const page = [...samplesOf(await pageOf(sonde, 'openmetrics')).keys()].sort()
      const scraped = (await peer.range(`{job="sonde"}[${SCRAPE_INTERVAL_S}s]`)).map(peerKey)
      return page.every((key) => scraped.includes(key))
    })
  },
)

test(
  'both formats hold the same names, labels and values, and promtool finds nothing',
  needs('promtool'),
  async (t) => {
    const node = new TestNode(t, ...TREES)
    node.write(
      'proc/net/dev',
      node.read('proc/net/dev').replace(/eth0: +266 +3/, 'eth0: 18446744073709551615 9007199254740993'),
    )
    const sonde = await startAgent(t, ['--path.procfs', node.paths.procfs, '--path.sysfs', node.paths.sysfs])
    const [text, open] = [await pageOf(sonde, 'text'), await pageOf(sonde, 'openmetrics')]
    const [textSamples, openSamples] = [samplesOf(text), samplesOf(open)]
    assert.deepEqual([...openSamples.keys()].sort(), [...textSamples.keys()].sort())
    assert.ok(openSamples.size > 100, `${openSamples.size} series`)
    assert.equal(openSamples.get(sampleKey('netdev_rx_bytes_total', { device: 'eth0' })), '18446744073709551615')
    for (const [key, value] of openSamples) {
      // The tree stands still; what Sonde says of itself does not.
      if (!key.startsWith('sonde_')) assert.equal(value, textSamples.get(key), key)
    }
    for (const [name, { type, help, unit }] of open) {
      const same = text.get(type === 'counter' ? `${name}_total` : name)
      assert.deepEqual([same?.type, same?.help], [type, help], name)
      if (/_(bytes|seconds|ratio)$/.test(name)) assert.equal(unit, name.split('_').at(-1), name)
    }
    const page = await (await fetch(`${sonde.address}/metrics`, { headers: { accept: ACCEPT.text } })).text()
    const checked = spawnSync('promtool', ['check', 'metrics'], { input: page, encoding: 'utf8' })
    assert.deepEqual([checked.status, checked.stdout + checked.stderr], [0, ''])
  },
)

test('records of series past the limit are missing on the page, and the page says how many and why', async (t) => {
  const node = new TestNode(t, ...TREES)
  const lines = Array.from({ length: 130 }, (_, i) => `if${i}: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n`)
  node.write('proc/net/dev', `one\ntwo\n${lines.join('')}`)
  const config = join(node.root, 'sonde.yaml')
  const sources = [{ type: 'netdev', interval_ms: 50 }]
  writeFileSync(config, JSON.stringify({ data_sources: sources, export: { prometheus: { series_limit: 100 } } }))
  const flags = ['--config', config, '--path.procfs', node.paths.procfs, '--path.sysfs', node.paths.sysfs]
  const sonde = await startAgent(t, flags)
  const loss = sampleKey('sonde_loss_records_total', { component: 'prometheus', reason: 'series_limit' })
  const samples = await until('the drop to be told', 60_000, async () => {
    const found = samplesOf(await pageOf(sonde, 'openmetrics'))
    return Number(found.get(loss)) > 0 && found
  })
  assert.ok(Number(samples.get(sampleKey('sonde_sink_records_dropped_total', { sink: 'prometheus' }))) > 0)
  assert.equal([...samples.keys()].filter((key) => key.startsWith('netdev_rx_bytes_total ')).length, 100)
})
