import assert from 'node:assert/strict'
import fs from 'node:fs'
import { type TestContext, test } from 'node:test'
import type { RecordOf } from '@sonde/sdk'
import { testSource } from '../conformance.ts'
import { mockClock, ratesOf } from '../test-clock.ts'
import { TestedSource, TestNode } from '../test-node.ts'
import { pci } from './pci.ts'
import { aerText, CORRECTABLE, folderOf, hgxDevices, putDevice, type TestDevice } from './test-bus.ts'
import { pciAerType, pciDeviceType } from './type.ts'

const fixture = (name: string) => new URL(`fixtures/${name}`, import.meta.url)
const PORT = 'sys/devices/pci0000:26/0000:26:01.0/0000:27:00.0'
const SWITCH = 'sys/devices/pci0000:97/0000:97:01.0/0000:98:00.0'
const GPU = `${SWITCH}/0000:99:00.0/0000:9a:00.0`
const NIC = `${SWITCH}/0000:99:01.0/0000:9b:00.0`

testSource(pci, {
  tree: fixture('port'),
  counter: {
    type: pciDeviceType,
    field: 'aer_correctable_total',
    labels: { pci_address: '0000:27:00.0' },
    write: (node, value) =>
      node.write(
        `${PORT}/aer_dev_correctable`,
        node.read(`${PORT}/aer_dev_correctable`).replace(/(TOTAL_ERR_COR) \d+/, `$1 ${value}`),
      ),
  },
  series: { type: pciDeviceType, labels: { pci_address: '0000:27:00.0' }, leave: (node) => node.remove(PORT) },
})

function bringUp(
  t: TestContext,
  tree: string | readonly TestDevice[] = 'switch-pair',
  options: object = {},
  intervalMs = 1000,
) {
  const node = typeof tree === 'string' ? new TestNode(t, fixture(tree)) : new TestNode(t)
  if (typeof tree !== 'string') for (const device of tree) putDevice(node, device)
  const tested = new TestedSource(pci, node.paths, options, intervalMs)
  t.after(() => tested.source.close())
  return { node, tested }
}

/** Another reader of a tree, which knows nothing of it yet. */
function readerOf(t: TestContext, { paths }: TestNode): TestedSource {
  const tested = new TestedSource(pci, paths)
  t.after(() => tested.source.close())
  return tested
}

type PciRecord = RecordOf<typeof pciDeviceType>

async function devicesOf(tested: TestedSource): Promise<Map<string, PciRecord>> {
  return new Map((await tested.sampleOf(pciDeviceType)).map((record) => [record.pci_address, record]))
}

async function errorsOf(tested: TestedSource): Promise<string[]> {
  const rows = await tested.sampleOf(pciAerType)
  return rows.map(
    ({ pci_address, severity, error, errors_total }) => `${pci_address} ${severity} ${error} ${errors_total}`,
  )
}

test('reports what a device is, where it is plugged in, and its link', async (t) => {
  const { tested } = bringUp(t)
  assert.deepEqual(await tested.source.probe(), { state: 'present', found: '7 devices' })
  const { time, ...gpu } = (await devicesOf(tested)).get('0000:9a:00.0') ?? {}
  assert.ok(typeof time === 'bigint' && time > 0n)
  assert.deepEqual(gpu, {
    pci_address: '0000:9a:00.0',
    class: 'gpu',
    class_code: '0x030200',
    vendor: 'NVIDIA',
    model: 'H100 SXM 80 GB',
    vendor_id: '10de',
    product_id: '2330',
    subsystem_id: '10de:16c1',
    driver: 'nvidia',
    path: '0000:97:01.0/0000:98:00.0/0000:99:00.0',
    netdevs: '',
    rdma_devices: '',
    physical_function: '',
    current_link_speed_transfers_per_second: 2.5e9,
    max_link_speed_transfers_per_second: 32e9,
    current_link_width_lanes: 16,
    max_link_width_lanes: 16,
    current_link_bandwidth_bytes_per_second: 4_000_000_000n,
    max_link_bandwidth_bytes_per_second: 63_015_384_615n,
    numa_node: 1,
    aer_correctable_total: 15n,
    aer_nonfatal_total: 0n,
    aer_fatal_total: 0n,
  })
  assert.deepEqual(tested.failures, [])
})

test('the socket is that of the processors near the device, and is unknown without a NUMA node', async (t) => {
  const { node, tested } = bringUp(t)
  const socketOf = async () => (await devicesOf(tested)).get('0000:9a:00.0')?.socket
  assert.equal(await socketOf(), undefined)
  assert.equal(tested.absent.get('pci_device{pci_address="0000:9a:00.0"}.socket'), 'unsupported')
  const cases: [list: string, socket: number | undefined][] = [
    ['48-71,144-167', 1],
    ['7', 0],
    ['', undefined],
    ['99', undefined],
  ]
  node.write('sys/devices/system/cpu/cpu48/topology/physical_package_id', '1\n')
  node.write('sys/devices/system/cpu/cpu7/topology/physical_package_id', '0\n')
  for (const [list, socket] of cases) {
    const other = readerOf(t, node)
    node.write(`${GPU}/local_cpulist`, `${list}\n`)
    assert.equal((await devicesOf(other)).get('0000:9a:00.0')?.socket, socket, list)
  }
  node.write(`${GPU}/local_cpulist`, '0-191\n')
  node.write(`${GPU}/numa_node`, '-1\n')
  node.write('sys/devices/system/cpu/cpu0/topology/physical_package_id', '0\n')
  assert.equal((await devicesOf(readerOf(t, node))).get('0000:9a:00.0')?.socket, undefined)
})

test('names the interfaces, the RDMA devices and the physical function of a NIC', async (t) => {
  const { tested } = bringUp(t)
  const devices = await devicesOf(tested)
  const texts = (address: string) => {
    const { netdevs, rdma_devices, physical_function, sriov_numvfs } = devices.get(address) ?? {}
    return [netdevs, rdma_devices, physical_function, sriov_numvfs]
  }
  assert.deepEqual(texts('0000:9b:00.0'), ['ib3', 'mlx5_3', '', 1])
  assert.deepEqual(texts('0000:9b:00.1'), ['ib3v0', 'mlx5_4', '0000:9b:00.0', undefined])
  assert.equal(devices.get('0000:9b:00.1')?.current_link_width_lanes, undefined)
  assert.equal(tested.absent.get('pci_device{pci_address="0000:9b:00.1"}.current_link_width_lanes'), 'unsupported')
})

test('interfaces that stand for virtual functions are none of the NIC', async (t) => {
  const { node, tested } = bringUp(t)
  node.write(`${NIC}/net/pf0vf0/ifindex`, '7\n')
  for (const [netdev, name] of Object.entries({ ib3: 'p0', pf0vf0: 'pf0vf0' }))
    node.write(`sys/class/net/${netdev}/phys_port_name`, `${name}\n`)
  assert.equal((await devicesOf(tested)).get('0000:9b:00.0')?.netdevs, 'ib3')
  assert.deepEqual(tested.failures, [])
})

test('counts errors by name, in both spellings under one, at the bridges too', async (t) => {
  const { tested } = bringUp(t)
  assert.deepEqual(await errorsOf(tested), [
    '0000:98:00.0 correctable BadTLP 7',
    '0000:98:00.0 correctable NonFatalErr 2',
    '0000:98:00.0 nonfatal UnsupReq 1',
    '0000:9a:00.0 correctable RxErr 12',
    '0000:9a:00.0 correctable BadTLP 4',
  ])
})

test('an error that is counted for the first time rises from 0 at the sample before', async (t) => {
  const { node, tested } = bringUp(t)
  await tested.source.sample()
  const before = tested.take().find(({ type }) => type === pciDeviceType)?.record.time
  node.write(`${NIC}/aer_dev_correctable`, aerText(CORRECTABLE, 'TOTAL_ERR_COR', [0, 0, 3]))
  const rows = (await tested.sampleOf(pciAerType)).filter(({ pci_address }) => pci_address === '0000:9b:00.0')
  assert.deepEqual(
    rows.map(({ error, errors_total }) => [error, errors_total]),
    [
      ['BadDLLP', 0n],
      ['BadDLLP', 3n],
    ],
  )
  assert.equal(rows[0]?.time, before)
  node.write(`${NIC}/aer_dev_correctable`, aerText(CORRECTABLE, 'TOTAL_ERR_COR'))
  const reset = (await tested.sampleOf(pciAerType)).filter(({ pci_address }) => pci_address === '0000:9b:00.0')
  assert.deepEqual(
    reset.map(({ errors_total }) => errors_total),
    [0n],
    'a reset of its count is passed on',
  )
})

test('a link that trains down is seen at the next sample', async (t) => {
  const { node, tested } = bringUp(t)
  await tested.source.sample()
  tested.take()
  node.write(`${NIC}/current_link_speed`, '16 GT/s\n')
  node.write(`${NIC}/current_link_width`, '8\n')
  const nic = (await devicesOf(tested)).get('0000:9b:00.0')
  assert.equal(nic?.current_link_speed_transfers_per_second, 16e9)
  assert.equal(nic?.current_link_width_lanes, 8)
  assert.equal(nic?.current_link_bandwidth_bytes_per_second, 15_753_846_153n)
  assert.equal(nic?.max_link_bandwidth_bytes_per_second, 63_015_384_615n)
})

test('widths that are none and an unknown speed are absent with a reason', async (t) => {
  for (const width of ['0', '255']) {
    const { node, tested } = bringUp(t)
    node.write(`${NIC}/current_link_width`, `${width}\n`)
    node.write(`${NIC}/max_link_speed`, 'Unknown\n')
    const nic = (await devicesOf(tested)).get('0000:9b:00.0')
    assert.equal(nic?.current_link_width_lanes, undefined)
    assert.equal(nic?.current_link_bandwidth_bytes_per_second, undefined)
    assert.equal(nic?.max_link_speed_transfers_per_second, undefined)
    for (const field of [
      'current_link_width_lanes',
      'max_link_speed_transfers_per_second',
      'max_link_bandwidth_bytes_per_second',
    ]) {
      assert.equal(tested.absent.get(`pci_device{pci_address="0000:9b:00.0"}.${field}`), 'unsupported', field)
    }
    assert.deepEqual(tested.failures, [])
  }
})

test('a device whose configuration space reads as ones is said not to answer, and is counted', async (t) => {
  const { node, tested } = bringUp(t)
  node.write(`${GPU}/current_link_width`, '63\n')
  node.write(`${GPU}/current_link_speed`, 'Unknown\n')
  const devices = await devicesOf(tested)
  assert.equal(devices.size, 7)
  assert.equal(devices.get('0000:9a:00.0')?.current_link_width_lanes, undefined)
  assert.equal(tested.absent.get('pci_device{pci_address="0000:9a:00.0"}.current_link_width_lanes'), 'failed')
  assert.match(tested.failures[0]?.message ?? '', /does not answer/)
})

test('an unknown NUMA node is absent, and so is AER that the firmware keeps to itself', async (t) => {
  const { tested } = bringUp(t, 'virtio-guest')
  const devices = await devicesOf(tested)
  assert.deepEqual([...devices.keys()], ['0000:00:03.0'])
  const nic = devices.get('0000:00:03.0')
  assert.deepEqual([nic?.netdevs, nic?.driver, nic?.path, nic?.class], ['eth0', 'virtio-pci', '', 'network'])
  assert.deepEqual(
    [nic?.numa_node, nic?.aer_fatal_total, nic?.current_link_width_lanes],
    [undefined, undefined, undefined],
  )
  for (const field of ['numa_node', 'aer_fatal_total', 'current_link_width_lanes', 'sriov_numvfs']) {
    assert.equal(tested.absent.get(`pci_device{pci_address="0000:00:03.0"}.${field}`), 'unsupported', field)
  }
})

test('reads the classes and addresses that are asked for, and the bridges above them', async (t) => {
  const read = async (options: object) => [...(await devicesOf(bringUp(t, hgxDevices(), options).tested)).keys()]
  assert.equal((await read({})).length, 67)
  assert.deepEqual(await read({ classes: ['display', 'dpu'] }), [
    '0000:02:00.0',
    '0000:26:01.0',
    '0000:27:00.0',
    '0000:27:00.1',
  ])
  assert.deepEqual(await read({ classes: ['gpu'], devices: ['0000:1?:*'] }), [
    '0000:18:01.0',
    '0000:19:00.0',
    '0000:1a:00.0',
    '0000:1b:00.0',
  ])
  await assert.rejects(read({ devices: ['0000:ff:*'] }), { code: 'SRC_READ' })
})

test('a link of the listing that leads out of the root is not followed, and is counted', async (t) => {
  const { node, tested } = bringUp(t)
  const outside = new TestNode(t, fixture('port'))
  node.link('sys/bus/pci/devices/0000:27:00.0', `${outside.root}/${PORT}`)
  node.link('sys/bus/pci/devices/0000:27:00.1', `../../../../../${outside.root.slice(5)}/${PORT}`)
  node.link('sys/devices/pci0000:aa', `${outside.root}/sys/devices/pci0000:26`)
  node.link('sys/bus/pci/devices/0000:27:00.2', '../../../devices/pci0000:aa/0000:26:01.0/0000:27:00.2')
  node.link(`${GPU}/numa_node`, `${outside.root}/${PORT}/numa_node`)
  const devices = await devicesOf(tested)
  assert.equal(devices.size, 7)
  assert.equal(devices.get('0000:9a:00.0')?.numa_node, undefined)
  const places = tested.failures.map(({ place }) => place)
  assert.deepEqual(places, ['0000:27:00.0', '0000:27:00.1', '0000:27:00.2', `${node.root}/${GPU}/numa_node`])
})

test('a listing without links is read, and says nothing of bridges', async (t) => {
  const node = new TestNode(t)
  for (const [name, text] of Object.entries({ class: '0x020000', vendor: '0x15b3', device: '0x1021' })) {
    node.write(`sys/bus/pci/devices/0000:9b:00.0/${name}`, `${text}\n`)
  }
  const tested = new TestedSource(pci, node.paths)
  t.after(() => tested.source.close())
  const nic = (await devicesOf(tested)).get('0000:9b:00.0')
  assert.deepEqual([nic?.model, nic?.path], ['ConnectX-7', ''])
})

test('a device that is pulled and one that is plugged in are seen at the next sample', async (t) => {
  const { node, tested } = bringUp(t)
  await tested.source.sample()
  tested.take()
  fs.rmSync(`${node.root}/${GPU}`, { recursive: true })
  fs.rmSync(`${node.root}/sys/bus/pci/devices/0000:9a:00.0`)
  await tested.source.sample()
  const taken = tested.take()
  assert.deepEqual(TestedSource.absences(taken, { pci_address: '0000:9a:00.0' }), [': gone'])
  const aer = { pci_address: '0000:9a:00.0', severity: 'correctable', error: 'BadTLP' }
  assert.deepEqual(TestedSource.absences(taken, aer), [': gone'])
  assert.deepEqual(
    TestedSource.absences(taken, { pci_address: '0000:99:00.0' }),
    [': gone'],
    'nothing is below that bridge',
  )
  assert.deepEqual(tested.failures, [])
  const drive = { address: '0000:9c:00.0', above: 'pci0000:97', ids: '010802 144d:a824 144d:aa8b', link: '16.0 x4' }
  putDevice(node, drive)
  assert.equal((await devicesOf(tested)).get('0000:9c:00.0')?.class, 'nvme')
})

test('a bus that is gone takes its devices along', async (t) => {
  const { node, tested } = bringUp(t)
  await tested.source.sample()
  tested.take()
  node.remove('sys/bus/pci/devices')
  await assert.rejects(async () => tested.source.sample(), { code: 'SRC_READ' })
  assert.deepEqual(TestedSource.absences(tested.take(), { pci_address: '0000:9a:00.0' }), [': gone'])
})

test('a device that leaves in the middle of a sweep is not reported with what is left of it', async (t) => {
  const { node, tested } = bringUp(t)
  await tested.source.sample()
  tested.take()
  // The listing is older than the files, as it is when the device leaves between the two.
  fs.rmSync(`${node.root}/${GPU}`, { recursive: true })
  for (let sweep = 0; sweep < 16; sweep++) await tested.source.sample()
  const reported = tested
    .take()
    .filter(({ type, record }) => type === pciDeviceType && record.pci_address === '0000:9a:00.0')
  assert.ok(reported.every(({ record }) => record.current_link_speed_transfers_per_second === 2.5e9))
  assert.ok(!tested.absent.has('pci_device{pci_address="0000:9a:00.0"}.current_link_width_lanes'))
})

test('a driver that is loaded anew takes its interfaces along and brings them back', async (t) => {
  const { node, tested } = bringUp(t)
  const driverAfter = async (sweeps: number) => {
    let nic: PciRecord | undefined
    for (let sweep = 0; sweep < sweeps; sweep++) nic = (await devicesOf(tested)).get('0000:9b:00.0')
    return [nic?.driver, nic?.netdevs, nic?.rdma_devices]
  }
  assert.deepEqual(await driverAfter(1), ['mlx5_core', 'ib3', 'mlx5_3'])
  const { root } = node
  for (const name of ['driver', 'net', 'infiniband']) fs.renameSync(`${root}/${NIC}/${name}`, `${root}/${name}`)
  assert.deepEqual(await driverAfter(7), ['', '', ''])
  for (const name of ['driver', 'net', 'infiniband']) fs.renameSync(`${root}/${name}`, `${root}/${NIC}/${name}`)
  assert.deepEqual(await driverAfter(7), ['mlx5_core', 'ib3', 'mlx5_3'])
  assert.deepEqual(tested.failures, [])
})

test('another device at a known address is read as what it is', async (t) => {
  const { node, tested } = bringUp(t)
  await tested.source.sample()
  node.write(`${NIC}/device`, '0xa2dc\n')
  let nic: PciRecord | undefined
  for (let sweep = 0; sweep < 7; sweep++) nic = (await devicesOf(tested)).get('0000:9b:00.0')
  assert.deepEqual([nic?.class, nic?.model], ['dpu', 'BlueField-3'])
})

test('of many virtual functions the limit leaves some out, never a physical one, and counts them', async (t) => {
  const above = 'pci0000:26/0000:26:01.0'
  const devices = hgxDevices()
  for (let i = 2; i < 200; i++) {
    const address = `0000:27:${(i >> 3).toString(16).padStart(2, '0')}.${i & 7}`
    devices.push({ address, above, ids: '020000 15b3:101e 15b3:0009', physicalFunction: '0000:27:00.0', aer: false })
  }
  const { tested } = bringUp(t, devices, { device_limit: 100 })
  const read = await devicesOf(tested)
  assert.equal(read.size, 100)
  assert.equal([...read.values()].filter(({ physical_function }) => physical_function !== '').length, 33)
  assert.deepEqual([...tested.dropped], [['device_limit', 198 - 33]])
  await tested.source.sample()
  assert.deepEqual([...tested.dropped], [['device_limit', 2 * (198 - 33)]], 'at every sample')
  assert.deepEqual(tested.failures, [])
})

test('of hundreds of devices each is read and reported within a few samples, with bounded descriptors', async (t) => {
  const devices: TestDevice[] = []
  for (let i = 0; i < 400; i++) {
    const address = `${(0x10000 + (i >> 8)).toString(16)}:${(i & 255).toString(16).padStart(2, '0')}:00.0`
    devices.push({ address, above: 'pci0000:00', ids: '010802 144d:a824 144d:aa8b', link: '16.0 x4' })
  }
  const { node, tested } = bringUp(t, devices)
  assert.equal((await devicesOf(tested)).size, 400)
  for (const device of devices) node.write(`${folderOf(device)}/current_link_width`, '2\n')
  const read = new Map<string, PciRecord>()
  for (let sweep = 0; sweep < 9; sweep++) {
    const fresh = await devicesOf(tested)
    assert.equal(fresh.size, 48, 'those whose turn it is')
    for (const [address, device] of fresh) read.set(address, device)
  }
  assert.equal(read.size, 400)
  assert.ok([...read.values()].every(({ current_link_width_lanes }) => current_link_width_lanes === 2))
  assert.ok(node.openDescriptors().length <= 1024)
})

test('where samples are far apart more devices are read at once, so that a turn lasts no minute', async (t) => {
  const { tested } = bringUp(t, hgxDevices(), {}, 60_000)
  for (let sweep = 0; sweep < 3; sweep++) assert.equal((await devicesOf(tested)).size, 67)
})

test('of a device without a turn nothing is reported, and its errors show the rate that they have', async (t) => {
  const clock = mockClock(t)
  const devices = hgxDevices()
  const { node, tested } = bringUp(t, devices)
  const counting = devices.filter(({ aer, link }) => aer !== false && link !== undefined)
  const samples = new Map<string, { times: number[]; numbers: number[] }>()
  const startMs = clock.nowMs
  for (let sweep = 0; sweep < 40; sweep++) {
    const time = BigInt(clock.nowMs) * 1_000_000n
    const count = 1000 + clock.nowMs - startMs
    const text = aerText(CORRECTABLE, 'TOTAL_ERR_COR', [0, count])
    for (const device of counting) node.write(`${folderOf(device)}/aer_dev_correctable`, text)
    await tested.source.sample()
    for (const { type, record } of tested.take()) {
      const number = type === pciAerType ? record.errors_total : record.aer_correctable_total
      if (number === undefined) continue
      assert.ok(Math.abs(Number((record.time as bigint) - time)) < 1e6, 'what is reported was read in this sample')
      assert.equal(Number(number), count)
      const key = `${type.name} ${record.pci_address}`
      const { times, numbers } = samples.get(key) ?? { times: [], numbers: [] }
      samples.set(key, { times: [...times, clock.nowMs], numbers: [...numbers, Number(number)] })
    }
    clock.advance(1000)
  }
  assert.equal(samples.size, 2 * counting.length)
  const counts = new Set([...samples.values()].map(({ times }) => times.length))
  assert.ok(counts.has(40) && Math.min(...counts) < 25, 'bridges have turns, all others none')
  for (const [key, { times, numbers }] of samples)
    for (const rate of ratesOf(times, numbers)) assert.ok(Math.abs(rate - 1000) < 1, `${key} shows ${rate}/s`)
})

test('GPU and NIC of a rail share the path down to their switch, and no other device does', async (t) => {
  const { tested } = bringUp(t, hgxDevices())
  const devices = [...(await devicesOf(tested)).values()]
  const switchOf = ({ path }: PciRecord) => path.split('/').slice(0, 2).join('/')
  const gpus = devices.filter((device) => device.class === 'gpu')
  assert.equal(gpus.length, 8)
  for (const gpu of gpus) {
    const others = devices.filter((one) => one !== gpu && one.class !== 'bridge' && switchOf(one) === switchOf(gpu))
    assert.deepEqual(
      others.map((one) => one.class),
      ['infiniband'],
    )
  }
})
