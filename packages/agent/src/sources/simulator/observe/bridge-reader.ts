import type { BridgePlace } from '../classes/bridges.ts'
import type { Simulation } from '../simulation.ts'
import { type Errors, PCI_LANES, type PciReader, sumErrors } from './pci-reader.ts'

/**
 * Reads a bridge. Its link has the state of the device at the other end, and a root port receives messages about all
 * errors below it.
 */
export class BridgeReader {
  readonly pci = { generation: Number.NaN, lanes: Number.NaN, errors: { correctable: 0, nonfatal: 0, fatal: 0 } }
  /** Messages that a root port received, including its own; NaN for other ports. */
  readonly messages: Errors = { correctable: Number.NaN, nonfatal: Number.NaN, fatal: Number.NaN }
  readonly #bridge: BridgePlace
  readonly #simulation: Simulation
  readonly #below: readonly PciReader[]

  constructor(simulation: Simulation, bridge: BridgePlace, below: readonly PciReader[]) {
    this.#simulation = simulation
    this.#bridge = bridge
    this.#below = below
  }

  /** Reads the bridge at the moment of the last reading of the devices below. */
  read(): void {
    const { kind, endsAtDevice, pcieGeneration } = this.#bridge
    const { aerNames } = this.#simulation
    // Functions of one adapter share the link. The link is down if one of them does not answer.
    this.pci.generation = endsAtDevice ? Math.min(...this.#below.map(({ generation }) => generation)) : pcieGeneration
    this.pci.lanes = endsAtDevice ? Math.min(...this.#below.map(({ lanes }) => lanes)) : PCI_LANES
    sumErrors(this.pci.errors, aerNames, (name) => this.aerOf(name))
    if (kind === 'root') sumErrors(this.messages, aerNames, (name) => this.#aerBelow(name))
  }

  /** PCIe errors that the bridge itself counted, caused by devices at the other end of its link. */
  aerOf(name: number): number {
    if (!this.#bridge.endsAtDevice) return 0
    return this.#below.reduce((sum, device) => sum + device.aerAbove(name), 0)
  }

  /** PCIe errors of all links below it. */
  #aerBelow(name: number): number {
    return this.#below.reduce((sum, device) => sum + device.aerOf(name) + device.aerAbove(name), 0)
  }
}
