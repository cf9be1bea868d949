import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeviceInfo } from '../api/devices.ts'
import { findDevices } from './find-devices.ts'
import { testGpu, testNic } from './test-devices.ts'

const simulated = (device: DeviceInfo): DeviceInfo => ({ ...device, id: `sim-${device.id}`, simulated: true })
const idsOf = (devices: readonly DeviceInfo[]): readonly string[] => devices.map(({ id }) => id)
const twoPorts = [testNic(1), testNic(1, { id: 'nic-mlx5_1-2', labels: { rdma_device: 'mlx5_1', port: '2' } })]

test('a device goes by every name that people have for it', () => {
  const devices = [testGpu(3), testNic(3)].map(simulated)
  for (const name of ['sim-gpu-3', 'gpu-3', '3', 'GPU-3', 'GPU 3', '0000:13:00.0', '13:00.0']) {
    assert.deepEqual(idsOf(findDevices(devices, 'gpu', name)), ['sim-gpu-3'], name)
  }
  for (const name of ['sim-nic-mlx5_3-1', 'mlx5_3', 'mlx5_3/1', 'MLX5_3', 'NIC 3', '0000:23:00.0']) {
    assert.deepEqual(idsOf(findDevices(devices, 'nic', name)), ['sim-nic-mlx5_3-1'], name)
  }
  for (const name of ['', '33', 'mlx5_3/2', 'sim-gpu']) assert.deepEqual(findDevices(devices, 'gpu', name), [], name)
})

test('a real device comes before a simulated one of its name, and one that is there before one that left', () => {
  const both = [simulated(testGpu(3)), testGpu(3)]
  assert.deepEqual(idsOf(findDevices(both, 'gpu', '3')), ['gpu-3'])
  assert.deepEqual(idsOf(findDevices(both, 'gpu', 'sim-gpu-3')), ['sim-gpu-3'])
  const changed = [testGpu(3, { id: 'gpu-old', state: 'gone' }), testGpu(3)]
  assert.deepEqual(idsOf(findDevices(changed, 'gpu', '3')), ['gpu-3'])
  assert.deepEqual(idsOf(findDevices([changed[0]!], 'gpu', '3')), ['gpu-old'])
})

test('ports of one NIC are told apart by their number, and are all found without it', () => {
  assert.deepEqual(idsOf(findDevices(twoPorts, 'nic', 'mlx5_1')), ['nic-mlx5_1-1', 'nic-mlx5_1-2'])
  assert.deepEqual(idsOf(findDevices(twoPorts, 'nic', 'mlx5_1/2')), ['nic-mlx5_1-2'])
})
