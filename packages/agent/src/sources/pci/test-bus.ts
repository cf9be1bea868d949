import { posix } from 'node:path'
import type { TestNode } from '../test-node.ts'

/** A device for a tree; missing members have no file. */
export interface TestDevice {
  readonly address: string
  /** Folders from `devices` to the device above: `pci0000:97/0000:97:01.0`. */
  readonly above: string
  /** Class, vendor, product, subsystem vendor and subsystem product, as `030200 10de:2330 10de:16c1`. */
  readonly ids: string
  /** `32.0 x16`, as it runs and at best; `32.0 x16, 16.0 x8` where these differ. */
  readonly link?: string
  readonly numaNode?: number
  readonly driver?: string
  readonly netdevs?: readonly string[]
  readonly rdmaDevices?: readonly string[]
  readonly physicalFunction?: string
  readonly virtualFunctions?: number
  readonly aer?: boolean
  readonly isRootPort?: boolean
}

/** Short names as current kernels print them. */
export const CORRECTABLE = [
  'RxErr',
  'BadTLP',
  'BadDLLP',
  'Rollover',
  'Timeout',
  'NonFatalErr',
  'CorrIntErr',
  'HeaderOF',
]
const UNCORRECTABLE = [
  ...['Undefined', 'DLP', 'SDES', 'TLP', 'FCP', 'CmpltTO', 'CmpltAbrt', 'UnxCmplt', 'RxOF', 'MalfTLP', 'ECRC'],
  ...['UnsupReq', 'ACSViol', 'UncorrIntErr', 'BlockedTLP', 'AtomicOpBlocked', 'TLPBlockedErr', 'PoisonTLPBlocked'],
]

/** Text of an AER file in which the first names have the given counts. */
export function aerText(names: readonly string[], total: string, counts: readonly number[] = []): string {
  const lines = names.map((name, index) => `${name} ${counts[index] ?? 0}`)
  return `${[...lines, `${total} ${counts.reduce((sum, count) => sum + count, 0)}`].join('\n')}\n`
}

/** The folder of a device in the tree, from its root. */
export function folderOf({ above, address }: Pick<TestDevice, 'above' | 'address'>): string {
  return `sys/devices/${above}/${address}`
}

/**
 * Puts a device into a tree as the kernel lays it out: a folder of files below the bridges, and a link in the listing
 * of the bus.
 */
export function putDevice(node: Pick<TestNode, 'write' | 'link'>, device: TestDevice): void {
  const { address, above, ids, link, aer = true } = device
  const folder = folderOf(device)
  const [classCode = '', vendor = '', product = '', subVendor = '', subProduct = ''] = ids.split(/[ :]/)
  const write = (name: string, text: string) => node.write(`${folder}/${name}`, `${text}\n`)
  write('class', `0x${classCode}`)
  write('vendor', `0x${vendor}`)
  write('device', `0x${product}`)
  write('subsystem_vendor', `0x${subVendor}`)
  write('subsystem_device', `0x${subProduct}`)
  write('numa_node', String(device.numaNode ?? -1))
  if (link !== undefined) {
    const [max = '', current = max] = link.split(', ')
    for (const [state, text] of Object.entries({ max, current })) {
      const [speed = '', width = ''] = text.split(' x')
      write(`${state}_link_speed`, speed === 'Unknown' ? speed : `${speed} GT/s PCIe`)
      write(`${state}_link_width`, width)
    }
  }
  if (aer) {
    node.write(`${folder}/aer_dev_correctable`, aerText(CORRECTABLE, 'TOTAL_ERR_COR'))
    node.write(`${folder}/aer_dev_nonfatal`, aerText(UNCORRECTABLE, 'TOTAL_ERR_NONFATAL'))
    node.write(`${folder}/aer_dev_fatal`, aerText(UNCORRECTABLE, 'TOTAL_ERR_FATAL'))
  }
  if (device.isRootPort) for (const kind of ['cor', 'nonfatal', 'fatal']) write(`aer_rootport_total_err_${kind}`, '0')
  if (device.virtualFunctions !== undefined) write('sriov_numvfs', String(device.virtualFunctions))
  const up = '../'.repeat(folder.split('/').length - 1)
  if (device.driver !== undefined) node.link(`${folder}/driver`, `${up}bus/pci/drivers/${device.driver}`)
  if (device.physicalFunction !== undefined) node.link(`${folder}/physfn`, `../${device.physicalFunction}`)
  // A link, as the folders that the kernel has here would be empty ones, which no archive keeps.
  for (const name of device.netdevs ?? []) node.link(`${folder}/net/${name}`, `${up}class/net/${name}`)
  for (const name of device.rdmaDevices ?? [])
    node.link(`${folder}/infiniband/${name}`, `${up}class/infiniband/${name}`)
  node.link(`sys/bus/pci/devices/${address}`, `../../../devices/${posix.join(above, address)}`)
}

const hex = (value: number) => value.toString(16).padStart(2, '0')

/**
 * A node of the HGX H100 class. It has eight rails, each with a root port and a switch above GPU and NIC. It has one
 * BlueField-3 with two ports, which the driver bonds to one RDMA device, eight NVMe drives at their own root ports, two
 * NUMA nodes, host bridges, and the display of its management controller.
 */
export function hgxDevices(): TestDevice[] {
  const devices: TestDevice[] = [
    { address: '0000:00:00.0', above: 'pci0000:00', ids: '060000 8086:09a2 15d9:1c34', numaNode: 0, aer: false },
    { address: '0000:02:00.0', above: 'pci0000:00/0000:00:1c.0', ids: '030000 1a03:2000 15d9:1c34', aer: false },
  ]
  for (let rail = 0; rail < 8; rail++) devices.push(...railOf(rail), ...driveOf(rail))
  const port = { address: '0000:26:01.0', above: 'pci0000:26', ids: '060400 8086:352a 15d9:1c34', numaNode: 0 }
  devices.push({ ...port, link: '32.0 x16', driver: 'pcieport', isRootPort: true })
  for (const fn of [0, 1]) {
    devices.push({
      address: `0000:27:00.${fn}`,
      above: 'pci0000:26/0000:26:01.0',
      ids: '020000 15b3:a2dc 15b3:0009',
      link: '32.0 x16',
      numaNode: 0,
      driver: 'mlx5_core',
      netdevs: [`eth${8 + fn}`],
      // The bond is one RDMA device, which the driver makes of both functions and hangs below the first.
      ...(fn === 0 ? { rdmaDevices: ['mlx5_bond_0'] } : {}),
      virtualFunctions: 0,
    })
  }
  return devices
}

function railOf(rail: number): TestDevice[] {
  const bus = 0x18 + rail * 0x18
  const at = (offset: number, place = '00.0') => `0000:${hex(bus + offset)}:${place}`
  const root = `pci0000:${hex(bus)}`
  const numaNode = rail < 4 ? 0 : 1
  const above = `${root}/${at(0, '01.0')}/${at(1)}`
  const port = { ids: '060400 1000:c030 1000:0144', link: '32.0 x16', numaNode, driver: 'pcieport' }
  const common = { link: '32.0 x16', numaNode }
  return [
    { ...port, address: at(0, '01.0'), above: root, ids: '060400 8086:352a 15d9:1c34', isRootPort: true },
    { ...port, address: at(1), above: `${root}/${at(0, '01.0')}` },
    { ...port, address: at(2), above },
    { ...port, address: at(2, '01.0'), above },
    { ...common, address: at(3), above: `${above}/${at(2)}`, ids: '030200 10de:2330 10de:16c1', driver: 'nvidia' },
    {
      ...common,
      address: at(4),
      above: `${above}/${at(2, '01.0')}`,
      ids: '020700 15b3:1021 15b3:0041',
      driver: 'mlx5_core',
      netdevs: [`ib${rail}`],
      rdmaDevices: [`mlx5_${rail}`],
      virtualFunctions: 0,
    },
  ]
}

function driveOf(index: number): TestDevice[] {
  const bus = 0x1e + index * 0x18
  const root = `pci0000:${hex(bus)}`
  const numaNode = index < 4 ? 0 : 1
  const port = { address: `0000:${hex(bus)}:01.0`, above: root, ids: '060400 8086:352a 15d9:1c34', numaNode }
  return [
    { ...port, link: '32.0 x4, 16.0 x4', driver: 'pcieport', isRootPort: true },
    {
      address: `0000:${hex(bus + 1)}:00.0`,
      above: `${root}/0000:${hex(bus)}:01.0`,
      ids: '010802 144d:a824 144d:aa8b',
      link: '16.0 x4',
      numaNode,
      driver: 'nvme',
    },
  ]
}
