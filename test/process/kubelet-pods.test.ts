import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { AppGpuPod, AppsAnswer, PodAnswer, PodsAnswer } from '@sonde/sdk/api'
import { ask } from '../ask.ts'
import { needs } from '../debian.ts'
import { ApiServerDouble, apiPod } from '../doubles/api-server/api-server-double.ts'
import { KubeletDouble, podWith } from '../doubles/kubelet/kubelet-double.ts'
import { NvmlDouble } from '../doubles/nvml/nvml-double.ts'
import { startPrometheus } from '../interop/prometheus-peer.ts'
import { runSonde, startSonde, temporaryDir, until } from '../sonde-process.ts'

const NEEDS = needs('cc', 'grpcio', 'protoc')

/** The whole agent over the doubles of driver and kubelet. */
async function bringUp(t: TestContext, more: readonly object[] = []) {
  const nvml = new NvmlDouble(t)
  const kubelet = await new KubeletDouble(t).start()
  const api = await ApiServerDouble.start(t)
  const dir = temporaryDir()
  const token = join(dir.path, 'token')
  writeFileSync(token, 'token-of-the-test')
  api.tokens = ['token-of-the-test']
  t.after(() => dir.remove())
  const file = join(dir.path, 'sonde.yaml')
  const config = {
    native: { nvml_library: nvml.folder },
    export: { prometheus: { copy_pod_labels: true } },
    data_sources: [
      { type: 'nvml', interval_ms: 1000 },
      {
        ...{ type: 'kubernetes', interval_ms: 1000, kubelet_socket: kubelet.socket, node_name: 'node-a' },
        ...{ api_server: api.address, api_token_file: token, api_ca_file: '' },
        pod_labels: ['team'],
      },
      ...more,
    ],
  }
  writeFileSync(file, JSON.stringify(config))
  const sonde = await startSonde(['agent', '--log-level', 'error', '--config', file])
  t.after(() => sonde.stop())
  const pods = (what: string, holds: (answer: PodsAnswer) => boolean) =>
    until(what, 60_000, async () => {
      const answer = await ask<PodsAnswer>(sonde, '/api/v1/pods')
      return holds(answer) && answer
    })
  return { file, sonde, nvml, kubelet, api, pods }
}

/** An answer of kube-state-metrics, with one pod that asks for four GPUs and has no node. */
async function startKubeStateMetrics(t: TestContext): Promise<string> {
  const labels = 'namespace="ml",pod="waits-0",uid="u7"'
  const lines = [
    `kube_pod_container_resource_requests{${labels},container="c",node="",resource="nvidia_com_gpu",unit="integer"} 4`,
    `kube_pod_labels{${labels},label_app="pretrain",label_service="worker"} 1`,
    `kube_pod_status_phase{${labels},phase="Pending"} 1`,
  ]
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/plain; version=0.0.4').end(`${lines.join('\n')}\n`)
  })
  t.after(() => server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`
}

/** The GPU of a driver that is there. */
function firstGpu(sonde: { readonly address: string }): Promise<string> {
  return until('the GPUs', 60_000, async () => {
    const text = await (await fetch(`${sonde.address}/metrics`)).text()
    return /DCGM_FI_DEV_GPU_UTIL\{gpu="0",UUID="([^"]+)"/.exec(text)?.[1] ?? false
  })
}

test('the page of a pod is the same at the agent and over a Prometheus that scrapes it, with what others tell', {
  ...needs('cc', 'grpcio', 'protoc', 'prometheus'),
}, async (t) => {
  const more = [{ type: 'kube_state_metrics', interval_ms: 1000, addresses: [await startKubeStateMetrics(t)] }]
  const { sonde, kubelet, api } = await bringUp(t, more)
  kubelet.pods(podWith('trainer-0', [await firstGpu(sonde)]))
  api.put(apiPod('trainer-0', { labels: { app: 'pretrain', service: 'worker' } }))
  const prometheus = await startPrometheus(t, new URL(sonde.address).host, 1, undefined, { honorLabels: true })
  const page = await startSonde(['console', '--prometheus', prometheus.address, '--log-level', 'error'])
  t.after(() => page.stop())
  const answerOf = (server: typeof page, name: string, holds: (pod: AppGpuPod) => boolean) =>
    until(`${name} at ${server.address}`, 60_000, async () => {
      const { pod } = await ask<PodAnswer>(server, `/api/v1/pods/ml/${name}`)
      return pod !== null && holds(pod) && pod
    })
  const isWhole = ({ values, app, node }: AppGpuPod) => values['gpu-util'] === 99 && app === 'pretrain' && node !== ''
  const [here, there] = [await answerOf(sonde, 'trainer-0', isWhole), await answerOf(page, 'trainer-0', isWhole)]
  // Hints, and so the condition, are known by agents alone.
  const shown = ({ app, service, gpus, requested, node, values }: AppGpuPod) => {
    const { 'gpu-mem-used': used, 'gpu-mem-total': total } = values
    return { app, service, gpus, requested, node, used, total }
  }
  assert.deepEqual(shown(there), shown(here))
  assert.deepEqual([here.service, here.gpus, here.requested, here.node], ['worker', 1, 1, 'node-a'])
  for (const server of [sonde, page]) {
    const waiting = await answerOf(server, 'waits-0', ({ requested }) => requested === 4)
    assert.deepEqual([waiting.app, waiting.gpus, waiting.condition.words], ['pretrain', 0, 'not scheduled'])
  }
})

test('a pod has the numbers of its GPU, without an exporter: driver, kubelet and API server', NEEDS, async (t) => {
  const { file, sonde, kubelet, api, pods } = await bringUp(t)
  const uuid = await firstGpu(sonde)
  kubelet.pods(podWith('trainer-0', [uuid]))
  const { pods: found } = await pods('the numbers of the pod', ({ pods }) => pods[0]?.values['gpu-util'] === 99)
  assert.deepEqual(
    found.map(({ namespace, name, gpus, app, requested }) => [namespace, name, gpus, app, requested]),
    [['ml', 'trainer-0', 1, '', null]],
  )
  const waiting = { phase: 'Pending', waiting: 'ImagePullBackOff', gpus: 2 }
  api.put(apiPod('trainer-0', { labels: { 'app.kubernetes.io/name': 'pretrain', service: 'worker', team: 'vision' } }))
  api.put(apiPod('trainer-1', { labels: { app: 'pretrain' }, ...waiting }))
  const { pods: named } = await pods('its app', ({ pods }) => pods.length === 2 && pods[0]?.app === 'pretrain')
  assert.deepEqual(
    named.map(({ name, app, service, gpus, requested }) => [name, app, service, gpus, requested]),
    [
      ['trainer-1', 'pretrain', '', 0, 2],
      ['trainer-0', 'pretrain', 'worker', 1, 1],
    ],
  )
  const { apps } = await ask<AppsAnswer>(sonde, '/api/v1/apps')
  assert.deepEqual(
    apps.map(({ name, gpus }) => [name, gpus]),
    [['pretrain', 1]],
  )
  const { output } = await runSonde(['ps', '--url', sonde.address])
  assert.match(output, /^trainer-0: GPUs certain, by kubelet; app by label app\.kubernetes\.io\/name \(API server\)$/m)
  assert.match(output, /^trainer-1: app by label app \(API server\); Pending: ImagePullBackOff$/m)
  const flags = ['--config', file, '--listen', new URL(sonde.address).host]
  const whole = await runSonde(['explain', 'ml/trainer-0', ...flags])
  assert.equal(whole.code, 0, whole.output)
  assert.match(whole.output, /✓ PodResources .*: GPU-\S+; certain, by kubelet$/m)
  assert.match(
    whole.output,
    /✓ labels .*label app\.kubernetes\.io\/name, from API server: app pretrain, service worker$/m,
  )
  assert.match(whole.output, /✓ scrape .* of 9 numbers, newest/)
  const waits = await runSonde(['explain', 'trainer-1', ...flags])
  assert.equal(waits.code, 1, waits.output)
  assert.match(
    waits.output,
    /✗ pod .*\n.*came back: Pending: ImagePullBackOff; asks for 2 GPUs\n.*kubectl describe pod/,
  )
  const metrics = await (await fetch(`${sonde.address}/metrics`)).text()
  assert.match(metrics, /pod_device_present\{namespace="ml",pod="trainer-0",container="main",UUID="[^"]+"[^}]*\} 1/)
  assert.match(metrics, /^DCGM_FI_DEV_GPU_UTIL\{gpu="0",.*,team="vision",namespace="ml",pod="trainer-0"\} 99$/m)
  assert.match(metrics, /^DCGM_FI_DEV_GPU_UTIL\{gpu="1",(?!.*pod=).*\}/m)
  const ofPod = metrics.split('\n').filter((line) => line.includes('trainer-0'))
  const copied = ofPod.filter((line) => /^(DCGM|nvml)_/.test(line))
  // docs/pods.md has these numbers.
  assert.deepEqual([copied.length, ofPod.length - copied.length], [50, 20])
  assert.match(metrics, /pod_info\{namespace="ml",pod="trainer-0",app="pretrain",service="worker",[^}]*\} 1/)
  assert.ok(!`${metrics}${sonde.output()}`.includes('token-of-the-test'))
  kubelet.pods()
  api.remove('trainer-0')
  api.remove('trainer-1')
  await pods('the pods are gone', ({ pods }) => pods.length === 0)
  const after = await (await fetch(`${sonde.address}/metrics`)).text()
  assert.doesNotMatch(after, /trainer-/)
})
