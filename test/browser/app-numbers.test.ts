import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { TestCluster } from '../../packages/agent/src/pods/test-cluster.ts'
import { setUpWeb } from '../../scripts/setup.mjs'
import { needs } from '../debian.ts'
import { type PeerSample, startBackfilled } from '../interop/query-peers.ts'
import { startSonde } from '../sonde-process.ts'
import { SHOW_LIMIT_MS, startBrowser } from './browser.ts'
import { chartNamed } from './chart.ts'
import { namesOfNumbers, rowOfService, rowsOfServices } from './service-rows.ts'
import { assertShown } from './shown-numbers.ts'

// Every number of the page of an app against PromQL over raw samples, written here by hand. The same samples go through
// the rows that an agent makes of them, which is what the console asks for.

const INTERVAL_MS = 15_000
const NOW_MS = Math.floor(Date.now() / INTERVAL_MS) * INTERVAL_MS
const START_MS = NOW_MS - 2_700_000
/** From here on nothing changes, so that page and test see the same whenever each looks. */
const STILL_MS = NOW_MS - 60_000
/** The test is over by then. */
const END_MS = NOW_MS + 1_200_000

interface Gpu {
  readonly uuid: string
  readonly pod: string
  readonly service: string
  /** It has samples of `[fromMs, toMs)`. */
  readonly fromMs: number
  readonly toMs: number
}

/** Two services: pods of two GPUs and of one. One pod is replaced by another, and all of `embed` restart at a time. */
function gpus(): Gpu[] {
  const gpu = (service: string, pod: string, index: number, fromMs = START_MS, toMs = END_MS): Gpu => {
    return { uuid: `GPU-${index}`, service, pod: `${service}-${pod}`, fromMs, toMs }
  }
  const [endedMs, backMs] = [NOW_MS - 1_200_000, NOW_MS - 900_000]
  return [
    gpu('prefill', 'a', 0),
    gpu('prefill', 'a', 1),
    gpu('prefill', 'b', 2),
    gpu('prefill', 'old', 3, START_MS, endedMs),
    gpu('prefill', 'new', 3, endedMs),
    gpu('embed', 'a', 4, START_MS, endedMs),
    gpu('embed', 'a', 4, backMs),
    gpu('embed', 'b', 5, START_MS, endedMs),
    gpu('embed', 'b', 5, backMs),
  ]
}

/** What the GPU with an index measures at a time: its like is nowhere else. */
function valuesOf(index: number, timeMs: number): Record<string, number> {
  const at = (Math.min(timeMs, STILL_MS) - START_MS) / INTERVAL_MS
  const share = (first: number) => ((first + index * 11 + at * 3) % 64) / 64
  return {
    gpu_util: (index * 17 + at * 5) % 101,
    power_usage: 120 + index * 37 + (at % 23),
    fb_used: 2000 + index * 1024 + (at % 50) * 64,
    fb_free: 60_000 - index * 512,
    fb_reserved: 700 + index,
    pipe_tensor_active: share(3),
    sm_active: share(19),
    dram_active: share(29),
    pipe_fp16_active: share(41),
    pipe_fp32_active: share(53),
  }
}

const METRICS: Readonly<Record<string, string>> = {
  gpu_util: 'DCGM_FI_DEV_GPU_UTIL',
  power_usage: 'DCGM_FI_DEV_POWER_USAGE',
  fb_used: 'DCGM_FI_DEV_FB_USED',
  fb_free: 'DCGM_FI_DEV_FB_FREE',
  fb_reserved: 'DCGM_FI_DEV_FB_RESERVED',
  pipe_tensor_active: 'DCGM_FI_PROF_PIPE_TENSOR_ACTIVE',
  sm_active: 'DCGM_FI_PROF_SM_ACTIVE',
  dram_active: 'DCGM_FI_PROF_DRAM_ACTIVE',
  pipe_fp16_active: 'DCGM_FI_PROF_PIPE_FP16_ACTIVE',
  pipe_fp32_active: 'DCGM_FI_PROF_PIPE_FP32_ACTIVE',
}

/** Metrics of rows whose names differ from `<type>_<field>`. */
const ROW_METRICS: Readonly<Record<string, string>> = { pod_gpu_count: 'pod_gpus', app_gpu_gpus: 'app_gpus' }

/** Raw samples as an exporter with the labels of pods has them, and the rows that an agent makes of the same. */
function samples(): { raw: PeerSample[]; rows: PeerSample[] } {
  const [raw, rows]: [PeerSample[], PeerSample[]] = [[], []]
  const cluster = new TestCluster()
  const node = cluster.source({ intervalMs: INTERVAL_MS })
  for (let timeMs = START_MS; timeMs < END_MS; timeMs += INTERVAL_MS) {
    const there = gpus().filter(({ fromMs, toMs }) => fromMs <= timeMs && timeMs < toMs)
    for (const { uuid, pod, service } of there) {
      const index = Number(uuid.slice(4))
      const values = valuesOf(index, timeMs)
      const labels = { app: 'chat', service, namespace: 'ml', pod, UUID: uuid, gpu: String(index), Hostname: 'node-1' }
      for (const [field, value] of Object.entries(values))
        raw.push({ metric: METRICS[field] ?? '', labels, timeMs, value })
      node
        .pod(pod, { service, start_time_seconds: START_MS / 1000 }, uuid)
        .gpu(uuid, values)
        .profile(uuid, values)
    }
    for (const { uuid, pod } of gpus().filter(({ toMs }) => toMs === timeMs)) node.gone(pod, 'ml', uuid)
    cluster.settle()
    cluster.pass(INTERVAL_MS - 150)
    for (const type of ['pod_gpu', 'app_gpu'] as const) {
      for (const { app, service, namespace, pod, time: _, ...numbers } of cluster.rows(type)) {
        // A service without pods leaves /metrics in the same moment.
        if (numbers.pods === 0) continue
        const labels = { app, service, ...(type === 'pod_gpu' ? { namespace, pod } : {}) } as Record<string, string>
        for (const [field, value] of Object.entries(numbers))
          rows.push({
            metric: ROW_METRICS[`${type}_${field}`] ?? `${type}_${field}`,
            labels,
            timeMs,
            value: Number(value),
          })
      }
    }
  }
  return { raw, rows }
}

const byMetric = (all: readonly PeerSample[]) =>
  all.toSorted((a, b) => (a.metric < b.metric ? -1 : a.metric > b.metric ? 1 : 0))

/** Samples of one scrape: a backfilled series has no mark of its end, and would be found for five minutes more. */
const SCRAPED = '[14s]'
const scraped = (metric: string) => `last_over_time(${metric}{app="chat"}${SCRAPED})`
const mean = (metric: string, factor = 1) => `avg by (service, pod) (${scraped(metric)}) * ${factor}`
const sum = (metric: string, factor = 1) => `sum by (service, pod) (${scraped(metric)}) * ${factor}`
const memory = (part: string) => sum(`DCGM_FI_DEV_FB_${part}`, 1_048_576)

/** The number of each pod. A service has the mean of these. */
const OF_PODS: Readonly<Record<string, string>> = {
  Utilisation: mean('DCGM_FI_DEV_GPU_UTIL'),
  'Memory used': memory('USED'),
  'Memory in all': `${memory('USED')} + ${memory('FREE')} + ${memory('RESERVED')}`,
  'Tensor active': mean('DCGM_FI_PROF_PIPE_TENSOR_ACTIVE', 100),
  'SM active': mean('DCGM_FI_PROF_SM_ACTIVE', 100),
  'DRAM active': mean('DCGM_FI_PROF_DRAM_ACTIVE', 100),
  'FP16 active': mean('DCGM_FI_PROF_PIPE_FP16_ACTIVE', 100),
  'FP32 active': mean('DCGM_FI_PROF_PIPE_FP32_ACTIVE', 100),
  Power: sum('DCGM_FI_DEV_POWER_USAGE'),
}
/** A chart draws the row of a pod for 2.5 periods where no scrape says that it is gone. */
const held = (ofPods: string) => ofPods.replaceAll(SCRAPED, '[37s]')
const CHARTS = ['Utilisation', 'Memory used', 'Tensor active', 'Power']

type Labels = Readonly<Record<string, string>>

/** What Prometheus says of an expression at a time, by service and pod. */
async function ask(url: string, query: string, timeMs: number): Promise<Map<string, number>> {
  const answer = await fetch(`${url}/api/v1/query?time=${timeMs / 1000}&query=${encodeURIComponent(query)}`)
  const { data } = (await answer.json()) as { data: { result: { metric: Labels; value: [number, string] }[] } }
  return new Map(data.result.map(({ metric, value }) => [metric.pod ?? metric.service ?? '', Number(value[1])]))
}

async function assertServices(page: Page, url: string): Promise<void> {
  for (const service of ['prefill', 'embed']) {
    const row = rowOfService(page, service)
    const names = await namesOfNumbers(page)
    for (const [name, ofPods] of Object.entries(OF_PODS)) {
      const item = row.locator('td').nth(names.indexOf(name))
      const of = async (fn: string) => (await ask(url, `${fn} by (service) (${ofPods})`, NOW_MS)).get(service)
      const shown = await item.locator('.service-value').innerText()
      assertShown(shown, await of('avg'), `${service} ${name}`)
      const range = await item.locator('.service-note').innerText()
      const [least = '', most = ''] = range === 'all alike' ? [shown, shown] : range.split(' to ')
      assertShown(least, await of('min'), `least ${name} of ${service}`)
      assertShown(most, await of('max'), `most ${name} of ${service}`)
      // Where not all pods have a number the row says of how many it is.
      assert.equal(await of('count'), service === 'prefill' ? 3 : 2)
      assert.doesNotMatch(range, / of \d pods/)
    }
  }
}

async function assertPods(page: Page, url: string): Promise<void> {
  const rows = page.getByRole('region', { name: 'Table of pods' }).locator('tbody tr')
  const names = (await rows.locator('th').allInnerTexts()).map((name) => name.trim())
  assert.deepEqual(names.toSorted(), ['embed-a', 'embed-b', 'prefill-a', 'prefill-b', 'prefill-new'])
  for (const [i, [name, ofPods]] of Object.entries(OF_PODS).entries()) {
    const expected = await ask(url, ofPods, NOW_MS)
    for (const [row, pod] of names.entries())
      assertShown(
        await rows
          .nth(row)
          .locator('td')
          .nth(3 + i)
          .innerText(),
        expected.get(pod),
        `${name} of ${pod}`,
      )
  }
}

interface TableTexts {
  readonly head: readonly string[]
  readonly body: readonly (readonly string[])[]
}

/** Runs in the page. */
function textsOf(table: Element): TableTexts {
  const texts = (row: Element): string[] => [...row.children].map((cell) => (cell as HTMLElement).innerText)
  return {
    head: [...table.querySelectorAll('thead tr')].flatMap(texts),
    body: [...table.querySelectorAll('tbody tr:not([aria-hidden])')].map(texts),
  }
}

/** Compares every row of the table behind a chart that is in the document; gives how many numbers and gaps they are. */
async function assertChart(chart: Locator, url: string, name: string): Promise<{ numbers: number; gaps: number }> {
  const seen = { numbers: 0, gaps: 0 }
  const { head, body } = await chart.locator('table').evaluate(textsOf)
  for (const [time = '', ...cells] of body) {
    const timeMs = Date.parse(`${time.replace(' ', 'T')}Z`)
    const expected = await ask(url, `avg by (service) (${held(OF_PODS[name] ?? '')})`, timeMs)
    for (const [i, cell] of cells.entries()) {
      const [service = '', unit = ''] = (head[i + 1] ?? '').split(' ')
      const text = cell.trim()
      if (text === '–') {
        assert.equal(expected.get(service), undefined, `${name} of ${service} at ${time} is a gap`)
        seen.gaps++
      } else {
        assertShown(`${text} ${unit}`, expected.get(service), `${name} of ${service} at ${time}`)
        seen.numbers++
      }
    }
  }
  return seen
}

test('every number of the page of an app is that of PromQL over the raw samples', {
  ...needs('prometheus', 'promtool', 'chromium-headless-shell'),
}, async (t) => {
  assert.ok(await setUpWeb(), 'the page could not be built')
  const { raw, rows } = samples()
  const url = await startBackfilled(t, byMetric([...raw, ...rows]))
  const env = { SONDE_CONSOLE_PROMETHEUS_INTERVAL_MS: String(INTERVAL_MS) }
  const sonde = await startSonde(['console', '--prometheus', url, '--log-level', 'error'], { env })
  t.after(() => sonde.stop('SIGKILL'))
  const browser = await startBrowser()
  t.after(() => browser.close())
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  page.setDefaultTimeout(SHOW_LIMIT_MS)

  // The minutes in which one pod is replaced and those of a service restart.
  const [from, to] = [NOW_MS - 1_260_000, NOW_MS - 840_000].map((ms) => new Date(ms).toISOString().slice(0, 19))
  await page.goto(`${sonde.address}/apps/chat/gpu?from=${from}Z&to=${to}Z`)
  await rowsOfServices(page).nth(1).waitFor()
  await assertServices(page, url)
  await assertPods(page, url)
  for (const name of CHARTS) {
    const chart = page.getByRole('region', { name, exact: true })
    await chartNamed(page, name).group.press('t')
    const box = page.getByRole('region', { name: `${name} as a table` })
    await box.waitFor()
    let [numbers, gaps] = [0, 0]
    for (const scrolledPx of [0, 200, 400, 2000]) {
      await box.evaluate((element, px) => element.scrollTo(0, px), scrolledPx)
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
      const seen = await assertChart(chart, url, name)
      numbers += seen.numbers
      gaps += seen.gaps
    }
    assert.ok(numbers >= 40, `${name}: ${numbers} numbers were compared`)
    assert.ok(gaps >= 4, `${name}: a restart of all pods is a gap, not a line`)
  }
})
