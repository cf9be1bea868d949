import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ask } from '../ask.ts'
import { needs } from '../debian.ts'
import { type SondeProcess, startSonde, temporaryDir, until } from '../sonde-process.ts'
import { type PrometheusPeer, startPrometheus } from './prometheus-peer.ts'

// NVIDIA's dashboard of dcgm-exporter (uid Oxed_c6Wz) over a Prometheus that scrapes us instead of an exporter. Its
// first form selects by `instance`, its present one by `Hostname`.

/** A sample when it starts, and no other: what is scraped and what the API says are the same to the last digit. */
const INTERVAL_MS = 3_600_000

const TENSOR = 'DCGM_FI_PROF_PIPE_TENSOR_ACTIVE'

type Labels = Readonly<Record<string, string>>

/** Numbers by the labels that tell them apart. */
type Numbers = ReadonlyMap<string, number>

/** What one panel asks, with `{…}` for its selector, and what it should get. */
interface Panel {
  readonly title: string
  readonly metric: string
  readonly expression: string
  readonly expected: (series: readonly Sampled[]) => Numbers
}

interface Sampled {
  readonly labels: Labels
  readonly value: number
}

const sortedLabels = (labels: Labels) => JSON.stringify(Object.entries(labels).sort())

function maxBy(series: readonly Sampled[], by: readonly string[], factor = 1): Map<string, number> {
  const groups = new Map<string, number>()
  for (const { labels, value } of series) {
    const key = sortedLabels(Object.fromEntries(by.flatMap((name) => (labels[name] ? [[name, labels[name]]] : []))))
    groups.set(key, Math.max(groups.get(key) ?? Number.NEGATIVE_INFINITY, value * factor))
  }
  return groups
}

const each =
  (factor = 1) =>
  (series: readonly Sampled[]) =>
    new Map(series.map(({ labels, value }) => [sortedLabels(labels), value * factor]))
const sumOf = (numbers: Iterable<number>) => [...numbers].reduce((sum, number) => sum + number, 0)
const sum = (series: readonly Sampled[]) => new Map([[sortedLabels({}), sumOf(series.map(({ value }) => value))]])
const mean = (series: readonly Sampled[]) =>
  new Map([[sortedLabels({}), sumOf(series.map(({ value }) => value)) / series.length]])

function panel(title: string, metric: string, expression: string, expected: Panel['expected']): Panel {
  return { title, metric, expression: expression.replace('X', `${metric}{…}`), expected }
}

const BY_INSTANCE: readonly Panel[] = [
  panel('temperature', 'DCGM_FI_DEV_GPU_TEMP', 'X', each()),
  panel('average temperature', 'DCGM_FI_DEV_GPU_TEMP', 'avg(X)', mean),
  panel('power', 'DCGM_FI_DEV_POWER_USAGE', 'X', each()),
  panel('total power', 'DCGM_FI_DEV_POWER_USAGE', 'sum(X)', sum),
  panel('SM clock', 'DCGM_FI_DEV_SM_CLOCK', 'X * 1000000', each(1e6)),
  panel('utilisation', 'DCGM_FI_DEV_GPU_UTIL', 'X', each()),
  panel('framebuffer used', 'DCGM_FI_DEV_FB_USED', 'X', each()),
  panel('tensor', TENSOR, 'X', each()),
]

const BOARD = ['Hostname', 'gpu', 'uuid']
const INSTANCE = ['Hostname', 'gpu', 'GPU_I_ID', 'GPU_I_PROFILE']
const byInstance = (series: readonly Sampled[]) => maxBy(series, INSTANCE)
const max = (by: readonly string[]) => `max(X) by (${by.join(', ')})`

const BY_HOSTNAME: readonly Panel[] = [
  panel('temperature', 'DCGM_FI_DEV_GPU_TEMP', max(BOARD), (series) => maxBy(series, BOARD)),
  panel('average temperature', 'DCGM_FI_DEV_GPU_TEMP', 'avg(X)', mean),
  panel('power', 'DCGM_FI_DEV_POWER_USAGE', max(BOARD), (series) => maxBy(series, BOARD)),
  panel('total power', 'DCGM_FI_DEV_POWER_USAGE', 'sum(max(X) by (gpu))', (series) => {
    return new Map([[sortedLabels({}), sumOf(maxBy(series, ['gpu']).values())]])
  }),
  panel('SM clock', 'DCGM_FI_DEV_SM_CLOCK', 'max(X * 1000000) by (Hostname, UUID, gpu)', (series) => {
    return maxBy(series, ['Hostname', 'UUID', 'gpu'], 1e6)
  }),
  panel('utilisation', 'DCGM_FI_PROF_GR_ENGINE_ACTIVE', max(INSTANCE), byInstance),
  panel('framebuffer used', 'DCGM_FI_DEV_FB_USED', max(INSTANCE), byInstance),
  panel('tensor', TENSOR, max(INSTANCE), byInstance),
]

async function startNode(t: TestContext, node_class: string): Promise<SondeProcess> {
  const dir = temporaryDir()
  t.after(() => dir.remove())
  const file = join(dir.path, 'sonde.yaml')
  const source = { type: 'simulator', node_class, interval_ms: INTERVAL_MS }
  writeFileSync(file, JSON.stringify({ data_sources: [source] }))
  const sonde = await startSonde(['agent', '--log-level', 'error', '--config', file])
  t.after(() => sonde.stop())
  return sonde
}

/**
 * The same, started again where its only sample lacks a GPU: in one second of each minute a simulated GPU gives no
 * answer.
 */
async function startWhole(t: TestContext, nodeClass: string, seriesCount: number): Promise<SondeProcess> {
  for (let tries = 3; ; tries--) {
    const sonde = await startNode(t, nodeClass)
    const count = await until('a sample', 60_000, async () => (await sampled(sonde, TENSOR)).length)
    if (count === seriesCount) return sonde
    assert.ok(tries > 0, `${count} of ${seriesCount} series were sampled`)
    await sonde.stop()
  }
}

/** What the agent says that a metric is now. */
async function sampled(sonde: SondeProcess, metric: string): Promise<Sampled[]> {
  const path = `/api/v1/series?metric=${metric}`
  const { series } = await ask<{ series: { labels: Labels; value: string | null }[] }>(sonde, path)
  return series.flatMap(({ labels, value }) => (value === null ? [] : [{ labels, value: Number(value) }]))
}

/** What Prometheus answers an expression, without the labels that it adds. */
async function evaluate(peer: PrometheusPeer, expression: string): Promise<Numbers> {
  const answer = (await peer.api(`query?query=${encodeURIComponent(expression)}`)) as {
    result: { metric: Labels; value: [number, string] }[]
  }
  return new Map(
    answer.result.map(({ metric: { __name__: _, job: _job, instance: _instance, ...labels }, value }) => [
      sortedLabels(labels),
      Number(value[1]),
    ]),
  )
}

/** `label_values(metric, label)` with all of them chosen, as Grafana writes that into an expression. */
async function allOf(peer: PrometheusPeer, metric: string, label: string): Promise<string> {
  const values = (await peer.api(`label/${label}/values?match[]=${metric}`)) as string[]
  assert.ok(values.length > 0, `${metric} has no label ${label}`)
  return `(${values.map((value) => value.replace(/[.\\+*?[\]^$(){}|/]/g, '\\\\$&')).join('|')})`
}

async function assertPanels(
  sonde: SondeProcess,
  peer: PrometheusPeer,
  variable: 'instance' | 'Hostname',
  panels: readonly Panel[],
): Promise<void> {
  const chosen = await allOf(peer, 'DCGM_FI_DEV_GPU_TEMP', variable)
  const gpus = await allOf(peer, 'DCGM_FI_DEV_GPU_TEMP', 'gpu')
  for (const { title, metric, expression, expected } of panels) {
    const text = expression.replace('{…}', `{${variable}=~"${chosen}", gpu=~"${gpus}"}`)
    const wanted = expected(await sampled(sonde, metric))
    const found = await evaluate(peer, text)
    assert.ok(wanted.size > 0, `${title}: nothing is sampled`)
    assert.deepEqual([...found.keys()].sort(), [...wanted.keys()].sort(), `${title}: ${text}`)
    for (const [key, value] of wanted) {
      const got = found.get(key) ?? Number.NaN
      // Sums of the same numbers in another order.
      assert.ok(Math.abs(got - value) <= 1e-9 * Math.abs(value), `${title}: ${key} is ${got}, not ${value}`)
    }
  }
}

for (const [nodeClass, gpus, instances] of [
  ['hgx-h100', 8, 0],
  ['dpu-host', 2, 3],
] as const) {
  test(`the panels of NVIDIA's dashboard show the GPUs of a simulated ${nodeClass}`, needs('prometheus'), async (t) => {
    const sonde = await startWhole(t, nodeClass, gpus + instances)
    const peer = await startPrometheus(t, new URL(sonde.address).host, 1)
    await until('a scrape', 60_000, async () => {
      const [count] = (await evaluate(peer, `count(${TENSOR})`)).values()
      return count === gpus + instances
    })
    await assertPanels(sonde, peer, 'instance', BY_INSTANCE)
    await assertPanels(sonde, peer, 'Hostname', BY_HOSTNAME)
  })
}
