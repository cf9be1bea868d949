import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { needs } from '../../../../test/debian.ts'
import { DocaDouble } from '../../../../test/doubles/doca/doca-double.ts'
import { ask, testNode } from '../explain/test-chains.ts'
import { docaTelemetryPhy } from './doca-telemetry-phy/doca-telemetry-phy.ts'
import { docaDiagLinkType, docaPhyType } from './doca-telemetry-phy/type.ts'
import { rdma } from './rdma/rdma.ts'
import { rdmaPortType } from './rdma/type.ts'
import { planesAmong } from './rdma-planes.ts'
import { rdmaSamples } from './rdma-samples/rdma-samples.ts'
import { TestedSource } from './test-node.ts'

const NEEDS = needs('cc')

/** A node with the device mlx5_3, and two planes of its port. */
function nodeWithPlanes(t: TestContext) {
  const node = testNode(t)
  node.write('sys/class/infiniband_verbs/uverbs0/ibdev', 'mlx5_3\n')
  for (const plane of ['smi1', 'smi2']) {
    const folder = `sys/class/infiniband/${plane}`
    node.link(`${folder}/device`, '../../../devices/pci0000:97/0000:9a:00.0')
    node.write(`${folder}/ports/1/state`, '4: ACTIVE\n')
    node.write(`${folder}/ports/1/counters/port_xmit_data`, '500\n')
    node.write(`${folder}/ports/1/counters/link_downed`, '1\n')
  }
  node.write('sys/class/infiniband/mlx5_3/ports/1/counters/link_downed', '2\n')
  return node
}

test('a device that no program can use is a plane of the device with the same PCI device', () => {
  const adapters = new Map([
    ['mlx5_0', '0000:1a:00.0'],
    ['smi1', '0000:1a:00.0'],
    ['mlx5_1', '0000:1b:00.0'],
    ['mlx5_2', '0000:1c:00.0'],
    ['rxe0', undefined],
  ])
  assert.deepEqual([...planesAmong(adapters, new Set(['mlx5_0', 'mlx5_1']))], [['smi1', 'mlx5_0']])
  assert.equal(planesAmong(adapters, new Set()).size, 0, 'without uverbs nothing is known')
  assert.equal(planesAmong(adapters, new Set(['mlx5_0', 'smi1'])).size, 0, 'both can be used')
})

test('the port of a device with planes is one port, in both sources of its files', async (t) => {
  const node = nodeWithPlanes(t)
  const tested = new TestedSource(rdma, node.paths)
  t.after(() => tested.source.close())
  assert.deepEqual(await tested.source.probe(), { state: 'present', found: '1 port' })
  const ports = await tested.sampleOf(rdmaPortType)
  assert.deepEqual(
    ports.map(({ rdma_device, xmit_data_bytes_total }) => [rdma_device, xmit_data_bytes_total]),
    [['mlx5_3', 4000n]],
  )
  const sampled = new TestedSource(rdmaSamples, node.paths)
  t.after(() => sampled.source.close())
  assert.deepEqual(await sampled.source.probe(), { state: 'present', found: '1 port' })
})

test('a device that turns out to be a plane leaves with the reason', async (t) => {
  const node = nodeWithPlanes(t)
  node.remove('sys/class/infiniband_verbs')
  const tested = new TestedSource(rdma, node.paths)
  t.after(() => tested.source.close())
  assert.equal((await tested.sampleOf(rdmaPortType)).length, 3)
  node.write('sys/class/infiniband_verbs/uverbs0/ibdev', 'mlx5_3\n')
  for (let sweep = 1; sweep < 60; sweep++) await tested.source.sample()
  const gone = tested.take().filter(({ record }) => record.code === 'gone')
  const reason = 'smi1 is a plane of the port of mlx5_3, whose counters are those of the whole port'
  assert.ok(gone.some(({ record }) => record.reason === reason))
  assert.equal((await tested.sampleOf(rdmaPortType)).length, 1)
})

test(
  'a plane that the configuration names has no values, and each source says what to name instead',
  NEEDS,
  async (t) => {
    const node = nodeWithPlanes(t)
    const double = new DocaDouble(t)
    double.play({ mlx5_3: {}, smi1: {} })
    const reason =
      /smi1 is a plane of the port of mlx5_3, whose counters are those of the whole port: name mlx5_3 instead$/
    for (const definition of [rdma, rdmaSamples, docaTelemetryPhy]) {
      const paths = { ...node.paths, doca_library: double.folder }
      const tested = new TestedSource(definition, paths, { devices: ['smi1'] })
      t.after(() => tested.source.close())
      const probe = await tested.source.probe()
      assert.equal(probe.state, 'absent', definition.name)
      assert.match(probe.reason, reason, definition.name)
    }
  },
)

test('the libraries are asked about the whole port, not about its planes', NEEDS, async (t) => {
  const node = nodeWithPlanes(t)
  const double = new DocaDouble(t)
  double.play({ mlx5_3: {}, smi1: {}, smi2: {} })
  const tested = new TestedSource(docaTelemetryPhy, { ...node.paths, doca_library: double.folder })
  t.after(() => tested.source.close())
  await tested.source.sample()
  const taken = tested.take()
  const devicesOf = (type: unknown, label: string) =>
    new Set(taken.filter((one) => one.type === type).map(({ record }) => record[label]))
  assert.deepEqual([...devicesOf(docaPhyType, 'rdma_device')], ['mlx5_3'])
  assert.deepEqual([...devicesOf(docaDiagLinkType, 'device')], ['mlx5_3'])
})

test('a plane is explained by the port that it belongs to', async (t) => {
  const [chain, ...others] = await ask(nodeWithPlanes(t), 'smi1')
  assert.equal(chain?.device, 'mlx5_3/1')
  assert.deepEqual(others, [])
  assert.match(
    chain?.links.find(({ name }) => name === 'file')?.answer ?? '',
    /; smi1, smi2 are planes of the port of mlx5_3, whose counters are those of the whole port$/,
  )
})
