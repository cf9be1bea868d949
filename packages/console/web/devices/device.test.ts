import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ListedType } from '@sonde/sdk/api'
import { claimsOf } from '../api/metric-claims.ts'
import { askFor, devicePath, deviceTitle, isSeriesOf, kindWords, labelsFor, linkPath, matchersFor } from './device.ts'
import { testGpu, testNic } from './test-devices.ts'

test('a NIC is called by its place, and by its name where it has none', () => {
  assert.equal(deviceTitle(testNic(3)), 'NIC 3')
  assert.equal(deviceTitle(testNic(3, { rail: null })), 'mlx5_3')
  assert.equal(deviceTitle(testGpu(3)), 'GPU 3')
})

test('ports that share a rail, and second ports, are told apart by name and port', () => {
  const pairs = ['gpu-3', 'nic-mlx5_3-2']
  assert.equal(deviceTitle(testNic(3, { pairs })), 'mlx5_3/1')
  assert.equal(deviceTitle(testNic(3, { id: 'nic-mlx5_3-2', pairs: ['gpu-3', 'nic-mlx5_3-1'] })), 'mlx5_3/2')
  assert.equal(deviceTitle(testNic(3, { pairs: ['gpu-3'] })), 'NIC 3')
  assert.equal(deviceTitle(testNic(3, { id: 'sim-nic-mlx5_3-2', rail: null })), 'mlx5_3/2')
  assert.equal(deviceTitle(testNic(3, { id: 'nic-mlx5_3-2', name: 'mlx5_3 port 2', rail: null })), 'mlx5_3/2')
})

test('what has no page of its kind is called by kind and name, and has the generic page', () => {
  const belt = testNic(3, { id: 'conveyor_belt-a%2Fb/c', kind: 'conveyor_belt', name: 'a/b/c' })
  assert.equal(deviceTitle(belt), 'Conveyor belt a/b/c')
  assert.equal(devicePath(belt), '/entities/conveyor_belt-a%252Fb%2Fc')
  assert.equal(kindWords([belt, belt, testNic(1, { kind: 'robot' })]), '2 × Conveyor belt, 1 × Robot')
})

test('what a metric is about its type says, and of two types that of the hardware', () => {
  const typeOf = (kind: string, ...key: string[]): ListedType => ({
    name: kind,
    description: '',
    labels: [...key, 'roller'],
    entity: { kind, key },
    fields: [{ name: 'turns', metric: 'turns', kind: 'f64', role: 'gauge', unit: '', help: '' }],
    records: [],
    live: true,
    read: '',
  })
  const labels = { belt: 'north', hall: '7', source: 'hall' }
  const belt = (...types: ListedType[]) => testNic(3, { kind: 'belt', labels, claims: claimsOf(types) })
  const about = typeOf('belt', 'belt', 'hall')
  assert.deepEqual(labelsFor(belt(about), 'turns'), { belt: 'north', hall: '7' })
  assert.deepEqual(askFor(belt(about), 'turns'), [{ label: 'belt', op: '=', value: 'north' }])
  assert.ok(isSeriesOf(belt(about), 'turns', { belt: 'north', hall: '7', roller: '2' }))
  assert.ok(!isSeriesOf(belt(about), 'turns', { belt: 'north', hall: '8' }))
  assert.equal(labelsFor(belt(about, typeOf('gpu', 'gpu')), 'turns'), undefined)
  assert.equal(labelsFor(belt(), 'turns'), undefined, 'nobody says what it is about')
})

test('every device has a page, and one with an address has a page of its link', () => {
  assert.equal(devicePath(testGpu(3)), '/gpus/gpu-3')
  assert.equal(devicePath(testNic(3)), '/fabric/nic-mlx5_3-1')
  const pod = { id: 'pod-ml/trainer-0', kind: 'pod', labels: { namespace: 'ml', pod: 'trainer-0' } }
  assert.equal(devicePath(pod), '/pods/ml/trainer-0')
  assert.equal(devicePath({ ...pod, labels: { pod: 'trainer-0' } }), '/entities/pod-ml%2Ftrainer-0')
  assert.equal(linkPath(testNic(3)), '/pci/pci-0000:23:00.0')
  assert.equal(linkPath(testNic(3, { simulated: true })), '/pci/sim-pci-0000:23:00.0')
  assert.equal(linkPath(testNic(3, { address: '' })), undefined)
})

test('each family of metrics knows a device by labels of its own', () => {
  const nic = testNic(3)
  assert.deepEqual(labelsFor(nic, 'rdma_hw_packet_seq_err_total'), { rdma_device: 'mlx5_3', port: '1' })
  assert.deepEqual(labelsFor(nic, 'ethtool_port_rx_discards_phy_total'), { device: 'eth13' })
  assert.deepEqual(labelsFor(nic, 'pci_device_aer_messages_total'), { pci_address: '0000:23:00.0' })
  assert.deepEqual(labelsFor(nic, 'doca_phy_raw_bit_error_ratio'), { rdma_device: 'mlx5_3' })
  assert.deepEqual(labelsFor(nic, 'doca_pci_rx_bytes'), { device: 'mlx5_3' }, 'a name of the recipe has its label')
  assert.equal(labelsFor(nic, 'DCGM_FI_DEV_GPU_TEMP'), undefined)
  assert.equal(labelsFor(testGpu(0), 'rdma_hw_packet_seq_err_total'), undefined)
})

test('a GPU that only the bus tells of has no series of its library', () => {
  const silent = testGpu(0, { labels: { pci_address: '0000:10:00.0' } })
  assert.equal(labelsFor(silent, 'DCGM_FI_DEV_GPU_TEMP'), undefined)
  assert.ok(!isSeriesOf(silent, 'DCGM_FI_DEV_GPU_TEMP', { gpu: '1', UUID: 'GPU-1' }))
})

test('a series belongs to its device whatever more labels it has, but not to a twin or another port', () => {
  const metric = 'rdma_hw_packet_seq_err_total'
  assert.ok(isSeriesOf(testNic(3), metric, { rdma_device: 'mlx5_3', port: '1' }))
  assert.ok(isSeriesOf(testNic(3), metric, { rdma_device: 'mlx5_3' }))
  assert.ok(!isSeriesOf(testNic(3), metric, { rdma_device: 'mlx5_3', port: '2' }))
  assert.ok(!isSeriesOf(testNic(3), metric, { rdma_device: 'mlx5_3', port: '1', simulated: 'true' }))
  assert.ok(isSeriesOf(testNic(3), 'ethtool_lane_rx_err_phy_total', { device: 'eth13', lane: '2' }))
  assert.deepEqual(matchersFor(testNic(3), 'doca_phy_raw_bit_error_ratio'), [
    { label: 'rdma_device', op: '=', value: 'mlx5_3' },
    { label: 'simulated', op: '!=', value: 'true' },
  ])
})
