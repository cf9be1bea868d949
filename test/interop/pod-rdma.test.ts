import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { TestNode } from '../../packages/agent/src/sources/test-node.ts'
import { needs } from '../debian.ts'
import { KubeletDouble, podWith } from '../doubles/kubelet/kubelet-double.ts'
import { startSonde, until } from '../sonde-process.ts'
import { startPrometheus } from './prometheus-peer.ts'

const LIMIT_MS = 60_000
const TREE = new URL('../../packages/agent/src/sources/rdma/fixtures/node', import.meta.url)
const SENT = 'sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data'
/** The RDMA devices of the tree, at addresses of this test. */
const DEVICES = { '0000:3b:00.2': 'mlx5_0', '0000:3b:00.0': 'mlx5_1' }

/** The query of the page about RDMA counters of pods. */
function documentedQuery(): string {
  const page = readFileSync(new URL('../../docs/pods.md', import.meta.url), 'utf8')
  const queries = [...page.matchAll(/```promql\n(.*?)```/gs)].map(([, query = '']) => query)
  return queries.find((query) => query.includes('rdma_port')) ?? ''
}

test('the query of the page gives RDMA bytes of a pod with a device of its own, and of no other', {
  ...needs('grpcio', 'protoc', 'prometheus'),
}, async (t) => {
  const node = new TestNode(t, TREE)
  for (const [address, device] of Object.entries(DEVICES)) {
    node.write(`sys/bus/pci/devices/${address}/class`, '0x020000\n')
    node.write(`sys/bus/pci/devices/${address}/infiniband/${device}/node_type`, '1: CA\n')
  }
  node.link('sys/bus/pci/devices/0000:3b:00.0/virtfn0', '../0000:3b:00.2')
  const kubelet = await new KubeletDouble(t).start()
  kubelet.pods(
    podWith('own', ['0000:3b:00.2'], 'nvidia.com/hostdev'),
    podWith('adapter', ['0000:3b:00.0'], 'nvidia.com/hostdev'),
    podWith('shared', ['3'], 'rdma/hca_shared'),
  )
  const config = join(node.root, 'sonde.yaml')
  const kubernetes = { type: 'kubernetes', interval_ms: 1000, kubelet_socket: kubelet.socket, api_server: 'off' }
  writeFileSync(config, JSON.stringify({ data_sources: [{ type: 'rdma', interval_ms: 1000 }, kubernetes] }))
  const flags = ['--config', config, '--log-level', 'error', '--path.sysfs', node.paths.sysfs]
  const sonde = await startSonde(['agent', ...flags])
  t.after(() => sonde.stop())
  const prometheus = await startPrometheus(t, new URL(sonde.address).host, 1)
  let words = Number(node.read(SENT))
  const found = await until('bytes of the pod', LIMIT_MS, async () => {
    words += 1_000_000
    node.write(SENT, `${words}\n`)
    const query = encodeURIComponent(documentedQuery())
    const { result } = (await prometheus.api(`query?query=${query}`)) as { result: Result[] }
    return result.some(({ value: [, rate] }) => Number(rate) > 0) && result
  })
  assert.deepEqual(
    found.map(({ metric }) => metric),
    [{ namespace: 'ml', pod: 'own' }],
  )
  const held = await prometheus.api('query?query=pod_nic_device_own')
  const owned = (held as { result: Result[] }).result.map(({ metric, value }) => `${metric.pod} ${value[1]}`)
  assert.deepEqual(owned.sort(), ['adapter 0', 'own 1', 'shared 0'])
})

interface Result {
  readonly metric: Readonly<Record<string, string>>
  readonly value: readonly [seconds: number, value: string]
}
