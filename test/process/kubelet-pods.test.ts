import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { AppsAnswer, PodsAnswer } from '@sonde/sdk/api'
import { ask } from '../ask.ts'
import { needs } from '../debian.ts'
import { KubeletDouble, podWith } from '../doubles/kubelet/kubelet-double.ts'
import { NvmlDouble } from '../doubles/nvml/nvml-double.ts'
import { startSonde, temporaryDir, until } from '../sonde-process.ts'

const NEEDS = needs('cc', 'grpcio', 'protoc')

/** The whole agent over the doubles of driver and kubelet. */
async function bringUp(t: TestContext) {
  const nvml = new NvmlDouble(t)
  const kubelet = await new KubeletDouble(t).start()
  const dir = temporaryDir()
  t.after(() => dir.remove())
  const file = join(dir.path, 'sonde.yaml')
  const config = {
    native: { nvml_library: nvml.folder },
    data_sources: [
      { type: 'nvml', interval_ms: 1000 },
      { type: 'kubernetes', interval_ms: 1000, kubelet_socket: kubelet.socket },
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
  return { sonde, nvml, kubelet, pods }
}

test('a pod has the numbers of the GPU that the kubelet gave it, without an exporter', NEEDS, async (t) => {
  const { sonde, kubelet, pods } = await bringUp(t)
  const uuid = await until('the GPUs', 60_000, async () => {
    const text = await (await fetch(`${sonde.address}/metrics`)).text()
    return /DCGM_FI_DEV_GPU_UTIL\{gpu="0",UUID="([^"]+)"/.exec(text)?.[1] ?? false
  })
  kubelet.pods(podWith('trainer-0', [uuid]))
  const { pods: found } = await pods('the numbers of the pod', ({ pods }) => pods[0]?.values['gpu-util'] === 99)
  assert.deepEqual(
    found.map(({ namespace, name, gpus }) => [namespace, name, gpus]),
    [['ml', 'trainer-0', 1]],
  )
  const { apps } = await ask<AppsAnswer>(sonde, '/api/v1/apps')
  assert.deepEqual(
    apps.map(({ name, gpus }) => [name, gpus]),
    [['', 1]],
  )
  kubelet.pods()
  await pods('the pod is gone', ({ pods }) => pods.length === 0)
})
