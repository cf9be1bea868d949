import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Devices } from '../devices/devices.ts'
import { NodeRecords } from '../devices/test-node-records.ts'
import { docaPhyType } from '../sources/doca-telemetry-phy/type.ts'
import { eventDeviceId } from './event-device-id.ts'

function node() {
  const devices = new Devices()
  const real = new NodeRecords(devices)
  real.hgx()
  return { devices, simulated: new NodeRecords(devices, { simulated: 'true' }) }
}

const called = (device: string, isSimulated = false) => ({ device, isSimulated })

test('an id of the list stays, and so does what is about no device', () => {
  const { devices } = node()
  assert.equal(eventDeviceId(called('nic-mlx5_3-1'), undefined, devices), 'nic-mlx5_3-1')
  assert.equal(eventDeviceId(called(''), undefined, devices), '')
})

test('a name is that of the device that records of its source with this name are about', () => {
  const { devices } = node()
  // The name alone would not do.
  new NodeRecords(devices).port('mlx5_3', { port: 2, address: '0000:40:05.0' })
  const source = { definition: { labels: { port: '1' }, types: [docaPhyType] } }
  assert.equal(eventDeviceId(called('mlx5_3'), source, devices), 'nic-mlx5_3-1')
})

test('a name without a source is that of the one device of the list that bears it', () => {
  const { devices } = node()
  assert.equal(eventDeviceId(called('mlx5_3'), undefined, devices), 'nic-mlx5_3-1')
  assert.equal(eventDeviceId(called('mlx5_99'), undefined, devices), 'mlx5_99', 'no device bears it')
})

test('of a real and a simulated device of one name, the event says which', () => {
  const { devices, simulated } = node()
  simulated.port('mlx5_3', { address: '0000:40:05.0' })
  assert.equal(eventDeviceId(called('mlx5_3'), undefined, devices), 'nic-mlx5_3-1')
  assert.equal(eventDeviceId(called('mlx5_3', true), undefined, devices), 'sim-nic-mlx5_3-1')
})

test('a name that several devices bear stays as it is', () => {
  const { devices } = node()
  new NodeRecords(devices).port('mlx5_3', { port: 2, address: '0000:40:05.0' })
  assert.equal(eventDeviceId(called('mlx5_3'), undefined, devices), 'mlx5_3')
})

test('a PCI function is the device that is at its address, however that is spelled', () => {
  const { devices } = node()
  const { address } = devices.byId('nic-mlx5_3-1') ?? { address: '' }
  assert.notEqual(devices.byId(`pci-${address}`), undefined)
  for (const name of [`pci-${address}`, address, address.replace(/^0000:/, '').toUpperCase()])
    assert.equal(eventDeviceId(called(name), undefined, devices), 'nic-mlx5_3-1', name)
})
