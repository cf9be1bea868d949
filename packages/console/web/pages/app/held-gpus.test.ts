import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeviceInfo } from '../../api/devices.ts'
import { heldGpus } from './held-gpus.ts'

const gpu = (index: number) =>
  ({ id: `gpu-${index}`, kind: 'gpu', labels: { gpu: String(index), UUID: `G${index}` } }) as unknown as DeviceInfo
const held = (pod: string, UUID: string, GPU_I_ID = '', container = 'main') => {
  const labels = { namespace: 'ml', pod, container, UUID, GPU_I_ID }
  return { metric: 'pod_device_present', labels, value: '1', timeMs: 0, absent: '' }
}

test('a pod that only an exporter names holds nothing, and without rows of pods all names count', () => {
  const count = (pod: string, value: string) => {
    return { metric: 'pod_gpus', labels: { namespace: 'ml', pod }, value, timeMs: 0, absent: '' }
  }
  const series = [held('now', 'G1'), held('old', 'G1'), held('ended', 'G1')]
  const podsOf = (...rows: object[]) => [...heldGpus([...series, ...rows] as never, [gpu(1)]).keys()]
  assert.deepEqual(podsOf(count('now', '1'), count('old', '0')), ['ml/now'])
  assert.deepEqual(podsOf(), ['ml/now', 'ml/old', 'ml/ended'])
})

test('a pod has the GPUs with a page that its containers hold, each once, in the order of their indexes', () => {
  const series = [
    held('a', 'G10'),
    held('a', 'G2'),
    held('a', 'G2', '', 'sidecar'),
    held('b', 'G2', '3'),
    held('c', 'G9'),
  ]
  const pods = heldGpus(series as never, [gpu(2), gpu(10)])
  const told = [...pods].map(([pod, gpus]) => [pod, ...gpus.map(({ device, instance }) => `${device.id}/${instance}`)])
  assert.deepEqual(told, [
    ['ml/a', 'gpu-2/', 'gpu-10/'],
    ['ml/b', 'gpu-2/3'],
  ])
})
