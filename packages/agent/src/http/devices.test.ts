import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { type TestContext, test } from 'node:test'
import type { ListedDevice } from '@sonde/sdk/api'
import { until } from '../../../sdk/test/helper.ts'
import { type ServeOptions, serveAgent } from '../../test/served-agent.ts'
import { netdev } from '../sources/netdev/netdev.ts'
import { pci } from '../sources/pci/pci.ts'
import { folderOf, hgxDevices, putDevice } from '../sources/pci/test-bus.ts'
import { rdma } from '../sources/rdma/rdma.ts'
import { simulator } from '../sources/simulator/simulator.ts'
import { TestNode } from '../sources/test-node.ts'

/** The files of an HGX node that the sources of its fabric read. */
function hgxTree(t: TestContext): TestNode {
  const node = new TestNode(t)
  for (const device of hgxDevices()) {
    putDevice(node, device)
    for (const name of device.rdmaDevices ?? []) putPort(node, name, device.address, device.netdevs?.[0] ?? '')
  }
  const names = hgxDevices().flatMap(({ netdevs }) => netdevs ?? [])
  const lines = ['lo', ...names].map((name) => `${name}: ${'0 '.repeat(16)}\n`)
  node.write('proc/net/dev', `Inter-|\n face |\n${lines.join('')}`)
  return node
}

function putPort(node: TestNode, name: string, address: string, netdev: string): void {
  const folder = `sys/class/infiniband/${name}`
  node.write(`${folder}/device/uevent`, `DRIVER=mlx5_core\nPCI_SLOT_NAME=${address}\n`)
  node.write(`${folder}/hca_type`, 'MT4129\n')
  node.write(`${folder}/ports/1/state`, '4: ACTIVE\n')
  node.write(`${folder}/ports/1/counters/port_xmit_data`, '0\n')
  node.write(`${folder}/device/net/${netdev}/ifindex`, '7\n')
}

async function serve(t: TestContext, options: ServeOptions) {
  const { agent, address } = await serveAgent(t, options)
  const ask = async (route: string) => (await fetch(`${address}/api/v1/${route}`)).json()
  const devices = async () => ((await ask('devices')) as { devices: ListedDevice[] }).devices
  return { agent, address, ask, devices }
}

test('tells the devices of a node by what its sources read', async (t) => {
  const node = hgxTree(t)
  const { devices, ask } = await serve(t, { sources: [pci, rdma, netdev], paths: node.paths })
  const all = await until('the devices', async () => {
    const list = await devices()
    return list.some(({ kind }) => kind === 'nic') && list.some(({ kind }) => kind === 'pci') ? list : undefined
  })
  const of = (id: string) => all.find((device) => device.id === id)
  for (let rail = 0; rail < 8; rail++) {
    assert.equal(of(`gpu-${rail}`)?.rail, rail)
    assert.deepEqual(of(`gpu-${rail}`)?.pairs, [`nic-mlx5_${rail}-1`])
    assert.equal(of(`gpu-${rail}`)?.switch, of(`nic-mlx5_${rail}-1`)?.switch)
  }
  assert.equal(of('nic-mlx5_bond_0-1')?.rail, null)
  assert.equal(of('net-lo')?.kind, 'netdev')
  assert.equal(of('pci-0000:19:00.0')?.name, '0000:19:00.0')
  const { goneMs: _, ...gpu } = of('gpu-3') ?? {}
  assert.deepEqual(gpu, {
    id: 'gpu-3',
    kind: 'gpu',
    name: 'GPU 3',
    rail: 3,
    state: 'present',
    simulated: false,
    netdevs: [],
    labels: { pci_address: '0000:63:00.0' },
    series: { pci: { pci_address: '0000:63:00.0' } },
    type: 'pci_device',
    source: 'pci',
    host: hostname(),
    relations: [],
    model: 'H100 SXM 80 GB',
    share: null,
    driver: 'nvidia',
    address: '0000:63:00.0',
    numaNode: 0,
    socket: null,
    path: ['0000:60:01.0', '0000:61:00.0', '0000:62:00.0'],
    switch: '0000:61:00.0',
    pairs: ['nic-mlx5_3-1'],
    limits: { pcie_bytes_per_s: 63_015_384_615 },
  })
  const { hardware, simulated } = (await ask('node')) as { hardware: Record<string, unknown>; simulated: boolean }
  assert.equal(simulated, false)
  assert.deepEqual(
    [hardware.gpuCount, hardware.gpus, hardware.nicCount, hardware.nics],
    [8, '8 × H100 SXM 80 GB', 9, '8 × ConnectX-7, 1 × BlueField-3'],
  )
})

test('a device that is pulled is gone in the next answer, with the time', async (t) => {
  const node = hgxTree(t)
  const { devices, ask } = await serve(t, { sources: [pci], paths: node.paths })
  const gpu = async () => (await devices()).find(({ id }) => id === 'gpu-3')
  await until('the GPU', gpu)
  const startedMs = Date.now()
  const pulled = hgxDevices().find(({ address }) => address === '0000:63:00.0')
  assert.ok(pulled)
  node.remove(folderOf(pulled))
  node.remove('sys/bus/pci/devices/0000:63:00.0')
  const gone = await until('its leaving', async () => {
    const found = await gpu()
    return found?.state === 'gone' ? found : undefined
  })
  assert.ok(gone.goneMs !== undefined && gone.goneMs >= startedMs && gone.goneMs <= Date.now())
  assert.notEqual(gone.goneReason ?? '', '')
  assert.equal(gone.rail, null, 'no NIC is read here')
  const { hardware } = (await ask('node')) as { hardware: { gpuCount: number; gpus: string } }
  assert.deepEqual([hardware.gpuCount, hardware.gpus], [8, '8 × H100 SXM 80 GB'], 'as many as the list has')
})

test('simulated devices stand beside real ones, under ids of their own', async (t) => {
  const node = hgxTree(t)
  const { devices, ask } = await serve(t, { sources: [pci, rdma, simulator], paths: node.paths })
  const all = await until('both nodes', async () => {
    const list = await devices()
    const nics = list.filter(({ kind }) => kind === 'nic').length
    // Records of several types come one after the other.
    const railed = list.filter(({ kind, simulated, rail }) => kind === 'gpu' && simulated && rail !== null).length
    return nics === 18 && railed === 8 ? list : undefined
  })
  assert.equal(new Set(all.map(({ id }) => id)).size, all.length)
  const simulated = all.filter((device) => device.simulated)
  assert.ok(simulated.every(({ id, labels }) => id.startsWith('sim-') && labels.simulated === 'true'))
  assert.deepEqual(
    simulated.filter(({ kind }) => kind === 'gpu').map(({ rail, pairs }) => [rail, pairs]),
    Array.from({ length: 8 }, (_, rail) => [rail, [`sim-nic-mlx5_${rail}-1`]]),
  )
  const models = simulated.filter(({ kind, address }) => kind !== 'nic' && address === '0000:19:00.0')
  assert.deepEqual([...new Set(models.map(({ model }) => model))], ['H100 SXM 80 GB'], 'one name, whoever tells it')
  const told = (await ask('node')) as { simulated: boolean; hardware: { interfaceCount: number } }
  assert.deepEqual([told.simulated, told.hardware.interfaceCount], [true, 0], 'simulated interfaces are not counted')
})

test('a node without anything of the kind answers with an empty list, and takes no other method', async (t) => {
  const { address, ask } = await serve(t, {})
  const { nowMs, devices } = (await ask('devices')) as { nowMs: number; devices: unknown[] }
  assert.ok(Math.abs(Date.now() - nowMs) < 60_000)
  assert.deepEqual(devices, [])
  const refused = await fetch(`${address}/api/v1/devices`, { method: 'POST' })
  assert.deepEqual([refused.status, refused.headers.get('allow')], [405, 'GET, HEAD'])
  const head = await fetch(`${address}/api/v1/devices`, { method: 'HEAD' })
  assert.deepEqual([head.status, head.headers.get('cache-control')], [200, 'no-store'])
})
