import { vendorName } from '../../pci/names.ts'
import { pciDeviceType } from '../../pci/type.ts'
import type { SourceContext } from '../../source.ts'
import { type BridgePlace, bridgesOf } from '../classes/bridges.ts'
import { BridgeReader } from '../observe/bridge-reader.ts'
import type { Simulation } from '../simulation.ts'
import type { GpuRows } from './gpu-rows.ts'
import type { NicRows } from './nic-rows.ts'
import { BRIDGE_COLUMNS, linkLimits, NO_LINK, PCI_REASONS } from './pci-facts.ts'
import { type RowFacts, Rows } from './rows.ts'

const INTEL = '8086'
const BROADCOM = '1000'

/** Records of the bridges between devices and root: both ends of a link tell how it runs. */
export class BridgeRows {
  readonly bridges: readonly BridgePlace[]
  readonly readers: readonly BridgeReader[]
  readonly #rows: Rows

  constructor(simulation: Simulation, context: SourceContext, gpus: GpuRows, nics: NicRows) {
    this.bridges = bridgesOf(simulation.node)
    this.readers = this.bridges.map((bridge) => {
      const below = [
        ...bridge.gpus.flatMap((index) => gpus.readers[index] ?? []),
        ...bridge.nics.flatMap((index) => nics.readers[index] ?? []),
      ]
      return new BridgeReader(
        simulation,
        bridge,
        below.map(({ pci }) => pci),
      )
    })
    this.#rows = new Rows(context, pciDeviceType, BRIDGE_COLUMNS, this.bridges.map(factsOf))
  }

  /** Reports what the readers of the devices below have last seen. */
  sample(time: bigint): void {
    this.readers.forEach((reader, index) => {
      reader.read()
      this.#rows.write(index, reader.numbers)
    })
    this.#rows.report(time)
  }
}

/** Root ports are those of the processor, all others those of a switch. */
function factsOf({ address, path, numaNode, kind, pcieGeneration }: BridgePlace): RowFacts {
  const isRoot = kind === 'root'
  const vendor = isRoot ? INTEL : BROADCOM
  return {
    labels: { device: address },
    facts: {
      class: 'bridge',
      class_code: '0x060400',
      vendor: vendorName(vendor),
      model: '',
      vendor_id: vendor,
      product_id: isRoot ? '352a' : 'c030',
      subsystem_id: isRoot ? '15d9:1c34' : '1000:0144',
      driver: 'pcieport',
      path: path.join('/'),
      netdevs: '',
      rdma_devices: '',
      physical_function: '',
      ...linkLimits(pcieGeneration),
      numa_node: numaNode,
    },
    reasons: { ...PCI_REASONS, ...NO_LINK, sriov_numvfs: 'the device has no virtual functions' },
  }
}
