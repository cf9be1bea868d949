import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeviceInfo } from '../../api/devices.ts'
import { testGpu, testNic } from '../../devices/test-devices.ts'
import { linksOf, ownersOf, pathSharers } from './pci-path.ts'

const PATH = ['0000:15:01.0', '0000:16:00.0', '0000:17:01.0']
const GPU = testGpu(0, { address: '0000:19:00.0', path: PATH, switch: PATH[1]! })
const pci = (address: string, more: Partial<DeviceInfo> = {}): DeviceInfo =>
  testGpu(0, {
    id: `pci-${address}`,
    kind: 'pci',
    name: address,
    rail: null,
    address,
    labels: { pci_address: address },
    ...more,
  })
const DEVICE = pci('0000:19:00.0', { path: PATH, switch: PATH[1]! })

test('a path is its links with both ends; between the sides of a switch there is none', () => {
  const links = linksOf(DEVICE, [pci(PATH[0]!), DEVICE])
  assert.deepEqual(
    links.map(({ upper, lower }) => `${upper.role} ${upper.device?.id ?? '–'} > ${lower?.role}`),
    ['root port pci-0000:15:01.0 > switch, upstream', 'switch, downstream – > device'],
  )
})

test('a device at the root has one end that is known', () => {
  const [link, ...more] = linksOf(pci('0000:00:02.0'), [])
  assert.deepEqual([link?.upper.role, link?.lower, more], ['device', undefined, []])
})

test('who owns the address and who shares the switch are told apart, and a simulated twin is neither', () => {
  const nic = testNic(0, { address: '0000:18:00.0', path: [PATH[0]!, PATH[1]!, '0000:17:00.0'] })
  const twin = testGpu(0, { id: 'sim-gpu-0', simulated: true, address: '0000:19:00.0', path: PATH })
  const all = [GPU, nic, twin, DEVICE]
  assert.deepEqual(ownersOf(DEVICE, all), [GPU])
  assert.deepEqual(pathSharers(DEVICE, all), [nic])
  assert.deepEqual(pathSharers(pci('0000:00:02.0'), all), [])
})
