import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { test } from 'node:test'
import type { RecordType } from '@sonde/sdk'
import { absenceType, droppedTotal, TextTable } from '@sonde/sdk/internal'
import { docaPhyType } from '../sources/doca-telemetry-phy/type.ts'
import { ethtoolPriorityType } from '../sources/ethtool/type.ts'
import { hostCpuType } from '../sources/host/type.ts'
import { netdevType } from '../sources/netdev/type.ts'
import { nvmlGpuInfoType, nvmlGpuType, nvmlProfileType } from '../sources/nvml/type.ts'
import { pciAerType, pciDeviceType } from '../sources/pci/type.ts'
import { rdmaHwType, rdmaPortType } from '../sources/rdma/type.ts'
import type { Device } from './device.ts'
import { Devices, type DevicesOptions } from './devices.ts'
import { NodeRecords } from './test-node-records.ts'
import { countWords, modelWords } from './words.ts'

const MINUTE_MS = 60_000

function bringUp(options: Partial<DevicesOptions> = {}) {
  const clock = { nowMs: 1_800_000_000_000 }
  const devices = new Devices({ now: () => clock.nowMs, ...options })
  const real = new NodeRecords(devices)
  const simulated = new NodeRecords(devices, { simulated: 'true' })
  const ids = (kind?: Device['kind']) =>
    devices
      .list()
      .filter((device) => kind === undefined || device.kind === kind)
      .map(({ id }) => id)
  return { clock, devices, real, simulated, ids }
}

test('a node of the HGX class has its GPUs and NICs in rails, and the bonded BlueField outside', () => {
  const { devices, real, ids } = bringUp()
  real.hgx()
  assert.equal(ids('gpu').length, 8)
  assert.equal(ids('nic').length, 9)
  assert.deepEqual(ids('netdev'), [], 'every interface belongs to a NIC')
  for (let rail = 0; rail < 8; rail++) {
    assert.equal(devices.byId(`gpu-${rail}`)?.rail, rail)
    assert.deepEqual(devices.byId(`gpu-${rail}`)?.pairs, [`nic-mlx5_${rail}-1`])
    assert.deepEqual(devices.byId(`nic-mlx5_${rail}-1`)?.pairs, [`gpu-${rail}`])
  }
  const bond = devices.byId('nic-mlx5_bond_0-1')
  assert.deepEqual([bond?.rail, bond?.pairs, bond?.netdevs], [null, [], ['bond0', 'eth18', 'eth19']])
})

test('a step of the wall clock takes no device out, and a device that left says when by that clock', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_000 })
  const devices = new Devices()
  const real = new NodeRecords(devices)
  real.hgx()
  const count = devices.list().length
  t.mock.timers.setTime(1_800_086_400_000)
  assert.equal(devices.list().filter(({ goneMs }) => goneMs === undefined).length, count)
  real.gone(rdmaPortType, { rdma_device: 'mlx5_0', port: '1' })
  const gone = devices.byId('nic-mlx5_0-1')
  assert.ok(Math.abs((gone?.goneMs ?? 0) - 1_800_086_400_000) < 10_000, `${gone?.goneMs}`)
})

test('a device tells its identity, its place, its series and its limits', () => {
  const { devices, real } = bringUp()
  real.hgx()
  assert.deepEqual(devices.byId('gpu-3'), {
    id: 'gpu-3',
    kind: 'gpu',
    name: 'GPU 3',
    rail: 3,
    isSimulated: false,
    host: hostname(),
    goneMs: undefined,
    goneReason: '',
    netdevs: [],
    labels: {
      gpu: '3',
      UUID: 'GPU-3',
      device_file: '',
      modelName: 'NVIDIA H100 80GB HBM3',
      Hostname: '',
      pci_address: '0000:40:04.0',
    },
    series: { pci: { pci_address: '0000:40:04.0' } },
    about: { kind: 'gpu', key: ['GPU-3'] },
    type: 'nvml_gpu_info',
    source: 'made',
    relations: [],
    model: 'H100 SXM 80 GB',
    share: null,
    driver: '570.86',
    address: '0000:40:04.0',
    numaNode: 0,
    socket: null,
    path: ['0000:40:01.0', '0000:40:02.0', '0000:40:03.0'],
    switch: '0000:40:02.0',
    pairs: ['nic-mlx5_3-1'],
    limits: { power_watts: 700, memory_bytes: 85_520_809_984, pcie_bytes_per_s: 63_015_384_615 },
  })
  const nic = devices.byId('nic-mlx5_3-1')
  assert.deepEqual([nic?.name, nic?.model, nic?.driver], ['mlx5_3', 'ConnectX-7', 'mlx5_core'])
  assert.deepEqual(nic?.labels, { rdma_device: 'mlx5_3', port: '1' })
  assert.deepEqual(nic?.series, { pci: { pci_address: '0000:40:05.0' }, netdev: { device: 'eth13' } })
})

test('finds the device of a series of any type', () => {
  const { devices, real, simulated } = bringUp()
  real.hgx()
  real.netdev('lo')
  simulated.hgx()
  const of = (type: RecordType, labels: Record<string, string>) => devices.deviceOf(type, labels)?.id
  assert.equal(of(nvmlGpuType, { gpu: '3', UUID: 'GPU-3' }), 'gpu-3')
  assert.equal(of(nvmlProfileType, { gpu: '3', UUID: 'GPU-3', simulated: 'true' }), 'sim-gpu-3')
  assert.equal(of(rdmaHwType, { rdma_device: 'mlx5_3', port: '1' }), 'nic-mlx5_3-1')
  assert.equal(of(docaPhyType, { rdma_device: 'mlx5_3' }), 'nic-mlx5_3-1')
  assert.equal(of(netdevType, { device: 'eth13', simulated: 'true' }), 'sim-nic-mlx5_3-1')
  assert.equal(of(ethtoolPriorityType, { device: 'eth19', priority: '3' }), 'nic-mlx5_bond_0-1')
  assert.equal(of(netdevType, { device: 'lo' }), 'net-lo')
  assert.equal(of(pciDeviceType, { pci_address: '0000:40:04.0' }), 'gpu-3')
  assert.equal(of(pciAerType, { pci_address: '0000:40:05.0', severity: 'fatal', error: 'DLP' }), 'nic-mlx5_3-1')
  for (const nowhere of [{ device: 'eth99' }, { device: '__proto__' }, {}])
    assert.equal(of(netdevType, nowhere), undefined)
  assert.equal(of(hostCpuType, { cpu: '0' }), undefined)
})

test('siblings are the others of a kind that do the same work, on the same node, and are there', () => {
  const { devices, real, simulated } = bringUp()
  real.hgx()
  simulated.hgx()
  const siblings = (id: string) => {
    const device = devices.byId(id)
    return device === undefined ? [] : devices.siblings(device).map((other) => other.id)
  }
  assert.deepEqual(
    siblings('nic-mlx5_3-1'),
    [0, 1, 2, 4, 5, 6, 7].map((i) => `nic-mlx5_${i}-1`),
  )
  assert.deepEqual(siblings('nic-mlx5_bond_0-1'), [])
  real.gone(rdmaPortType, { rdma_device: 'mlx5_0', port: '1' })
  assert.equal(siblings('nic-mlx5_3-1').length, 6)
  assert.equal(siblings('sim-nic-mlx5_3-1').length, 7)
})

test('a real and a simulated node of the same names stand side by side', () => {
  const { devices, real, simulated, ids } = bringUp()
  simulated.hgx()
  real.hgx()
  assert.equal(new Set(ids()).size, devices.list().length)
  assert.deepEqual(devices.byId('sim-gpu-3')?.pairs, ['sim-nic-mlx5_3-1'])
  assert.deepEqual(devices.byId('sim-gpu-3')?.series.pci, { pci_address: '0000:40:04.0', simulated: 'true' })
  assert.ok(
    devices
      .list()
      .slice(0, devices.list().length / 2)
      .every(({ isSimulated }) => !isSimulated),
    'real ones first',
  )
  simulated.gone(rdmaPortType, { rdma_device: 'mlx5_3', port: '1' })
  assert.equal(devices.byId('nic-mlx5_3-1')?.goneMs, undefined)
  assert.notEqual(devices.byId('sim-nic-mlx5_3-1')?.goneMs, undefined)
})

test('a device reported as gone stays in its rail for an hour, and comes back as the same device', () => {
  const { clock, devices, real } = bringUp({ expiryS: 7200 })
  real.hgx()
  const { version } = devices
  real.gone(rdmaPortType, { rdma_device: 'mlx5_3', port: '1' })
  assert.ok(devices.version > version)
  assert.equal(devices.byId('nic-mlx5_3-1')?.goneMs, clock.nowMs)
  assert.equal(devices.byId('nic-mlx5_3-1')?.goneReason, 'it left')
  assert.equal(devices.byId('nic-mlx5_3-1')?.rail, 3)
  clock.nowMs += 59 * MINUTE_MS
  assert.ok(devices.byId('nic-mlx5_3-1'))
  real.port('mlx5_3', { address: '0000:40:05.0', netdevs: 'eth13' })
  assert.equal(devices.byId('nic-mlx5_3-1')?.goneMs, undefined)
  real.gone(rdmaPortType, { rdma_device: 'mlx5_3', port: '1' })
  clock.nowMs += 61 * MINUTE_MS
  assert.equal(devices.byId('nic-mlx5_3-1'), undefined)
  assert.equal(devices.byId('gpu-3')?.rail, null)
  assert.equal(devices.byId('gpu-4')?.rail, 4)
})

test('a device that the next life of a host does not report is gone, and the others are there', () => {
  const { devices } = bringUp()
  const owner = {}
  const [before, now] = [0, 1].map((life) => {
    const records: NodeRecords = new NodeRecords({ accept: (batch) => devices.accept({ ...batch, source: info }) })
    const info = { ...records.source.info, owner, life }
    return records
  }) as [NodeRecords, NodeRecords]
  for (const name of ['eth0', 'eth1']) before.netdev(name)
  now.netdev('eth0')
  before.absences.set(netdevType, undefined, '', 'gone', 'no longer reported')
  before.source.flush()
  assert.equal(devices.byId('net-eth0')?.goneMs, undefined)
  assert.equal(devices.byId('net-eth1')?.goneReason, 'no longer reported')
})

test('a device leaves when its source is silent for the expiry time, or for three periods of a slow source', () => {
  const { clock, devices, real } = bringUp({ expiryS: 300 })
  new NodeRecords(devices, {}, 600_000).netdev('slow0')
  real.netdev('eth0')
  clock.nowMs += 301_000
  assert.notEqual(devices.byId('net-eth0')?.goneMs, undefined)
  assert.equal(devices.byId('net-eth0')?.goneReason, 'no source has read it for 301 s')
  assert.equal(devices.byId('net-slow0')?.goneMs, undefined)
  clock.nowMs += 1_800_000
  assert.notEqual(devices.byId('net-slow0')?.goneMs, undefined)
})

test('a renamed NIC takes over the rail of its old name', () => {
  const { devices, real } = bringUp()
  real.hgx()
  real.gone(rdmaPortType, { rdma_device: 'mlx5_3', port: '1' })
  real.port('rocep64s5', { address: '0000:40:05.0', netdevs: 'eth13' })
  assert.deepEqual(devices.byId('gpu-3')?.pairs, ['nic-rocep64s5-1'])
  assert.equal(devices.byId('nic-mlx5_3-1')?.rail, null)
  assert.equal(devices.deviceOf(pciDeviceType, { pci_address: '0000:40:05.0' })?.id, 'nic-rocep64s5-1')
  assert.deepEqual(devices.byId('nic-mlx5_3-1')?.netdevs, [], 'its interface belongs to its successor')
  real.pci('0000:40:05.0', { netdevs: 'rail3', rdma_devices: 'rocep64s5' })
  real.port('rocep64s5', { address: '0000:40:05.0', netdevs: 'rail3' })
  assert.deepEqual(devices.byId('nic-mlx5_3-1')?.netdevs, ['eth13'], 'what it had, and not what another got')
  assert.deepEqual(devices.byId('nic-rocep64s5-1')?.netdevs, ['rail3'])
})

test('two ports of one PCI function have an interface each, and its flaps are those of its port', () => {
  const { devices, real } = bringUp()
  real.pci('0000:a1:00.0', { class: 'network', netdevs: 'ens5 ens5d1', rdma_devices: 'mlx4_0' })
  real.port('mlx4_0', { port: 1, address: '0000:a1:00.0', netdevs: 'ens5' })
  real.port('mlx4_0', { port: 2, address: '0000:a1:00.0', netdevs: 'ens5d1' })
  for (const name of ['ens5', 'ens5d1']) real.netdev(name)
  assert.deepEqual(devices.byId('nic-mlx4_0-1')?.netdevs, ['ens5'])
  assert.deepEqual(devices.byId('nic-mlx4_0-2')?.netdevs, ['ens5d1'])
  assert.equal(devices.deviceOf(netdevType, { device: 'ens5d1' })?.id, 'nic-mlx4_0-2')
  real.port('mlx4_0', { port: 2, address: '0000:a1:00.0' })
  assert.deepEqual(devices.byId('nic-mlx4_0-2')?.netdevs, [], 'which of them it has is not known')
})

test('the only port of a device has the interface of that, where it tells none itself', () => {
  const { devices, real } = bringUp()
  real.pci('0000:40:05.0', { class: 'network', netdevs: 'eth13', rdma_devices: 'mlx5_3' })
  real.port('mlx5_3', { address: '0000:40:05.0' })
  assert.deepEqual(devices.byId('nic-mlx5_3-1')?.netdevs, ['eth13'])
})

test('ports of one adapter with bonded interfaces keep one interface each', () => {
  const { devices, real } = bringUp()
  for (const port of [0, 1]) {
    real.pci(`0000:2a:00.${port}`, { class: 'network', netdevs: `eth${port}`, rdma_devices: `mlx5_${port}` })
    real.port(`mlx5_${port}`, { address: `0000:2a:00.${port}`, netdevs: 'bond0' })
  }
  assert.deepEqual(devices.byId('nic-mlx5_0-1')?.netdevs, ['bond0', 'eth0'])
  assert.deepEqual(devices.byId('nic-mlx5_1-1')?.netdevs, ['bond0', 'eth1'])
})

test('GPUs of two nodes with the same index are two devices, and a GPU stays one device if its index changes', () => {
  const { devices, real } = bringUp()
  for (const Hostname of ['node-a', 'node-b']) real.gpu('0', '', { UUID: `GPU-of-${Hostname}`, Hostname })
  const gpus = devices.list().filter(({ kind, host }) => kind === 'gpu' && host.startsWith('node-'))
  assert.deepEqual(
    gpus.map(({ id, about }) => [id, ...about.key]),
    [
      ['gpu-0@node-a', 'GPU-of-node-a'],
      ['gpu-0@node-b', 'GPU-of-node-b'],
    ],
  )
  const at = (gpu: string, Hostname: string) =>
    devices.deviceOf(nvmlGpuType, { gpu, UUID: `GPU-of-${Hostname}`, Hostname })?.id
  assert.equal(at('0', 'node-b'), 'gpu-0@node-b')
  assert.equal(at('7', 'node-b'), 'gpu-0@node-b', 'counted anew')
})

test('a GPU that was replaced has the id of the one before', () => {
  const { devices, real, ids } = bringUp()
  real.gpu('0', '0000:18:00.0', { UUID: 'GPU-old' })
  assert.equal(devices.byId('gpu-0')?.labels.UUID, 'GPU-old')
  real.gone(nvmlGpuInfoType, { gpu: '0', UUID: 'GPU-old' })
  real.gpu('0', '0000:18:00.0', { UUID: 'GPU-new' })
  assert.deepEqual(ids('gpu'), ['gpu-0'])
  assert.equal(devices.byId('gpu-0')?.labels.UUID, 'GPU-new')
  assert.equal(devices.byId('gpu-0')?.goneMs, undefined)
})

test('a GPU without its driver is told by the bus alone, under the number that it would have', () => {
  const { devices, real } = bringUp()
  real.pci('0000:9a:00.0', { class: 'gpu', model: 'H100 SXM 80 GB', path: '0000:97:01.0/0000:98:00.0/0000:99:00.0' })
  real.pci('0000:1b:00.0', { class: 'gpu', model: 'H100 SXM 80 GB' })
  real.pci('0000:02:00.0', { class: 'display' })
  assert.deepEqual([devices.byId('gpu-0')?.address, devices.byId('gpu-1')?.address], ['0000:1b:00.0', '0000:9a:00.0'])
  assert.equal(devices.byId('gpu-1')?.model, 'H100 SXM 80 GB')
  assert.deepEqual(devices.byId('gpu-1')?.labels, { pci_address: '0000:9a:00.0' })
})

test('a node with interfaces only lists them, with the PCI device that they are on', () => {
  const { devices, real, ids } = bringUp()
  real.netdev('lo')
  real.netdev('eth10')
  real.netdev('eth2')
  real.pci('0000:00:03.0', { class: 'network', driver: 'virtio-pci', netdevs: 'eth2', model: 'virtio network' })
  assert.deepEqual(ids(), ['net-eth2', 'net-eth10', 'net-lo', 'pci-0000:00:03.0'])
  const eth2 = devices.byId('net-eth2')
  assert.deepEqual([eth2?.address, eth2?.driver, eth2?.rail], ['0000:00:03.0', 'virtio-pci', null])
  assert.equal(devices.deviceOf(pciAerType, { pci_address: '0000:00:03.0' })?.id, 'net-eth2')
})

test('virtual functions are NICs without a rail, and two ports of one adapter are separate NICs', () => {
  const { devices, real } = bringUp()
  real.hgx()
  const { path = [] } = devices.byId('nic-mlx5_3-1') ?? {}
  real.pci('0000:40:05.1', { class: 'network', path: path.join('/'), physical_function: '0000:40:05.0' })
  real.port('mlx5_9', { address: '0000:40:05.1' })
  real.port('mlx4_0', { port: 1 })
  real.port('mlx4_0', { port: 2 })
  assert.deepEqual(
    [devices.byId('nic-mlx5_9-1')?.rail, devices.byId('nic-mlx5_9-1')?.share],
    [null, 'virtual function'],
  )
  assert.deepEqual(devices.byId('gpu-3')?.pairs, ['nic-mlx5_3-1'])
  assert.equal(devices.byId('nic-mlx4_0-2')?.name, 'mlx4_0 port 2')
})

test('a slot that is slower than the device limits it', () => {
  const { devices, real } = bringUp()
  real.pci('0000:97:01.0', { class: 'bridge', max_link_bandwidth_bytes_per_second: 31_507_692_307 })
  real.pci('0000:98:00.0', { class: 'nvme', max_link_bandwidth_bytes_per_second: 63_015_384_615, path: '0000:97:01.0' })
  assert.deepEqual(devices.byId('pci-0000:98:00.0')?.limits, { pcie_bytes_per_s: 31_507_692_307 })
})

test('only a change of an identifying field makes a new version', () => {
  const { devices, real } = bringUp()
  real.hgx()
  const { version } = devices
  real.port('mlx5_3', { address: '0000:40:05.0', netdevs: 'eth13', driver: 'mlx5_core', xmit_data_bytes_total: 5 })
  assert.equal(devices.version, version)
  real.port('mlx5_3', { address: '0000:40:05.0', netdevs: 'eth99', driver: 'mlx5_core' })
  assert.notEqual(devices.version, version)
  assert.equal(devices.deviceOf(netdevType, { device: 'eth99' })?.id, 'nic-mlx5_3-1')
})

test('beyond the limit what left makes room, then records are dropped and counted', () => {
  const { devices, real, ids } = bringUp({ seriesLimit: 2 })
  real.netdev('a')
  real.netdev('b')
  real.gone(netdevType, { device: 'a' })
  real.netdev('c')
  assert.deepEqual(ids(), ['net-b', 'net-c'])
  real.netdev('d')
  real.netdev('b')
  assert.deepEqual(ids(), ['net-b', 'net-c'])
  assert.deepEqual([...devices.stats.dropped], [['device_limit', 1]])
  const { in: given, out } = devices.stats
  assert.equal(given, out + droppedTotal(devices.stats))
})

test('records of odd texts never break the list, and every id stays one device', () => {
  const { devices, real, simulated } = bringUp()
  let seed = 7
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return seed % below
  }
  const pieces = [
    '',
    ' ',
    '/',
    '//',
    '\n',
    '"',
    '\\',
    '\0',
    '__proto__',
    'constructor',
    'bond',
    'é',
    '\ud800',
    '0000:9b:00.0',
  ]
  pieces.push('x'.repeat(5000), '0000:97:01.0/0000:98:00.0', 'eth0', '..', '-1', '1e999', 'true', '<b>', ',', '=')
  const text = () => Array.from({ length: random(4) }, () => pieces[random(pieces.length)]).join('')
  for (let round = 0; round < 3000; round++) {
    const node = random(2) === 0 ? real : simulated
    const texts = {
      address: text(),
      path: text(),
      netdevs: text(),
      rdma_devices: text(),
      class: ['gpu', text()][random(2)],
    }
    if (random(6) === 0)
      node.pci(text(), { ...texts, physical_function: text(), max_link_bandwidth_bytes_per_second: 2n ** 64n - 1n })
    else if (random(5) === 0)
      node.gpu(text(), text(), { UUID: text(), model: text(), power_limit_max_watts: Number.NaN })
    else if (random(4) === 0) node.port(text(), { port: random(3), address: text(), netdevs: text() })
    else if (random(3) === 0) node.netdev(text())
    else if (random(2) === 0) node.gone(pciDeviceType, { pci_address: text() })
    else node.report(absenceType, { type: text(), series: text(), field: '', code: 'gone', reason: '' })
    if (round % 100 !== 0) continue
    const ids = devices.list().map(({ id }) => id)
    assert.equal(new Set(ids).size, ids.length)
    assert.ok(JSON.parse(JSON.stringify(devices.list())).length === ids.length)
    for (const device of devices.list()) assert.ok(device.rail === null || devices.siblings(device).length >= 0)
  }
  assert.ok(devices.list().length > 50)
})

test('a batch of the wrong size and one after the end are dropped and counted', async () => {
  const { devices, real } = bringUp()
  // The first record of a source brings its period along.
  real.netdev('lo')
  const { info } = real.source
  const symbols = new TextTable(info.symbols)
  const made = { clock: 'wall', origin: 'own', arrivedMs: 0 } as const
  devices.accept({ ...made, type: netdevType, source: info, count: 2, bytes: new Uint8Array(8), symbols })
  await devices.close()
  await devices.close()
  real.netdev('eth0')
  assert.deepEqual(
    [...devices.stats.dropped],
    [
      ['wrong_size', 2],
      ['closed', 1],
    ],
  )
  assert.deepEqual(devices.list(), [])
})

test('names of models are as people say them', () => {
  assert.equal(modelWords('NVIDIA H100 80GB HBM3'), 'H100 SXM 80 GB')
  assert.equal(modelWords('NVIDIA A100-SXM4-80GB'), 'A100 SXM 80 GB')
  assert.equal(modelWords('NVIDIA H100 PCIe'), 'H100 PCIe')
  assert.equal(modelWords('NVIDIA L40S'), 'L40S')
  assert.equal(modelWords(''), '')
})

test('boards are counted by their slots, shares of them by themselves', () => {
  const { devices, real } = bringUp()
  const words = () => countWords(devices.list().filter(({ kind }) => kind === 'nic'))
  assert.equal(words(), '')
  for (const [index, address] of ['0000:14:00.0', '0000:24:00.0', '0000:24:00.1'].entries()) {
    real.pci(address, { class: 'infiniband', model: 'ConnectX-7' })
    real.port(`mlx5_${index}`, { address })
  }
  assert.equal(words(), '2 × ConnectX-7', 'two ports of one card')
  for (let i = 0; i < 64; i++) {
    const address = `0000:14:${((i + 2) >> 3).toString(16).padStart(2, '0')}.${(i + 2) & 7}`
    const model = 'ConnectX virtual function'
    real.pci(address, { class: 'infiniband', model, physical_function: '0000:14:00.0' })
    real.port(`mlx5_${100 + i}`, { address })
  }
  assert.equal(words(), '2 × ConnectX-7, 64 × ConnectX virtual function')
  for (const port of [1, 2]) real.port('mlx4_0', { port, model: 'MT26428' })
  assert.equal(words(), '1 × MT26428, 2 × ConnectX-7, 64 × ConnectX virtual function', 'without an address')
})

test('subfunctions are no boards, and functions in a VM are told by their model', () => {
  const { devices, real } = bringUp()
  real.pci('0000:03:00.0', { class: 'dpu', model: 'BlueField-3', rdma_devices: 'mlx5_0' })
  real.port('mlx5_0', { address: '0000:03:00.0', driver: 'mlx5_core' })
  for (const device of ['mlx5_2', 'mlx5_3']) real.port(device, { driver: 'mlx5_core.sf', model: 'MT4129' })
  real.pci('0000:00:05.0', { class: 'network', model: 'ConnectX virtual function' })
  real.port('mlx5_9', { address: '0000:00:05.0', driver: 'mlx5_core' })
  const nics = devices.list().filter(({ kind }) => kind === 'nic')
  assert.deepEqual(
    nics.map(({ share }) => share),
    [null, 'subfunction', 'subfunction', 'virtual function'],
  )
  assert.equal(countWords(nics), '1 × BlueField-3, 2 × MT4129 subfunction, 1 × ConnectX virtual function')
})
