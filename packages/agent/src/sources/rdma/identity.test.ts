import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestedSource, TestNode } from '../test-node.ts'
import { rdma } from './rdma.ts'
import { rdmaPortType } from './type.ts'

test('interfaces that stand for functions of the adapter are none of a port', async (t) => {
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
  const netdevsOf = (name: string) => ports.find(({ device }) => device === name)?.netdevs
  assert.deepEqual([netdevsOf('mlx5_0'), netdevsOf('mlx5_3')], ['ib0', 'eth13 eth13.100'])
  assert.deepEqual(tested.failures, [])
})
