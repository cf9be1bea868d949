import assert from 'node:assert/strict'
import { test } from 'node:test'
import { podNicDeviceType } from '../sources/pods/type.ts'
import { type DevicePlace, nearestNic } from './nearest-nic.ts'
import type { PodNic } from './pod-nics.ts'
import { TestCluster } from './test-cluster.ts'

const nicAt = (pciAddress: string): PodNic => ({ host: 'here', pciAddress, physicalFunction: '', name: pciAddress })
const place = (socket: number, numaNode = socket): DevicePlace => ({ socket, numaNode })
const nearest = (gpu: DevicePlace | undefined, places: Readonly<Record<string, DevicePlace | undefined>>) =>
  nearestNic(gpu, Object.keys(places).map(nicAt), ({ pciAddress }) => places[pciAddress])?.nic.name

test('the closest NIC of a pod is on the socket of the GPU, or else any; an unknown place gives none', () => {
  assert.equal(nearest(place(0), { a: place(1), b: place(0, 3) }), 'b')
  assert.equal(nearest(place(0), { a: place(1), b: place(1) }), 'a')
  assert.equal(nearest(place(0), {}), undefined)
  assert.equal(nearest(undefined, { a: place(1) }), undefined, 'the GPU has NUMA node −1')
  assert.equal(nearest(place(0), { a: undefined, b: place(1) }), undefined, 'a may be closer than b')
  assert.equal(nearest(place(0), { a: undefined, b: place(0) }), 'b')
})

test('a GPU of a pod has a row with its closest NIC, by the adapter of a function that is not listed', () => {
  const places: Readonly<Record<string, DevicePlace>> = { 'GPU-a': place(0, 1), '0000:9b:00.0': place(1, 2) }
  const cluster = new TestCluster(undefined, {
    places: {
      ofGpu: (_, uuid) => places[uuid],
      ofAddress: (_, address) => places[address],
    },
  })
  const node = cluster.source()
  const sample = (own: boolean) => {
    node.pod('trainer', {}, 'GPU-a').gpu('GPU-a', { gpu_util: 5 })
    const vf = { resource: 'nvidia.com/vf', device_id: '0000:9b:00.3', pci_address: '0000:9b:00.3' }
    const owner = { namespace: 'ml', pod: 'trainer', rdma_device: 'mlx5_9', physical_function: '0000:9b:00.0' }
    if (own) node.report(podNicDeviceType, { ...owner, ...vf, own: 1 })
    cluster.settle()
    return cluster.rows('pod_gpu_nic').map(({ time: _, ...row }) => row)
  }
  const labels = { namespace: 'ml', pod: 'trainer', Hostname: 'here', UUID: 'GPU-a', GPU_I_ID: '', nic: 'mlx5_9' }
  const numbers = { same_socket: 0, gpu_socket: 0, nic_socket: 1, gpu_numa_node: 1, nic_numa_node: 2, nics: 1 }
  assert.deepEqual(sample(true), [{ ...labels, ...numbers }])
  for (let second = 0; second < 10; second++) {
    cluster.pass(1000)
    if (sample(false).length > 0) continue
    assert.ok(cluster.gone().some((series) => series.startsWith('pod_gpu_nic{') && series.includes('mlx5_9')))
    assert.equal(cluster.pods.counts.nics, 0)
    return
  }
  assert.fail('the row stays')
})
