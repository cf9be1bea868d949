import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { appRoutes } from '@sonde/console'
import { wallNs } from '@sonde/sdk'
import type { AppGpuAnswer, AppMetricsAnswer, AppsAnswer } from '@sonde/sdk/api'
import { createOwnSource } from '@sonde/sdk/internal'
import { appGpuType, podGpuType } from '../../../agent/test/pod-source.ts'
import { serveAgent } from '../../../agent/test/served-agent.ts'
import { openStore } from '../../../console/test/open-store.ts'
import { until } from '../../../sdk/test/helper.ts'

const LIMITS = { services: 100, concurrent: 10, cells: 250_000 }

interface Service {
  readonly name: string
  readonly pods: number
  /** Bytes of GPU memory of each pod. */
  readonly gpus: number
}

/** An agent over a store that holds one current row of each service and pod. */
async function serve(t: TestContext, services: readonly Service[]) {
  const { store, close } = await openStore()
  t.after(close)
  const { address } = await serveAgent(t, {
    history: store,
    routes: (app) => appRoutes(app, { history: store, limits: () => LIMITS }),
  })
  const source = createOwnSource({ id: 'pods', labels: {}, intervalMs: 60_000, emit: (batch) => store.accept(batch) })
  const time = wallNs()
  for (const { name: service, pods, gpus } of services) {
    const counts = { util_pods: pods, memory_used_pods: 0, memory_total_pods: 0, tensor_active_pods: 0, power_pods: 0 }
    const more = { sm_active_pods: 0, dram_active_pods: 0, fp16_active_pods: 0, fp32_active_pods: 0 }
    const util = { util_ratio: 0.5, util_min_ratio: 0.5, util_max_ratio: 0.5 }
    const row = { time, app: 'chat', service, pods, gpus: pods * gpus, ...util, ...counts, ...more }
    source.report(appGpuType, row as never)
    for (let i = 0; i < pods; i++) {
      const labels = { app: 'chat', service, namespace: 'ml', pod: `${service}-${i}` }
      source.report(podGpuType, {
        time,
        ...labels,
        count: gpus,
        instances: 0,
        shared_with: 0,
        util_ratio: 0.5,
      } as never)
    }
    await source.flush()
    await store.flush()
  }
  const get = async <T>(path: string) => {
    const answer = await fetch(`${address}/api/v1/apps${path}`)
    return { status: answer.status, body: (await answer.json()) as T }
  }
  // Answers describe the last full second.
  await until('the rows', async () => {
    const { body } = await get<AppsAnswer>('')
    return body.apps[0]?.services === services.length
  })
  return { get }
}

interface Refusal {
  readonly error: { readonly code: string; readonly message: string }
}

test('if there are too many services, a request may ask for those with the most GPUs', async (t) => {
  const services = Array.from({ length: 130 }, (_, i) => ({ name: `service-${i}`, pods: 1 + (i % 2), gpus: 1 + i }))
  const { get } = await serve(t, services)
  const refused = await get<Refusal>('/chat/gpu')
  assert.deepEqual([refused.status, refused.body.error.code], [400, 'APP_CAP'])
  assert.match(refused.body.error.message, /130 services with 195 GPU pods.*allowed: 100 services.*largest=true/)
  const { status, body } = await get<AppGpuAnswer>('/chat/gpu?largest=true')
  assert.equal(status, 200)
  const gpusOf = ({ pods, gpus }: Service) => pods * gpus
  const largest = services.toSorted((a, b) => gpusOf(b) - gpusOf(a) || (a.name < b.name ? -1 : 1)).slice(0, 100)
  assert.deepEqual(new Set(body.services.map(({ name }) => name)), new Set(largest.map(({ name }) => name)))
  const pods = largest.reduce((sum, one) => sum + one.pods, 0)
  assert.deepEqual([body.pods.length, body.leftOut], [pods, { services: 30, pods: 195 - pods }])
  const some = await get<AppGpuAnswer>('/chat/gpu?services=service-3,service-0')
  assert.deepEqual(
    some.body.services.map(({ name, gpus }) => [name, gpus]),
    [
      ['service-0', 1],
      ['service-3', 8],
    ],
  )
  // A hundred names are too long for one expression.
  const names = largest.map(({ name }) => name)
  await until('a point of each', async () => {
    const path = `/chat/metrics-by-service?services=${names}&fields=gpu-util&period=5`
    const { status, body } = await get<AppMetricsAnswer>(path)
    assert.equal(status, 200)
    const told = body.services.map(({ name }) => name)
    assert.deepEqual(told, names)
    return body.services.every(({ metrics }) => metrics[0]?.avg.some((value) => value === 50))
  })
})

test('without a period a series has steps that are multiples of the distance of its rows', async (t) => {
  const { get } = await serve(t, [{ name: 'decode', pods: 2, gpus: 1 }])
  const periodOf = async (asked: string) => (await get<AppMetricsAnswer>(`/chat/services/${asked}`)).body.periodMs
  const nowMs = Date.now()
  assert.equal(await periodOf('decode/metrics'), 60_000, 'a minute, as the rows say of themselves')
  assert.equal(
    await periodOf(`decode/metrics?start=${nowMs - 86_400_000}&end=${nowMs}`),
    300_000,
    'a day in 288 points',
  )
  assert.equal(await periodOf('decode/metrics?period=7'), 7000, 'what is asked for is taken at its word')
  for (const unknown of ['decode/metrics?start=2020-01-01&end=2020-01-01T00:30', 'none/metrics'])
    assert.equal(await periodOf(unknown), 6000, 'where there are no rows, half an hour in 300 points')
})

test('apps of 10 000 pods are listed, and what is too much for one answer is refused with what to do', async (t) => {
  const services = [
    { name: 'large', pods: 10_001, gpus: 1 },
    { name: 'small', pods: 20, gpus: 2 },
  ]
  const { get } = await serve(t, services)
  const { body: apps } = await get<AppsAnswer>('')
  assert.deepEqual(
    apps.apps.map(({ name, pods, gpus, util }) => [name, pods, gpus, util?.count]),
    [['chat', 10_021, 10_041, 10_021]],
  )
  for (const path of [
    '/chat/gpu',
    '/chat/gpu?largest=true',
    '/chat/services',
    '/chat/processes',
    '/chat/gpu?services=large',
  ]) {
    const { status, body } = await get<Refusal>(path)
    assert.deepEqual([path, status, body.error?.code], [path, 400, 'APP_CAP'])
    assert.match(body.error.message, /services=a,b/)
  }
  const some = await get<AppGpuAnswer>('/chat/gpu?services=small')
  assert.deepEqual([some.status, some.body.pods.length], [200, 20])
  const charts = await get<AppMetricsAnswer>('/chat/metrics-by-service?services=large,small&period=5')
  assert.deepEqual([charts.status, charts.body.services.length], [200, 2])
})
