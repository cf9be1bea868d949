import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Incident } from '@sonde/sdk/api'
import type { DeviceInfo } from '../api/devices.ts'
import { rankOptions } from '../components/combo-options.ts'
import { testGpu, testNic } from '../devices/test-devices.ts'
import { type Searched, searchPlaces } from './search-results.ts'

const found = (text: string, more: Partial<Searched> = {}): readonly string[] => {
  const devices = Array.from({ length: 8 }, (_, place) =>
    testNic(place, { address: `0000:3${'abcdef01'[place]}:00.0` }),
  )
  const gpus = [testGpu(0), testGpu(1, { labels: { gpu: '1', UUID: 'GPU-e57c01' } })]
  const searched = {
    devices: [...gpus, ...devices],
    interfaces: ['eth3'],
    types: [],
    hrefTo: (path: string) => path,
    ...more,
  }
  return rankOptions(searchPlaces(searched), text).map(({ href }) => href)
}

test('a device is found by the name that its driver gives it, before others that have a part of it in an address', () => {
  assert.equal(found('mlx5_3')[0], '/fabric/nic-mlx5_3-1')
  assert.equal(found('NIC 3')[0], '/fabric/nic-mlx5_3-1')
  assert.equal(found('0000:3b')[0], '/fabric/nic-mlx5_1-1')
})

test('a GPU is found by its UUID, also by the beginning', () => {
  assert.deepEqual(found('GPU-e57'), ['/gpus/gpu-1'])
})

test('a simulated device is a place beside the real one that is called the same', () => {
  const twin = testNic(3, { id: 'sim-nic-mlx5_3-1', simulated: true })
  const devices = [testNic(3), twin]
  assert.deepEqual(found('mlx5_3', { devices }), ['/fabric/nic-mlx5_3-1', '/fabric/sim-nic-mlx5_3-1'])
  const names = searchPlaces({ devices, interfaces: ['eth3', 'eth3'], types: [], hrefTo: (path) => path }).map(
    ({ value }) => value,
  )
  assert.deepEqual(names.slice(-3), ['NIC 3', 'NIC 3 (simulated)', 'eth3'])
})

test('an incident is found by its title, the same title twice by when it began', () => {
  const incident: Incident = {
    ...{ id: 'a-node:7', node: 'a-node', kind: 'hint', state: 'ended', severity: 'warning', rule: 'pcie_aer' },
    ...{ device: 'nic-mlx5_3-1', title: 'NIC 3 has PCIe errors', sentence: '', affected: [], hints: [] },
    ...{ isSimulated: false, startMs: Date.UTC(2026, 6, 31, 10), endMs: Date.UTC(2026, 6, 31, 11) },
  }
  const incidents = [incident, { ...incident, id: 'a-node:6', startMs: Date.UTC(2026, 6, 31, 9) }]
  assert.deepEqual(found('PCIe', { incidents }), ['/incidents/a-node:7', '/incidents/a-node:6'])
})

test('a pod is found by its name, app and node, and leads to its page, also without devices', () => {
  const entity: DeviceInfo = {
    ...testGpu(0),
    ...{ id: 'pod-ml/trainer-0', kind: 'pod', name: 'ml/trainer-0', labels: { namespace: 'ml', pod: 'trainer-0' } },
  }
  const pod = { namespace: 'ml', name: 'trainer-0', app: 'pretrain', node: 'node-a', isSimulated: false }
  for (const searched of [{ devices: [entity] }, { devices: [], pods: [pod] }, { devices: [entity], pods: [pod] }])
    assert.deepEqual(found('trainer-0', searched), ['/pods/ml/trainer-0'])
  assert.deepEqual(found('pretrain node-a', { pods: [pod] }), ['/pods/ml/trainer-0'])
  const places = searchPlaces({ devices: [entity], pods: [pod], interfaces: [], types: [], hrefTo: (path) => path })
  assert.equal(places.at(-1)?.value, 'Pod ml/trainer-0')
})
