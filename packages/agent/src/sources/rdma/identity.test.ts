import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestedSource, TestNode } from '../test-node.ts'
import { rdma } from './rdma.ts'
import { rdmaDriverType, rdmaPortType } from './type.ts'

test('representors are not interfaces of a port', async (t) => {
  const node = new TestNode(t, new URL('fixtures/node/', import.meta.url))
  const tested = new TestedSource(rdma, node.paths, { sweep_limit_ms: 1000 })
  t.after(() => tested.source.close())
  const nameOf = (netdev: string, name: string) => node.write(`sys/class/net/${netdev}/phys_port_name`, `${name}\n`)
  for (const [netdev, name] of [
    ['pf0vf0', 'c1pf0vf0'],
    ['pf0hpf', 'c1pf0'],
    ['eth2', '3'],
    ['sf88', 'pf0sf88'],
  ] as const) {
    node.write(`sys/class/infiniband/mlx5_0/device/net/${netdev}/dev_port`, '0\n')
    nameOf(netdev, name)
  }
  node.write('sys/class/infiniband/mlx5_3/ports/1/gid_attrs/ndevs/3', 'pf0vf0\n')
  nameOf('ib0', 'p0')
  nameOf('eth13', 'p0s1')
  const ports = await tested.sampleOf(rdmaPortType)
  const netdevsOf = (name: string) => ports.find(({ rdma_device }) => rdma_device === name)?.netdevs
  assert.deepEqual([netdevsOf('mlx5_0'), netdevsOf('mlx5_3')], ['ib0', 'eth13 eth13.100'])
  assert.deepEqual(tested.failures, [])
})

test('counters of a device are gone when another device takes its name', async (t) => {
  const node = new TestNode(t, new URL('fixtures/small/', import.meta.url))
  const tested = new TestedSource(rdma, node.paths, { sweep_limit_ms: 1000 })
  t.after(() => tested.source.close())
  const port = 'sys/class/infiniband/bnxt_re1/ports/1'
  node.write(`${port}/hw_counters/of_the_old_one`, '7\n')
  const counters = async () => (await tested.sampleOf(rdmaDriverType)).map(({ counter }) => counter)
  for (let sample = 0; !(await counters()).includes('of_the_old_one'); sample++) assert.ok(sample < 20)
  node.remove(`${port}/hw_counters/of_the_old_one`)
  node.write('sys/class/infiniband/bnxt_re1/node_guid', 'dead:beef:0000:0001\n')
  for (let sample = 0; sample < 20; sample++) await counters()
  assert.deepEqual(
    [...tested.absent.keys()].filter((key) => key.includes('of_the_old_one')),
    [],
  )
})
