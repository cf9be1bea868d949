import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pciSamples } from '../sources/pci-samples/pci-samples.ts'
import { pressureSamples } from '../sources/pressure-samples/pressure-samples.ts'
import { rdmaPortSamples } from '../sources/rdma-port-samples/rdma-port-samples.ts'
import { rdmaSamples } from '../sources/rdma-samples/rdma-samples.ts'
import { ask, testConfig, testNode } from './test-chains.ts'

const DEFINITIONS = [rdmaSamples, rdmaPortSamples, pciSamples, pressureSamples]
const ASKED = { definitions: DEFINITIONS, configured: DEFINITIONS.map((definition) => testConfig(definition)) }

test('fast samples have the chains of the files that they are made of', async (t) => {
  const node = testNode(t)
  node.write('proc/pressure/io', 'some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n')
  const told = async (name: string) =>
    (await ask(node, name, ASKED)).map(({ source, device, links }) => {
      return `${source} ${device}: ${links.find((link) => link.name === 'counters')?.state}`
    })
  assert.deepEqual(await told('mlx5_3'), ['rdma_samples mlx5_3/1: ok', 'rdma_port_samples mlx5_3/1: ok'])
  assert.deepEqual(await told('9a:00.0'), ['pci_samples 0000:9a:00.0: ok'])
  assert.deepEqual(await told('pressure/io'), ['pressure_samples pressure/io: ok'])
})

test('a kernel without pressure is what breaks its samples, and the fix says how to turn it on', async (t) => {
  const chains = await ask(testNode(t), 'pressure_samples', ASKED)
  const broken = chains.flatMap(({ links }) => links.filter(({ state }) => state === 'broken'))
  assert.match(broken[0]?.tried ?? '', /pressure$/)
  assert.match(broken[0]?.fix ?? '', /psi=1/)
})
