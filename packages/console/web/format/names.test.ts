import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareNames, seriesWords, splitWords, tellingLabels, titleOf } from './names.ts'

test('numbers in names count as numbers', () => {
  assert.deepEqual(['eth10', 'eth2', 'eth1'].sort(compareNames), ['eth1', 'eth2', 'eth10'])
})

test('a name is a title, with short names as their makers write them', () => {
  assert.equal(titleOf('pcie-downtrain'), 'PCIe downtrain')
  assert.equal(titleOf('retransmission_storm'), 'Retransmission storm')
  assert.equal(titleOf('xid'), 'XID')
  assert.equal(titleOf('vgpu'), 'vGPU')
})

test('a series is called by its labels, numbers with the name of theirs', () => {
  assert.equal(seriesWords({ device: 'eth10', priority: '3', simulated: 'true', empty: '' }), 'eth10 priority 3')
  assert.equal(seriesWords({}), '')
})

test('series are told apart by the fewest and shortest labels that do', () => {
  const gpus = [0, 1, 2].map((gpu) => ({ gpu: `${gpu}`, UUID: `GPU-dfc8c106-0640-b756-95f2-fc5d5e24d32${gpu}` }))
  assert.deepEqual([...tellingLabels(gpus)], ['gpu'])
  // A replacement GPU has the index of the replaced GPU.
  const replaced = [...gpus, { gpu: '2', UUID: 'GPU-new' }]
  assert.deepEqual([...tellingLabels(replaced)], ['gpu', 'UUID'])
  const names = (gpu: number) => ({
    device: `nvidia${gpu}`,
    modelName: 'NVIDIA H100',
    pci_bus_id: `00000000:${gpu}B:00.0`,
  })
  const named = gpus.map((gpu, index) => ({ ...gpu, ...names(index), Hostname: 'a' }))
  assert.deepEqual([...tellingLabels(named)], ['gpu'])
  // Two nodes have the same indexes.
  const twoNodes = [...named, ...named.map((gpu) => ({ ...gpu, UUID: gpu.UUID.toUpperCase(), Hostname: 'b' }))]
  assert.deepEqual([...tellingLabels(twoNodes)], ['gpu', 'Hostname'])
  const ports = ['mlx5_0', 'mlx5_1'].flatMap((device, numa) =>
    ['0', '1'].map((priority) => ({ device, port: '1', numa: `${numa}`, priority, simulated: 'true' })),
  )
  assert.deepEqual([...tellingLabels(ports)], ['device', 'priority'])
  assert.deepEqual([...tellingLabels([gpus[0]!])], [])
  assert.deepEqual([...tellingLabels([])], [])
})

test('what tells a series apart is its name, and the rest is told beside it', () => {
  const labels = { gpu: '3', UUID: 'GPU-a778', simulated: 'true' }
  assert.deepEqual(splitWords(labels, new Set(['gpu'])), { name: 'gpu 3', more: 'GPU-a778' })
  assert.deepEqual(splitWords(labels, new Set()), { name: 'gpu 3', more: 'GPU-a778' })
  const named = { gpu: '3', UUID: 'GPU-a778', device: 'nvidia3', modelName: 'NVIDIA H100', Hostname: 'a' }
  assert.deepEqual(splitWords(named, new Set()), { name: 'gpu 3', more: 'GPU-a778 nvidia3 NVIDIA H100 a' })
  assert.deepEqual(splitWords({ device: 'eth0' }, new Set(['gpu'])), { name: 'eth0', more: '' })
})
