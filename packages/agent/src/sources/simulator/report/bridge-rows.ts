import { pciDeviceType } from '../../pci/type.ts'
import type { SourceContext } from '../../source.ts'
import { type BridgePlace, bridgesOf } from '../classes/bridges.ts'
import { BridgeReader } from '../observe/bridge-reader.ts'
import type { Simulation } from '../simulation.ts'
import type { GpuRows } from './gpu-rows.ts'
import type { NicRows } from './nic-rows.ts'
import { bridgeRow, PCI_BRIDGE } from './pci.ts'
import { ReportRows } from './report-rows.ts'

/** Records of the bridges between devices and root: both ends report the state of a link. */
export class BridgeRows {
  readonly bridges: readonly BridgePlace[]
  readonly readers: readonly BridgeReader[]
  readonly #rows: ReportRows<BridgeReader>

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
    this.#rows = new ReportRows(context, pciDeviceType, PCI_BRIDGE, this.bridges.map(bridgeRow))
  }

  /** Reports the values that the readers of the devices below saw last. */
  sample(time: bigint): void {
    this.readers.forEach((reader, index) => {
      reader.read()
      this.#rows.write(index, reader)
    })
    this.#rows.report(time)
  }
}
