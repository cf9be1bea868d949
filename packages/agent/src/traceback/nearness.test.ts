import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Devices } from '../devices/devices.ts'
import { NodeRecords } from '../devices/test-node-records.ts'
import { FAR, nearnessTo } from './nearness.ts'

function node() {
  const devices = new Devices()
  new NodeRecords(devices).hgx()
  return { devices, simulated: new NodeRecords(devices, { simulated: 'true' }) }
}

test('what is in the rail of the device belongs to it; the rest of the node is far', () => {
  const near = nearnessTo('nic-mlx5_3-1', node().devices)
  assert.deepEqual(['nic-mlx5_3-1', 'gpu-3', 'gpu-4', 'nic-mlx5_4-1', 'nic-mlx5_bond_0-1'].map(near), [
    0,
    1,
    FAR,
    FAR,
    FAR,
  ])
  assert.equal(near('gpu-3'), 1, 'the second time it is told from memory')
})

test('what is nowhere in the list is far, and so is everything of an event without a device', () => {
  const { devices } = node()
  assert.deepEqual(['', 'nic-other-1'].map(nearnessTo('gpu-3', devices)), [FAR, FAR])
  assert.deepEqual(['', 'gpu-3'].map(nearnessTo('', devices)), [FAR, FAR])
})

test('of a device that the list does not have, only itself is near', () => {
  const near = nearnessTo('port 9', node().devices)
  assert.deepEqual(['port 9', 'gpu-3'].map(near), [0, FAR])
})

test('a simulated device is far from the real one at the same address', () => {
  const { devices, simulated } = node()
  simulated.hgx()
  const near = nearnessTo('sim-nic-mlx5_3-1', devices)
  assert.deepEqual(['sim-gpu-3', 'gpu-3', 'nic-mlx5_3-1'].map(near), [1, FAR, FAR])
})

test('the bridges above a device belong to it, and it to them', () => {
  const { devices } = node()
  const records = new NodeRecords(devices)
  records.pci('0000:40:01.0', { class: 'bridge' })
  const bridge = devices.list().find(({ address }) => address === '0000:40:01.0')
  assert.ok(bridge !== undefined, 'the bridge is a device')
  assert.equal(nearnessTo('gpu-3', devices)(bridge.id), 1)
  assert.equal(nearnessTo('gpu-4', devices)(bridge.id), FAR)
})
