import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { AppGpuAnswer, AppMetricsAnswer, AppsAnswer, ScraperAnswer, TroubleshootingAnswer } from '@sonde/sdk/api'
import type { LatestSeries, ListedType } from '@sonde/sdk/internal'
import { ask } from '../ask.ts'
import { needs } from '../debian.ts'
import { runSonde, type SondeProcess, startSonde, until } from '../sonde-process.ts'
import { startPrometheus } from './prometheus-peer.ts'

const SOURCES = new URL('../../packages/agent/src/sources/', import.meta.url)
const body = (exporter: string, name: string) =>
  readFileSync(new URL(`${exporter}/fixtures/${name}.txt`, SOURCES), 'utf8')

/** What exporters answer, by the name of their job: several nodes, of which some are broken. */
const BODIES: Readonly<Record<string, string | number>> = {
  node: body('dcgm-exporter', 'kubernetes'),
  old: body('dcgm-exporter', 'old-labels').replaceAll('GPU-', 'GPU-old-'),
  mig: body('dcgm-exporter', 'mig').replaceAll('GPU-', 'GPU-mig-'),
  shared: body('dcgm-exporter', 'time-slicing').replaceAll('GPU-', 'GPU-shared-'),
  sentinels: body('dcgm-exporter', 'sentinels').replaceAll('GPU-', 'GPU-blank-'),
  empty: '',
  broken: 500,
  pods: body('kube-state-metrics', 'cluster'),
}

/** The targets of a cluster have labels of their own: those of the exporter's pod. */
const OWN = { pod: 'dcgm-exporter-x7x2k', namespace: 'gpu-operator', service: 'dcgm-exporter', container: 'exporter' }

async function serveBodies(t: TestContext): Promise<string> {
  const server = createServer(({ url }, response) => {
    const answer = BODIES[(url ?? '').slice(1)]
    if (typeof answer === 'string') response.writeHead(200, { 'content-type': 'text/plain' }).end(answer)
    else response.writeHead(answer ?? 404).end('internal server error')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

for (const honorLabels of [true, false]) {
  test(
    `apps of a Prometheus that scrapes raw exporters, honor_labels: ${honorLabels}`,
    needs('prometheus'),
    async (t) => {
      const target = await serveBodies(t)
      const paths = Object.fromEntries(Object.keys(BODIES).map((name) => [name, `/${name}`]))
      const prometheus = await startPrometheus(t, target, 1, paths, { honorLabels, labels: OWN })
      const page = await startSonde(['console', '--prometheus', prometheus.address, '--log-level', 'error'])
      t.after(() => page.stop())
      const get = async <T>(path: string) => {
        const answer = await fetch(`${page.address}/api/v1/apps${path}`)
        assert.equal(answer.status, 200, await answer.clone().text())
        return (await answer.json()) as T
      }
      const llama = await until('scrapes of all exporters', 60_000, async () => {
        const answer = await get<AppGpuAnswer>('/llama/gpu')
        const { apps } = await get<AppsAnswer>('')
        const isWhole = answer.pods.length === 2 && answer.pods.some(({ gpus }) => gpus > 0) && apps.length >= 4
        return isWhole && answer
      })
      assert.equal(llama.state, 'ready')
      assert.equal(llama.knowsRequests, true)
      const [pending, running] = llama.pods
      assert.deepEqual(
        [running?.name, running?.namespace, running?.service, running?.gpus, running?.requested, running?.isWarming],
        ['llama-7d9c-x2x4p', 'inference', 'chat', 1, 1, false],
      )
      assert.deepEqual(
        ['gpu-util', 'gpu-mem-used', 'gpu-mem-total', 'gpu-power-w'].map((name) => running?.values[name as 'gpu-util']),
        [97, 68963 * 2 ** 20, 81559 * 2 ** 20, 641.337],
      )
      assert.equal(running?.startedMs, 1767225000_000)
      assert.ok(running?.ageMs !== null && (running?.ageMs ?? 1e9) < 30_000, `${running?.ageMs}`)
      assert.deepEqual([pending?.name, pending?.gpus, pending?.requested], ['llama-7d9c-zz9q1', 0, 1])
      const [chat] = llama.services
      assert.deepEqual(chat?.expected, { pods: 2, gpus: 2, seen: 1, missing: ['llama-7d9c-zz9q1'] })
      assert.deepEqual([chat?.isPartial, chat?.missing], [true, ['llama-7d9c-zz9q1']])

      const pods = await until('pods of all exporters', 60_000, async () => {
        const answer = (await (await fetch(`${page.address}/api/v1/pods`)).json()) as AppGpuAnswer
        // Pods are known by those of kube-state-metrics too, before an exporter of their GPU was scraped.
        const names = new Set(answer.pods.filter(({ gpus }) => gpus > 0).map(({ name }) => name))
        return ['bert-0', 'segment-a', 'notebook-0', 'notebook-1'].every((name) => names.has(name)) && answer.pods
      })
      const valuesOf = (pod: string) => {
        const found = pods.filter(({ name }) => name === pod)
        assert.equal(found.length, 1, `${pod} among ${pods.map(({ name }) => name)}`)
        return found[0]
      }
      assert.ok(!pods.some(({ name }) => name === OWN.pod), 'an idle GPU is not held by its exporter')
      assert.equal(valuesOf('bert-0')?.values['gpu-util'], 97, 'labels of old exporters')
      const segment = valuesOf('segment-a')
      assert.deepEqual([segment?.gpus, segment?.instances], [1, 1])
      assert.deepEqual([segment?.values['gpu-power-w'], segment?.values['gpu-mem-used']], [null, 20210 * 2 ** 20])
      assert.ok(valuesOf('notebook-0') && valuesOf('notebook-1'), 'pods that share a GPU')
      for (const { name, values } of pods) assert.ok((values['gpu-util'] ?? 0) <= 100, name)

      const { output, code } = await runSonde(['ps', '--prometheus', prometheus.address, '--app', 'llama'])
      assert.equal(code, 0, output)
      assert.match(output, /^inference +llama-7d9c-x2x4p +llama +chat +1 +97\.0% +67\.3GiB +79\.6GiB/m)

      const charts = await until('a sample in a chart', 60_000, async () => {
        const endMs = Date.now()
        const path = `/llama/metrics-by-service?services=chat,none&start=${endMs - 60_000}&end=${endMs}&period=5`
        const { services } = await get<AppMetricsAnswer>(path)
        return (services[0]?.metrics.length ?? 0) > 0 && services
      })
      const [util] = charts[0]?.metrics ?? []
      assert.deepEqual([util?.name, util?.avg.at(-1), util?.count.at(-1)], ['gpu-util', 97, 1])
      assert.deepEqual(charts[1]?.metrics, [])

      // A page asks for what is listed, by the routes that every history has.
      const { types } = (await (await fetch(`${page.address}/api/v1/types`)).json()) as { types: ListedType[] }
      const unnamed = types.flatMap(({ fields }) => fields.filter(({ name }) => name === ''))
      assert.deepEqual(unnamed, [], 'every field has a name')
      const listed = types.flatMap(({ fields }) => fields.map(({ metric }) => metric))
      assert.ok(listed.includes('app_gpu_util_ratio') && listed.includes('pod_gpus'))
      const query = { metric: 'app_gpu_util_ratio', function: 'avg', by: ['service'], aggregate: 'avg' }
      const toMs = Date.now()
      const form = { fromMs: toMs - 60_000, toMs, stepMs: 5000, queries: [query] }
      const { results } = await ask<{ results: { series: { labels: object; values: (number | null)[] }[] }[] }>(
        page,
        '/api/v1/query',
        form,
      )
      const asked = results[0]?.series.find(({ labels }) => JSON.stringify(labels) === '{"service":"chat"}')
      assert.equal(
        asked?.values.findLast((value) => value !== null),
        0.97,
      )
      const { series } = await ask<{ series: LatestSeries[] }>(page, '/api/v1/series?metric=app_gpu_pods')
      assert.ok(
        series.some(({ labels, value }) => labels.app === 'llama' && value === '2'),
        JSON.stringify(series),
      )
      if (honorLabels) await switchAndTroubleshoot(t, page)
    },
  )
}

/** The switch of scraping, and the hops, of a console whose exporters a Prometheus scrapes. */
async function switchAndTroubleshoot(t: TestContext, page: SondeProcess): Promise<void> {
  const scraper = () => ask<ScraperAnswer>(page, '/api/v1/scraper')
  const llama = () => ask<AppGpuAnswer>(page, '/api/v1/apps/llama/gpu')
  const hops = async () => (await ask<TroubleshootingAnswer>(page, '/api/v1/troubleshooting')).hops
  const hop = async (wanted: string) => (await hops()).find(({ name }) => name === wanted)
  const turn = (to: string) => ask<unknown>(page, '/api/v1/params', { values: { gpu_scraper_enable: to } })

  await t.test('the hops are judged by the pods and targets of the Prometheus', async () => {
    const states = (await hops()).map(({ name, state }) => `${name} ${state}`)
    assert.deepEqual(states, [
      ...['Driver unknown', 'Device plugin broken', 'Exporter ok', 'Scrape ok', 'Labels broken'],
      ...['Parameters ok', 'Webhooks off'],
    ])
    assert.match((await hop('Device plugin'))?.finding ?? '', /1 pod of \d+ .*llama-7d9c-zz9q1/)
    const { finding = '', commands = [] } = (await hop('Scrape')) ?? {}
    assert.match(finding, /^\d of \d targets are up\.$/)
    assert.match(commands.join(), /^curl -sG http:\/\/127\.0\.0\.1:\d+\/api\/v1\/query /)
  })

  await t.test('switched off, no number of exporters is served; switched on, all are', async () => {
    const { state, isOn, locked, summary } = await scraper()
    assert.deepEqual([state, isOn, locked], ['enabled', true, ''])
    assert.match(summary, /^prometheus reads exporters of \d+ GPUs\.$/)
    await turn('false')
    await until('disabled', 60_000, async () => (await scraper()).state === 'disabled')
    const { state: off, pods } = await llama()
    assert.deepEqual([off, pods.filter(({ gpus }) => gpus > 0).length], ['disabled', 0])
    assert.equal((await hop('Exporter'))?.state, 'off')
    await turn('true')
    await until('enabled again', 60_000, async () => (await scraper()).state === 'enabled')
    await until('numbers again', 60_000, async () => (await llama()).state === 'ready')
  })
}
