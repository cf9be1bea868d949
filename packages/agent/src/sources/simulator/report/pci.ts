import { GENERATION_TRANSFERS_PER_SECOND } from '../../pci/bandwidth.ts'
import { modelName, vendorName } from '../../pci/names.ts'
import { pciDeviceType } from '../../pci/type.ts'
import type { BridgePlace } from '../classes/bridges.ts'
import type { GpuPlace, NicPlace, PciPlace } from '../classes/node-class.ts'
import { pcieBytesPerS } from '../model/pace.ts'
import type { BridgeReader } from '../observe/bridge-reader.ts'
import { type LinkEnd, PCI_LANES } from '../observe/pci-reader.ts'
import type { Columns } from './column.ts'
import { type NicPort, type NicTable, portsOf } from './nic-table.ts'
import type { RowFacts } from './report-rows.ts'

const [NVIDIA, MELLANOX, INTEL, BROADCOM] = ['10de', '15b3', '8086', '1000'] as const

const transfersPerSecondOf = (generation: number) => GENERATION_TRANSFERS_PER_SECOND[generation - 1] ?? Number.NaN

/** Columns of the fields of `pci_device` that change. */
export const PCI_DEVICE: Columns<typeof pciDeviceType, { readonly pci: LinkEnd }> = {
  current_link_speed_transfers_per_second: ({ pci }) => transfersPerSecondOf(pci.generation),
  current_link_width_lanes: ({ pci }) => pci.lanes,
  current_link_bandwidth_bytes_per_second: ({ pci }) => pcieBytesPerS(pci.generation, pci.lanes),
  aer_correctable_total: ({ pci }) => pci.errors.correctable,
  aer_nonfatal_total: ({ pci }) => pci.errors.nonfatal,
  aer_fatal_total: ({ pci }) => pci.errors.fatal,
}

/** Columns of a bridge, including the messages that a root port receives from below. */
export const PCI_BRIDGE: Columns<typeof pciDeviceType, BridgeReader> = {
  ...PCI_DEVICE,
  aer_rootport_correctable_total: ({ messages }) => messages.correctable,
  aer_rootport_nonfatal_total: ({ messages }) => messages.nonfatal,
  aer_rootport_fatal_total: ({ messages }) => messages.fatal,
}

/** Why a device that is not a root port lacks some counters. */
const NO_MESSAGES = Object.fromEntries(
  ['correctable', 'nonfatal', 'fatal'].map((severity) => [
    `aer_rootport_${severity}_total`,
    'only root ports count messages of devices below them',
  ]),
)

/** A GPU on PCIe. */
export function gpuRow({ address, path, numaNode, model }: GpuPlace): RowFacts {
  const place = { address, path, numaNode, generation: model.pcieGeneration }
  return rowOf(place, NVIDIA, model.productId, {
    facts: {
      class: 'gpu',
      class_code: '0x030200',
      model: modelName(NVIDIA, model.productId),
      subsystem_id: '10de:16c1',
      driver: 'nvidia',
      sriov_numvfs: 0,
    },
    reasons: noLink('the device does not answer: its configuration space reads as ones'),
  })
}

/** PCI functions of NICs. */
export function pciTable(nics: readonly NicPlace[]): NicTable {
  return {
    type: pciDeviceType,
    columns: PCI_DEVICE,
    rows: portsOf(nics).map((port) => ({ ...port, ...functionRow(port) })),
  }
}

function functionRow({ nic, netdev, address, isStandby }: NicPort): RowFacts {
  const { model, path, numaNode, device } = nic
  return rowOf({ address, path, numaNode, generation: model.pcieGeneration }, MELLANOX, model.productId, {
    facts: {
      class: model.hasDpa ? 'dpu' : 'network',
      class_code: '0x020000',
      model: modelName(MELLANOX, model.productId),
      subsystem_id: `${MELLANOX}:0041`,
      driver: 'mlx5_core',
      netdevs: netdev,
      rdma_devices: isStandby ? '' : device,
      sriov_numvfs: 0,
    },
  })
}

/** A bridge. Root ports belong to the processor, all other ports to a switch. */
export function bridgeRow({ address, path, numaNode, kind, pcieGeneration }: BridgePlace): RowFacts {
  const isRoot = kind === 'root'
  const place = { address, path, numaNode, generation: pcieGeneration }
  return rowOf(place, isRoot ? INTEL : BROADCOM, isRoot ? '352a' : 'c030', {
    facts: {
      class: 'bridge',
      class_code: '0x060400',
      model: '',
      subsystem_id: isRoot ? '15d9:1c34' : '1000:0144',
      driver: 'pcieport',
    },
    reasons: {
      ...noLink('the link is down, or the port has none'),
      sriov_numvfs: 'the device has no virtual functions',
    },
  })
}

/** Why the state of a link is unknown. */
function noLink(reason: string): Record<string, string> {
  const fields = ['speed_transfers_per_second', 'width_lanes', 'bandwidth_bytes_per_second']
  return Object.fromEntries(fields.map((field) => [`current_link_${field}`, reason]))
}

/** Properties of all devices; every link can have up to 16 lanes of its generation. */
function rowOf(
  { address, path, numaNode, generation }: PciPlace & { readonly generation: number },
  vendor: string,
  product: string,
  { facts, reasons }: Pick<RowFacts, 'facts' | 'reasons'>,
): RowFacts {
  return {
    labels: { pci_address: address },
    facts: {
      vendor: vendorName(vendor),
      vendor_id: vendor,
      product_id: product,
      path: path.join('/'),
      netdevs: '',
      rdma_devices: '',
      physical_function: '',
      max_link_speed_transfers_per_second: transfersPerSecondOf(generation),
      max_link_width_lanes: PCI_LANES,
      max_link_bandwidth_bytes_per_second: pcieBytesPerS(generation, PCI_LANES),
      numa_node: numaNode,
      // Each socket of the simulated node is one NUMA node.
      socket: numaNode,
      ...facts,
    },
    reasons: { ...NO_MESSAGES, ...reasons },
  }
}
