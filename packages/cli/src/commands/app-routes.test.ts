import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { appRoutes } from '@sonde/console'
import type { AppGpuAnswer, AppMetricsAnswer, AppsAnswer } from '@sonde/sdk/api'
import type { History } from '@sonde/sdk/internal'
import { podSource, type TestPod, type TestPods } from '../../../agent/test/pod-source.ts'
import { serveAgent } from '../../../agent/test/served-agent.ts'
import { until } from '../../../sdk/test/helper.ts'
import { gpuReaders } from './gpu-readers.ts'

const LIMITS = { services: 3, concurrent: 2, cells: 5000 }

const gpu = (UUID: string, util: number, watts = 100) => ({
  UUID,
  values: { gpu_util: util, power_usage: watts, fb_used: 10, fb_free: 20, fb_reserved: 2, sm_active: util / 200 },
})
const pod = (service: string, name: string, gpus: TestPod['gpus'], more: Partial<TestPod> = {}): TestPod => {
  return { app: 'chat', service, pod: name, gpus, ...more }
}

const PODS: readonly TestPod[] = [
  pod('decode', 'decode-0', [gpu('G0', 10), gpu('G1', 30, 200)]),
  pod('decode', 'decode-1', [gpu('G2', 80, 700)]),
  pod('prefill', 'prefill-0', [gpu('G3', 50)]),
  pod('trainer', 'trainer-0', [{ UUID: 'G4' }], { app: 'pretrain' }),
]

async function serve(t: TestContext, start: TestPods = { pods: PODS }, before = async (): Promise<void> => undefined) {
  const state = { now: start }
  const { address, agent } = await serveAgent(t, {
    sources: [podSource(() => state.now)],
    routes: (app, agent) =>
      appRoutes(app, {
        history: delayed(agent.history, before),
        limits: () => LIMITS,
        readers: () => gpuReaders(agent),
      }),
  })
  const get = async <T>(path: string) => {
    const answer = await fetch(`${address}/api/v1/apps${path}`)
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as T }
  }
  const gpuUntil = (app: string, holds: (answer: AppGpuAnswer) => boolean) =>
    until(`the GPUs of ${app}`, async () => {
      const { body } = await get<AppGpuAnswer>(`/${app}/gpu`)
      return holds(body) && body
    })
  return { state, get, gpuUntil, agent }
}

/** The same history, with later answers. */
function delayed(history: History, before: () => Promise<void>): History {
  return {
    query: async (request) => {
      await before()
      return history.query(request)
    },
  }
}

test('apps, services and pods have the numbers of their GPUs', async (t) => {
  const { get, gpuUntil } = await serve(t)
  const { services, pods, state, knowsRequests } = await gpuUntil('chat', (answer) => answer.pods.length === 3)
  assert.deepEqual([state, knowsRequests], ['ready', true])
  await gpuUntil('chat', ({ intervalMs }) => intervalMs > 0)
  const [decode, prefill] = services
  assert.deepEqual(
    services.map(({ name, pods, gpus }) => [name, pods, gpus]),
    [
      ['decode', 2, 3],
      ['prefill', 1, 1],
    ],
  )
  assert.deepEqual(decode?.values['gpu-util'], { avg: 50, min: 20, max: 80, count: 2 })
  assert.deepEqual(decode?.values['gpu-power-w'], { avg: 500, min: 300, max: 700, count: 2 })
  assert.deepEqual(decode?.values['gpu-mem-total']?.max, 64 * 2 ** 20)
  assert.equal(prefill?.values['gpu-tensor-active'], null)
  assert.deepEqual(
    pods.map(({ name, gpus, requested }) => [name, gpus, requested]),
    [
      ['decode-0', 2, 2],
      ['decode-1', 1, 1],
      ['prefill-0', 1, 1],
    ],
  )
  const { body: apps } = await get<AppsAnswer>('')
  assert.deepEqual(
    apps.apps.map(({ name, services, pods, gpus, util, powerW }) => [name, services, pods, gpus, util, powerW]),
    [
      ['pretrain', 1, 1, 1, null, null],
      ['chat', 2, 3, 4, { avg: 50, min: 20, max: 80, count: 3 }, 1100],
    ],
  )
  const { body: list } = await get<Record<string, unknown>[]>('/chat/services')
  assert.deepEqual([list[0]?.name, list[0]?.gpu, list[0]?.['gpu-util']], ['decode', 3, 50])
  assert.ok(!('gpu-tensor-active' in (list[0] ?? {})), 'what is not known is left out')
  const { body: processes } = await get<Record<string, unknown>[]>('/chat/processes')
  assert.deepEqual(
    processes.map(({ id }) => id),
    ['decode-0', 'decode-1', 'prefill-0'],
  )
  const one = await get<Record<string, unknown>[]>('/chat/processes/decode-1')
  assert.deepEqual([one.status, one.body[0]?.['gpu-util'], one.body[0]?.status], [200, 80, 'running'])
  assert.equal(one.headers.get('cache-control'), 'no-store')
})

test('series come in the order of the request, also of a service without data', async (t) => {
  const { get, gpuUntil } = await serve(t)
  await gpuUntil('chat', (answer) => answer.pods.length === 3)
  await until('a minute of series', async () => {
    const { status, body } = await get<AppMetricsAnswer>(
      '/chat/metrics-by-service?services=prefill,none,decode&period=5&fields=gpu-power-w,gpu-util',
    )
    assert.equal(status, 200)
    assert.deepEqual(
      body.services.map(({ name }) => name),
      ['prefill', 'none', 'decode'],
    )
    const [, none, decode] = body.services
    assert.deepEqual(none?.metrics, [])
    const last = decode?.metrics.map(({ name, avg, min, max, count }) => [
      name,
      ...[avg, min, max, count].map((v) => v.at(-1)),
    ])
    if (last?.length !== 2 || last.some((values) => values.includes(null as never))) return false
    assert.deepEqual(last, [
      ['gpu-power-w', 500, 300, 700, 2],
      ['gpu-util', 50, 20, 80, 2],
    ])
    assert.equal(body.times.length, decode?.metrics[0]?.avg.length)
    return true
  })
  await until('the series of one service', async () => {
    const { body } = await get<AppMetricsAnswer>('/chat/services/prefill/metrics?period=5')
    const names = body.services.map(({ name, metrics }) => [name, metrics.map((metric) => metric.name)])
    if (body.services[0]?.metrics.length === 0) return false
    // Metrics that no GPU reports are left out. Total memory is left out too, because it hardly changes.
    assert.deepEqual(names, [['prefill', ['gpu-util', 'gpu-mem-used', 'gpu-sm-active', 'gpu-power-w']]])
    return true
  })
})

test('invalid requests are refused with the allowed values', async (t) => {
  const { get } = await serve(t)
  const by = '/chat/metrics-by-service?services=decode'
  for (const [path, status, code, words] of [
    [`${by}&start=2000&end=1000`, 400, 'QRY_FORM', /a time after start/],
    [`${by}&start=1000&end=1000`, 400, 'QRY_FORM', /a time after start/],
    [`${by}&start=0&end=86400001`, 400, 'QRY_FORM', /at most 24 h/],
    [`${by}&period=0`, 400, 'QRY_FORM', /whole seconds, at least 5/],
    [`${by}&period=-5`, 400, 'QRY_FORM', /whole seconds/],
    [`${by}&period=7.5`, 400, 'QRY_FORM', /whole seconds/],
    [`${by}&start=0&end=86400000&period=5`, 400, 'QRY_FORM', /at most 5000 points/],
    [`${by}&start=0&end=86400000&period=30`, 400, 'APP_CAP', /gpu_metrics_max_cells/],
    [`${by}&start=yesterday`, 400, 'QRY_FORM', /ISO 8601/],
    [`${by}&fields=gpu-util,gpu-heat`, 400, 'QRY_FORM', /gpu-power-w/],
    ['/chat/metrics-by-service', 400, 'QRY_FORM', /services is missing/],
    ['/chat/metrics-by-service?services=', 400, 'QRY_FORM', /names of letters/],
    ['/chat/metrics-by-service?services=a,a', 400, 'QRY_FORM', /each service once/],
    ['/chat/metrics-by-service?services=a&services=b', 400, 'QRY_FORM', /once/],
    ['/chat/metrics-by-service?services=a,b,c,d', 400, 'APP_CAP', /allowed: 3.*gpu_metrics_max_pods/],
    ['/chat/metrics-by-service?services=a%22b', 400, 'QRY_FORM', /names of letters/],
    ['/chat/metrics-by-service?services=.*', 400, 'QRY_FORM', /names of letters/],
    ['/chat/metrics-by-service?services=a|b', 400, 'QRY_FORM', /names of letters/],
    ['/a%22%7D%20or%20b/gpu', 400, 'QRY_FORM', /names of letters/],
    [`/chat/metrics-by-service?services=${'x'.repeat(254)}`, 400, 'QRY_FORM', /names of letters/],
    ['/chat/processes/none', 404, 'APP_UNKNOWN', /no GPU pod none/],
    ['/chat/gpu?largest=yes', 400, 'QRY_FORM', /true, false/],
  ] as const) {
    const { status: told, body } = await get<{ error?: { code: string; message: string } }>(path)
    assert.deepEqual([path, told, body.error?.code], [path, status, code])
    assert.match(body.error?.message ?? '', words)
  }
})

test('more requests for series than may be answered at a time are told to come again', async (t) => {
  const gate = Promise.withResolvers<void>()
  const { get } = await serve(t, { pods: PODS }, () => gate.promise)
  const path = '/chat/metrics-by-service?services=decode'
  const first = [get(path), get(path)]
  const third = await until('a refusal', async () => {
    const answer = await Promise.race([get<{ error: { code: string; message: string } }>(path), ...first])
    return answer.status === 503 && answer
  })
  assert.equal(third.headers.get('retry-after'), '5')
  assert.match(JSON.stringify(third.body), /QRY_BUSY.*gpu_metrics_max_concurrent/)
  gate.resolve()
  assert.deepEqual(
    (await Promise.all(first)).map(({ status }) => status),
    [200, 200],
  )
  assert.equal((await get(path)).status, 200)
})

test('an answer says why there are no numbers', async (t) => {
  const { state, gpuUntil } = await serve(t, { pods: [] })
  await gpuUntil('chat', (answer) => answer.state === 'no_pods')
  state.now = { pods: [pod('decode', 'a', [{ UUID: 'G0' }], { startedS: Date.now() / 1000 })] }
  await gpuUntil('chat', (answer) => answer.state === 'warming')
  state.now = { pods: [pod('decode', 'a', [{ UUID: 'G0' }])] }
  const held = await gpuUntil('chat', (answer) => answer.state === 'late')
  assert.match(held.advice.join(' '), /Nothing reports the GPUs that it holds; look at the exporter of their node/)
  state.now = { pods: [pod('decode', 'a', [], { requested: 1, startedS: 1_700_000_000 })] }
  const unheld = await gpuUntil(
    'chat',
    ({ pods, state }) => state === 'late' && pods[0]?.gpus === 0 && pods[0].startedMs !== null,
  )
  assert.match(unheld.advice.join(' '), /which GPU these pods hold: a/)
})

test('a node without GPUs differs from a node whose GPUs may not be read', async (t) => {
  const empty = await serve(t, { probe: 'absent', pods: [] })
  await empty.gpuUntil('chat', (answer) => answer.state === 'no_node')
  const denied = await serve(t, { probe: 'denied', pods: [] })
  const { summary } = await denied.gpuUntil('chat', (answer) => answer.state === 'disabled')
  assert.match(summary, /pods_of_test cannot read GPUs: .*may not be opened/)
})

test('a pod that is renamed or gone is in no answer but for the last that it was seen in', async (t) => {
  const { state, gpuUntil, get } = await serve(t)
  await gpuUntil('chat', (answer) => answer.pods.length === 3)
  state.now = { pods: PODS.slice(0, 2).map((one) => ({ ...one, app: 'talk' })) }
  await gpuUntil('talk', (answer) => answer.pods.length === 2)
  await gpuUntil('chat', (answer) => answer.pods.length === 0)
  const { body } = await get<AppsAnswer>('')
  assert.deepEqual(
    body.apps.map(({ name }) => name),
    ['talk'],
  )
})
