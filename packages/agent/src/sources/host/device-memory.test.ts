import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { TestedSource, TestNode } from '../test-node.ts'
import { host } from './host.ts'
import { hostMemoryType, hostNumaType } from './type.ts'

const fixture = (name: string) => new URL(`fixtures/${name}`, import.meta.url)
const GIBIBYTE = 1024n ** 3n
const FOLDER = 'sys/devices/system/node'

function bringUp(t: TestContext, part: string) {
  const node = new TestNode(t, fixture('guest'), fixture('grace'))
  const tested = new TestedSource(host, node.paths, { parts: [part] })
  t.after(() => tested.source.close())
  return { node, tested }
}

test('NUMA nodes say whether their memory is that of a GPU', async (t) => {
  const { tested } = bringUp(t, 'numa')
  const nodes = await tested.sampleOf(hostNumaType)
  assert.deepEqual(
    nodes.map(({ numa_node: name, total_bytes, device_memory }) => [name, total_bytes, device_memory]),
    [
      ['0', 480n * GIBIBYTE, 0n],
      ['1', 96n * GIBIBYTE, 1n],
      ['2', 0n, 1n],
    ],
  )
})

test('memory of a GPU that the kernel lists as NUMA nodes is not memory of the host', async (t) => {
  const { tested } = bringUp(t, 'memory')
  const [memory] = await tested.sampleOf(hostMemoryType)
  assert.equal(memory?.total_bytes, 480n * GIBIBYTE)
  assert.equal(memory?.free_bytes, 400n * GIBIBYTE)
  assert.equal(memory?.available_bytes, 442n * GIBIBYTE)
  assert.equal(memory?.anonymous_bytes, 30n * GIBIBYTE)
  // The kernel does not split it by node.
  assert.equal(memory?.commit_limit_bytes, 288n * GIBIBYTE)
})

const LISTS = [
  { what: 'memory on CXL, which is no initiator', list: 'has_generic_initiator', text: '\n', total: 576n },
  { what: 'a kernel that does not list initiators', list: 'has_generic_initiator', text: undefined, total: 480n },
  { what: 'all nodes have CPUs', list: 'has_cpu', text: '0-2\n', total: 576n },
]
for (const { what, list, text, total } of LISTS) {
  test(`memory of the host: ${what}`, async (t) => {
    const { node, tested } = bringUp(t, 'memory')
    if (text === undefined) node.remove(`${FOLDER}/${list}`)
    else node.write(`${FOLDER}/${list}`, text)
    const [memory] = await tested.sampleOf(hostMemoryType)
    assert.equal(memory?.total_bytes, total * GIBIBYTE)
  })
}

const FAULTS = [
  {
    what: 'initiators cannot be read',
    file: 'has_generic_initiator',
    reason: /has_generic_initiator gives no list of NUMA nodes/,
  },
  { what: 'nodes with CPUs cannot be read', file: 'has_cpu', reason: /has_cpu gives no list of NUMA nodes/ },
  { what: 'the size of the other cannot be read', file: 'node1/meminfo', reason: /memory of a device, whose size/ },
]
for (const { what, file, reason } of FAULTS) {
  test(`memory of the host is absent while that of devices is not known: ${what}`, async (t) => {
    const { node, tested } = bringUp(t, 'memory')
    const sound = node.read(`${FOLDER}/${file}`)
    node.write(`${FOLDER}/${file}`, 'garbage\n')
    await assert.rejects(async () => tested.source.sample(), reason)
    node.write(`${FOLDER}/${file}`, sound)
    for (let i = 0; i < 10; i++) await tested.source.sample().catch(() => undefined)
    tested.take()
    const [memory] = await tested.sampleOf(hostMemoryType)
    assert.equal(memory?.total_bytes, 480n * GIBIBYTE)
  })
}

test('the memory of a node that has left is no longer a part of the sum', async (t) => {
  const { node, tested } = bringUp(t, 'memory')
  await tested.source.sample()
  tested.take()
  node.write('proc/meminfo', node.read('proc/meminfo').replace(/MemTotal: +\d+/, 'MemTotal: 503316480'))
  node.remove(`${FOLDER}/node1`)
  const [memory] = await tested.sampleOf(hostMemoryType)
  assert.equal(memory?.total_bytes, 480n * GIBIBYTE)
})
