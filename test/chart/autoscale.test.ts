// ScaledObjects of `sonde manifests autoscale`: compiled against the models of KEDA, compared with those of an API
// server, and their queries on a real Prometheus.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { needs } from '../debian.ts'
import { ApiServerDouble } from '../doubles/api-server/api-server-double.ts'
import { type PeerSample, startBackfilled } from '../interop/query-peers.ts'
import { npmPeer } from '../npm-peer.ts'
import { runSonde, temporaryDir } from '../sonde-process.ts'
import { objectsIn } from './helm.ts'
import { compileObjects, type KubernetesObject, validateObject } from './kubernetes-types.ts'

const CHAT = { app: 'shop', service: 'chat', namespace: 'ml', deployment: 'chat', min: 2, max: 8 }
const ENTRIES = [
  { ...CHAT, trigger: 'gpu_utilization', threshold: 50 },
  { ...CHAT, trigger: 'queue_depth', threshold: 4 },
  {
    ...CHAT,
    service: 'rank',
    // In YAML 1.1, which kubectl reads, this is no text without quotes.
    deployment: 'on',
    trigger: 'queueDepth',
    threshold: 10,
    prometheusUrl: 'http://own:9090',
  },
]
const LIVE = 'http://live.monitoring.svc:9090'

interface Trigger {
  readonly name: string
  readonly metricType: string
  readonly metadata: Record<string, string>
}

const triggersOf = (object: KubernetesObject | undefined) =>
  (object?.spec as { triggers: Trigger[] } | undefined)?.triggers ?? []

const dir = temporaryDir()
const file = join(dir.path, 'sonde.yaml')
const flags = ['--config', file, '--data-dir', join(dir.path, 'data')]
let printed: KubernetesObject[] = []

before(async () => {
  const kubernetes = { autoscale: ENTRIES }
  writeFileSync(file, JSON.stringify({ kubernetes }))
  const { output: refused } = await runSonde(['manifests', 'autoscale', ...flags])
  assert.match(refused, /no Prometheus is known; (npx )?sonde params set prometheus_url=/)
  const url = 'http://me:hunter2@live.monitoring.svc:9090/'
  writeFileSync(file, JSON.stringify({ kubernetes, console: { prometheus: { url } } }))
  const { code, output } = await runSonde(['manifests', 'autoscale', ...flags])
  assert.equal(code, 0, output)
  assert.doesNotMatch(output, /hunter2/)
  assert.match(output, /ml\/sonde-prometheus needs a Secret: kubectl -n ml create secret generic sonde-prometheus/)
  printed = objectsIn(output.replace(/^sonde: .*\n/gm, ''))
})

const models = await npmPeer('kubernetes-models')

test('the objects compile against the models of KEDA, with fallback.behavior, and are valid', {
  skip: models === undefined && 'npm cannot fetch kubernetes-models',
}, async () => {
  assert.deepEqual(
    printed.map(({ kind, metadata }) => `${kind} ${metadata.name}`),
    ['TriggerAuthentication sonde-prometheus', 'ScaledObject chat', 'ScaledObject rank'],
  )
  const objects = Object.fromEntries(printed.map((object, index) => [`object${index}`, object]))
  assert.equal(compileObjects(models ?? '', objects), '')
  assert.deepEqual(printed[2]?.spec, { ...(printed[2]?.spec as object), scaleTargetRef: { name: 'on' } })
  const text = JSON.stringify(printed[1])
  const misspelt = JSON.parse(text.replace('currentReplicasIfHigher', 'currentReplicasIfMore'))
  assert.match(compileObjects(models ?? '', { misspelt }), /currentReplicasIfMore/)
  for (const object of printed) {
    // The schema of the models does not know the field.
    const known = JSON.parse(JSON.stringify(object).replace(/,"behavior":"\w+"/, ''))
    await validateObject(models ?? '', known)
  }
})

test('--check lists stale and edited objects of the API server, and only reads', async (t) => {
  const api = await ApiServerDouble.start(t)
  const check = () => runSonde(['manifests', 'autoscale', ...flags, '--check', api.address])
  assert.match((await check()).output, /has no ScaledObjects: is KEDA installed\?/)
  const [, chat, rank] = structuredClone(printed)
  api.scaledObjects = [chat, rank].filter((object) => object !== undefined)
  const same = await check()
  assert.deepEqual([same.code, same.output.trim()], [0, 'no ScaledObject is stale, of 2'])

  for (const trigger of triggersOf(chat)) trigger.metadata.serverAddress = 'http://me:hunter2@old:9090'
  for (const trigger of triggersOf(rank)) trigger.metadata.serverAddress = 'http://other:9090'
  const { code, output } = await check()
  assert.equal(code, 1, output)
  assert.equal(
    output.trim().replace('npx sonde', 'sonde'),
    `ml/chat
  stale: sonde-gpu-utilization asks http://(secret)@old:9090/, and Prometheus is at ${LIVE}
  stale: sonde-queue-depth asks http://(secret)@old:9090/, and Prometheus is at ${LIVE}
sonde manifests autoscale --config ${file} --data-dir ${join(dir.path, 'data')} --only ml/chat | kubectl apply -f -`,
  )
  assert.ok(api.requests.every((path) => path.startsWith('/apis/keda.sh/v1alpha1/scaledobjects?')))
})

test('an API server that makes no sense, refuses, sends elsewhere or never ends is told in one line', async (t) => {
  let requests = 0
  const other = createServer((_request, response) => response.end('{"items":[]}'))
  const server = createServer((_request, response) => {
    requests++
    answers[0]?.answer(response)
  })
  for (const each of [other, server]) {
    each.listen(0, '127.0.0.1')
    await once(each, 'listening')
    t.after(() => each.close())
  }
  const addressOf = (each: typeof server) => `http://127.0.0.1:${(each.address() as AddressInfo).port}`
  const body = (text: string) => (response: ServerResponse) => void response.end(text)
  const head =
    (status: number, headers = {}) =>
    (response: ServerResponse) =>
      void response.writeHead(status, headers).end()
  const page = (next: unknown) => JSON.stringify({ items: [null, 5, { metadata: 1 }], metadata: { continue: next } })
  const answers = [
    { answer: body('<html>login</html>'), told: /answers with text that is no list$/ },
    { answer: body(page({})), told: /answers with text that is no list$/ },
    { answer: head(302, { location: addressOf(other) }), told: /answers 302$/ },
    { answer: head(403), told: /needs a role with list of scaledobjects$/ },
    { answer: body(page('again')), told: /does not end its list$/ },
  ]
  for (; answers[0] !== undefined; answers.shift()) {
    const { code, output } = await runSonde(['manifests', 'autoscale', ...flags, '--check', addressOf(server)])
    assert.match(output.trim(), answers[0].told)
    assert.deepEqual([code === 0, output.trim().split('\n').length], [false, 1], output)
  }
  assert.ok(requests <= 104, `${requests}`)
})

const NOW_MS = Date.UTC(2026, 0, 2)
const MINUTE_MS = 60_000

/** Samples of a metric of a pod, each minute from 20 minutes ago until so many minutes ago. */
function samplesOf(
  metric: string,
  pod: string,
  value: number,
  { endMin = 0, renamed = '', more = {} }: { endMin?: number; renamed?: string; more?: Record<string, string> } = {},
): PeerSample[] {
  const labels = { [`${renamed}namespace`]: 'ml', [`${renamed}pod`]: pod, ...more }
  return Array.from({ length: 21 - endMin }, (_, index) => {
    return { metric, labels, timeMs: NOW_MS - (20 - index) * MINUTE_MS, value }
  })
}

/** What KEDA makes of a value: the replicas that it asks for. */
const REPLICAS: Readonly<Record<string, (value: number, threshold: number, replicas: number) => number>> = {
  Value: (value, threshold, replicas) => Math.ceil((replicas * value) / threshold),
  AverageValue: (value, threshold) => Math.ceil(value / threshold),
}

test(
  'a query has one element, or none, and asks for the right number of pods',
  needs('promtool', 'prometheus'),
  async (t) => {
    // Pods of one Deployment, a Deployment for each case; exporters whose GPU has two series count once.
    const pod = (deployment: string, number: number) => `${deployment}-7d9f8c6b5-abcd${number}`
    const gpu = (uuid: string, job = 'a') => ({ UUID: uuid, job })
    const util = 'DCGM_FI_DEV_GPU_UTIL'
    const waiting = 'vllm:num_requests_waiting'
    const samples = [
      ...samplesOf(util, pod('live', 1), 90, { more: gpu('1') }),
      ...samplesOf(util, pod('live', 1), 90, { more: gpu('1', 'b') }),
      ...samplesOf(util, pod('live', 2), 80, { more: gpu('2') }),
      // Its name begins with that of the other.
      ...samplesOf(util, pod('live-canary', 1), 0, { more: gpu('3') }),
      ...samplesOf('DCGM_FI_DEV_GPU_UTIL_RATIO', pod('renamed', 1), 75, { more: gpu('4'), renamed: 'exported_' }),
      ...samplesOf(util, pod('late', 1), 90, { more: gpu('5'), endMin: 4 }),
      ...samplesOf(util, pod('half', 1), 10, { more: gpu('6') }),
      ...samplesOf(util, pod('half', 2), 90, { more: gpu('7'), endMin: 8 }),
      ...samplesOf(util, pod('dead', 1), 90, { more: gpu('8'), endMin: 8 }),
      ...samplesOf(util, pod('gone', 1), 90, { more: gpu('9'), endMin: 15 }),
      ...samplesOf(waiting, pod('live', 1), 3),
      ...samplesOf(waiting, pod('live', 2), 6),
      ...samplesOf(waiting, pod('half', 1), 0),
      ...samplesOf(waiting, pod('half', 2), 9, { endMin: 8 }),
      ...samplesOf(waiting, pod('dead', 1), 9, { endMin: 8 }),
    ]
    const url = await startBackfilled(t, samples)
    const [gpuTrigger, queueTrigger] = triggersOf(printed[1])
    /** The value for a Deployment, and the replicas for two pods; undefined if KEDA gets an error. */
    const ask = async (trigger: Trigger | undefined, deployment: string) => {
      const { query = '', threshold } = trigger?.metadata ?? {}
      const named = query.replaceAll('chat-[', `${deployment}-[`)
      assert.notEqual(named, query)
      const answer = await fetch(`${url}/api/v1/query?time=${NOW_MS / 1000}&query=${encodeURIComponent(named)}`)
      const { status, data, error } = (await answer.json()) as {
        status: string
        error?: string
        data?: { result: { metric: object; value: [number, string] }[] }
      }
      assert.equal(status, 'success', error)
      const { result = [] } = data ?? {}
      assert.ok(result.length <= 1, `${deployment}: ${result.length} elements`)
      const [element] = result
      if (element === undefined) return undefined
      const value = Number(element.value[1])
      return [value, REPLICAS[trigger?.metricType ?? '']?.(value, Number(threshold), 2)]
    }
    // ceil(2 pods × 85 % ÷ 50 %) = 4.
    assert.deepEqual(await ask(gpuTrigger, 'live'), [85, 4])
    assert.deepEqual(await ask(gpuTrigger, 'renamed'), [75, 3])
    // Prometheus looks back five minutes.
    assert.deepEqual(await ask(gpuTrigger, 'late'), [90, 4])
    // Without the pod that is silent it would be 10 %, and one pod.
    assert.deepEqual(await ask(gpuTrigger, 'half'), [30, 2])
    for (const deployment of ['dead', 'gone', 'never']) assert.equal(await ask(gpuTrigger, deployment), undefined)
    // ceil(9 requests ÷ 4) = 3.
    assert.deepEqual(await ask(queueTrigger, 'live'), [9, 3])
    assert.deepEqual(await ask(queueTrigger, 'half'), [4, 1])
    assert.equal(await ask(queueTrigger, 'dead'), undefined)
  },
)
