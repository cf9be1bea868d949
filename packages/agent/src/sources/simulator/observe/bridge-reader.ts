import { GIGATRANSFERS } from '../../pci/bandwidth.ts'
import type { BridgePlace } from '../classes/bridges.ts'
import { pcieBytesPerS } from '../model/pace.ts'
import type { Simulation } from '../simulation.ts'
import { LANES, type PciReader, sumErrors } from './pci-reader.ts'
import { BRIDGE_READ as B, BRIDGE_READ_COUNT } from './readings.ts'

/** What a root port is told, by what is counted. */
const MESSAGES = [
  [B.messagesCorrectable, B.correctable],
  [B.messagesNonfatal, B.nonfatal],
  [B.messagesFatal, B.fatal],
] as const

/** Reads a bridge: its link runs as the device at the other end says, and a root port gets the messages of all errors below it. */
export class BridgeReader {
  /** What was last read, by {@link B BRIDGE_READ}; NaN is absent. */
  readonly numbers = new Float64Array(BRIDGE_READ_COUNT)
  readonly #bridge: BridgePlace
  readonly #simulation: Simulation
  readonly #below: readonly PciReader[]

  constructor(simulation: Simulation, bridge: BridgePlace, below: readonly PciReader[]) {
    this.#simulation = simulation
    this.#bridge = bridge
    this.#below = below
  }

  /** Reads it at the moment of which the devices below were last read. */
  read(): void {
    const out = this.numbers
    const { kind, endsAtDevice, pcieGeneration } = this.#bridge
    out[B.generation] = endsAtDevice ? this.#least(B.generation) : pcieGeneration
    out[B.width] = endsAtDevice ? this.#least(B.width) : LANES
    const [generation, width] = [out[B.generation] as number, out[B.width] as number]
    const isUp = !Number.isNaN(generation)
    out[B.gigatransfers] = isUp ? (GIGATRANSFERS[generation - 1] ?? Number.NaN) : Number.NaN
    out[B.bandwidth] = isUp ? pcieBytesPerS(generation, width) : Number.NaN
    this.#readErrors(out, kind === 'root')
  }

  /** PCIe errors that it counted itself: those of what devices at the other end of its link send. */
  aerOf(name: number): number {
    if (!this.#bridge.endsAtDevice) return 0
    return this.#below.reduce((sum, device) => sum + device.aerAbove(name), 0)
  }

  /** Its own errors; a root port gets a message of each error on any link below it, its own included. */
  #readErrors(out: Float64Array, isRoot: boolean): void {
    const { aerNames } = this.#simulation
    const onLinks = (name: number) =>
      this.#below.reduce((sum, device) => sum + device.aerOf(name) + device.aerAbove(name), 0)
    if (isRoot) sumErrors(out, aerNames, onLinks)
    for (const [messages, errors] of MESSAGES) out[messages] = isRoot ? (out[errors] as number) : Number.NaN
    sumErrors(out, aerNames, (name) => this.aerOf(name))
  }

  /** Functions of one adapter share the link; NaN where a device does not answer, as the link is down then. */
  #least(number: number): number {
    return this.#below.reduce(
      (least, { numbers }) => Math.min(least, numbers[number] as number),
      Number.POSITIVE_INFINITY,
    )
  }
}
