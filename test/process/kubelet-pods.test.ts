import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AppsAnswer } from '@sonde/sdk/api'
import { ask } from '../ask.ts'
import { needs } from '../debian.ts'
import { apiPod } from '../doubles/api-server/api-server-double.ts'
import { podWith } from '../doubles/kubelet/kubelet-double.ts'
import { firstGpu, startPodChain } from '../pod-chain.ts'
import { runSonde } from '../sonde-process.ts'

const NEEDS = needs('cc', 'grpcio', 'protoc')

test('a pod has the numbers of its GPU, without an exporter: driver, kubelet and API server', NEEDS, async (t) => {
  const { file, sonde, kubelet, api, pods } = await startPodChain(t)
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
