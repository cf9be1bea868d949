import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { AppGpuAnswer, GpuPod } from '@sonde/sdk/api'
import { runSonde, startSonde, temporaryDir, until } from '../sonde-process.ts'

const LIMIT_MS = 60_000

/** A server of one body on a port of its own, which may be closed and opened again. */
class Endpoint {
  body = ''
  port = 0
  #server: ReturnType<typeof createServer> | undefined

  async open(): Promise<void> {
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).end(this.body)
    })
    server.listen(this.port, '127.0.0.1')
    await once(server, 'listening')
    this.port = (server.address() as AddressInfo).port
    this.#server = server
  }

  /** From now on connections are refused. */
  async close(): Promise<void> {
    const server = this.#server
    if (server === undefined) return
    this.#server = undefined
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }

  get address(): string {
    return `http://127.0.0.1:${this.port}/metrics`
  }
}

interface ExportedPod {
  readonly pod: string
  readonly util: number
  /** End of each line, such as a time. */
  readonly end?: string
  /** Whether labels have the names that a Prometheus without `honor_labels` gives to the labels of a target. */
  readonly isRenamed?: boolean
}

/** The page of the exporter of a node, with one GPU for each pod. */
function exporterBody(node: string, pods: readonly ExportedPod[]): string {
  const lines = pods.map(({ pod, util, end = '', isRenamed = false }, gpu) => {
    const device = `gpu="${gpu}",UUID="GPU-${node}-${gpu}",device="nvidia${gpu}",modelName="H100",Hostname="${node}"`
    const own = isRenamed
      ? `exported_namespace="ml",exported_pod="${pod}",exported_container="c",namespace="gpu",pod="dcgm-exporter-1"`
      : `namespace="ml",pod="${pod}",container="c"`
    const labels = `{${device},${own},app="llama",service="chat"}`
    return [`DCGM_FI_DEV_GPU_UTIL${labels} ${util}${end}`, `DCGM_FI_DEV_POWER_USAGE${labels} ${100 + util}${end}`]
  })
  return `${lines.flat().join('\n')}\n`
}

/** The page of kube-state-metrics about pods that request a GPU each. */
function clusterBody(
  pods: readonly { readonly pod: string; readonly node: string; readonly started: number }[],
): string {
  const lines = pods.flatMap(({ pod, node, started }) => {
    const labels = `namespace="ml",pod="${pod}",uid="uid-${pod}-${started}"`
    return [
      `kube_pod_info{${labels},node="${node}"} 1`,
      `kube_pod_labels{${labels},label_app="llama",label_service="chat"} 1`,
      `kube_pod_start_time{${labels}} ${started}`,
      `kube_pod_status_phase{${labels},phase="Running"} 1`,
      `kube_pod_container_resource_requests{${labels},container="c",node="${node}",resource="nvidia_com_gpu",unit="integer"} 1`,
    ]
  })
  return `${lines.join('\n')}\n`
}

async function startCluster(t: TestContext) {
  const [honest, other, cluster] = [new Endpoint(), new Endpoint(), new Endpoint()]
  for (const endpoint of [honest, other, cluster]) {
    await endpoint.open()
    t.after(() => endpoint.close())
  }
  const { path, remove } = temporaryDir()
  t.after(remove)
  const config = join(path, 'sonde.yaml')
  writeFileSync(
    config,
    `data_sources:
  - { type: dcgm_exporter, interval_ms: 1000, collect_interval_ms: 1000, addresses: ['${honest.address}', '${other.address}'] }
  - { type: kube_state_metrics, interval_ms: 1000, addresses: ['${cluster.address}'] }
`,
  )
  return { honest, other, cluster, config }
}

const utilOf = (pods: readonly GpuPod[], name: string) => pods.find((pod) => pod.name === name)?.values['gpu-util']

test('what one exporter or node does costs its own pods alone, and is told', async (t) => {
  const { honest, other, cluster, config } = await startCluster(t)
  const startedS = Math.floor(Date.now() / 1000) - 3600
  const podsOf = (...names: string[]) => names.map((pod) => ({ pod, node: `node-${pod[0]}`, started: startedS }))
  const podPair = (util: number, more: Partial<ExportedPod> = {}): ExportedPod[] => [
    { pod: 'b-0', util, ...more },
    { pod: 'b-1', util: util + 10, ...more },
  ]
  const serve = (pods: readonly ExportedPod[]) => {
    other.body = exporterBody('node-b', pods)
  }
  honest.body = exporterBody('node-a', [
    { pod: 'a-0', util: 50 },
    { pod: 'a-1', util: 60 },
  ])
  serve(podPair(70))
  cluster.body = clusterBody(podsOf('a-0', 'a-1', 'b-0', 'b-1'))
  await other.close()
  const sonde = await startSonde(['up', '--config', config])
  t.after(() => sonde.stop())
  let isHonestSeen = false
  /** Waits for an answer. The numbers of the honest exporter are in each from the first on. */
  const answerWith = (what: string, holds: (answer: AppGpuAnswer) => boolean): Promise<AppGpuAnswer> =>
    until(what, LIMIT_MS, async () => {
      const answer = (await (await fetch(`${sonde.address}/api/v1/apps/llama/gpu`)).json()) as AppGpuAnswer
      const numbers = [utilOf(answer.pods, 'a-0'), utilOf(answer.pods, 'a-1')]
      if (isHonestSeen) assert.deepEqual(numbers, [50, 60], what)
      return holds(answer) && answer
    })
  const rowOf = async (pod: string) => {
    const { output, code } = await runSonde(['ps', '--url', sonde.address, '--app', 'llama'])
    assert.equal(code, 0, output)
    return { row: output.split('\n').find((line) => line.includes(pod)) ?? '', output }
  }
  const failures = async () => {
    const source = await (await fetch(`${sonde.address}/api/v1/sources/dcgm_exporter`)).json()
    return (source as { failures: { place: string; message: string }[] }).failures
  }

  await t.test('an exporter refuses connections', async () => {
    const { services, pods } = await answerWith('half of the pods', (answer) => {
      return answer.knowsRequests && answer.pods.length === 4 && utilOf(answer.pods, 'a-1') === 60
    })
    isHonestSeen = true
    const [chat] = services
    assert.deepEqual([chat?.isPartial, chat?.missing, chat?.expected?.seen], [true, ['b-0', 'b-1'], 2])
    assert.deepEqual(chat?.values['gpu-util'], { avg: 55, min: 50, max: 60, count: 2 })
    assert.deepEqual([utilOf(pods, 'b-0'), pods.find(({ name }) => name === 'b-0')?.gpus], [null, 0])
    const [failure] = await failures()
    assert.deepEqual([failure?.place, /ECONNREFUSED/.test(failure?.message ?? '')], [other.address, true])
    const { row, output } = await rowOf('b-0')
    assert.match(row, / - /)
    assert.match(
      output,
      /^b-0, b-1: no numbers: it has a node, and it is not known which GPU it holds; look .*at the exporter/m,
    )
  })

  await t.test('it answers, and a Prometheus in front of it renamed the labels', async () => {
    await other.open()
    await answerWith('all pods', ({ pods }) => utilOf(pods, 'b-1') === 80)
    serve(podPair(71, { isRenamed: true }))
    const { pods, services } = await answerWith(
      'the pods of renamed labels',
      (answer) => utilOf(answer.pods, 'b-1') === 81,
    )
    assert.deepEqual(
      pods.map(({ name }) => name),
      ['a-0', 'a-1', 'b-0', 'b-1'],
    )
    assert.equal(services[0]?.isPartial, false)
  })

  for (const [words, skewS] of [
    ['an hour behind', -3600],
    ['an hour ahead', 3600],
  ] as const)
    await t.test(`its clock is ${words}`, async () => {
      const util = skewS > 0 ? 40 : 30
      const tick = setInterval(() => serve(podPair(util, { end: ` ${Date.now() + skewS * 1000}` })), 100)
      t.after(() => clearInterval(tick))
      const { services } = await answerWith('its numbers', ({ pods }) => utilOf(pods, 'b-1') === util + 10)
      clearInterval(tick)
      assert.equal(services[0]?.values['gpu-util']?.count, 4)
    })

  await t.test('a pod is started anew', async () => {
    serve(podPair(20))
    const again = podsOf('a-0', 'a-1', 'b-0').concat({ pod: 'b-1', node: 'node-b', started: startedS + 3590 })
    cluster.body = clusterBody(again)
    const { pods } = await answerWith('the start', (answer) => {
      return answer.pods.find(({ name }) => name === 'b-1')?.startedMs === (startedS + 3590) * 1000
    })
    assert.equal(pods.find(({ name }) => name === 'b-1')?.isWarming, true)
  })

  await t.test('it goes down', async () => {
    await other.close()
    const { services } = await answerWith('its numbers leave', ({ pods }) => utilOf(pods, 'b-0') === null)
    assert.equal(services[0]?.values['gpu-util']?.count, 2)
  })

  await t.test('its node is gone', async () => {
    cluster.body = clusterBody(podsOf('a-0', 'a-1'))
    const { services } = await answerWith('its pods leave', ({ pods }) => pods.length === 2)
    assert.deepEqual([services[0]?.isPartial, services[0]?.expected?.pods], [false, 2])
  })
})
