import type { BridgePlace } from '../classes/bridges.ts'
import { pcieBytesPerS, transfersPerS } from '../model/pace.ts'
import { LANES, type PciReader } from './pci-reader.ts'
import { BRIDGE_READ as B, BRIDGE_READ_COUNT } from './readings.ts'

/** Reads a bridge: its link runs as the device at the other end says, and a root port gets the messages of all errors below it. */
export class BridgeReader {
  /** What was last read, by {@link B BRIDGE_READ}; NaN is absent. It counts no errors of its own: those of a link are seen at the device. */
  readonly numbers = new Float64Array(BRIDGE_READ_COUNT)
  readonly #bridge: BridgePlace
  readonly #below: readonly PciReader[]

  constructor(bridge: BridgePlace, below: readonly PciReader[]) {
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
    out[B.gigatransfers] = isUp ? transfersPerS(generation) / 1e9 : Number.NaN
    out[B.bandwidth] = isUp ? Math.floor(pcieBytesPerS(generation, width)) : Number.NaN
    const isRoot = kind === 'root'
    out[B.messagesCorrectable] = isRoot ? this.#sum(B.correctable) : Number.NaN
    out[B.messagesNonfatal] = isRoot ? this.#sum(B.nonfatal) : Number.NaN
    out[B.messagesFatal] = isRoot ? this.#sum(B.fatal) : Number.NaN
  }

  /** Functions of one adapter share the link; NaN where a device does not answer, as the link is down then. */
  #least(number: number): number {
    return this.#below.reduce(
      (least, { numbers }) => Math.min(least, numbers[number] as number),
      Number.POSITIVE_INFINITY,
    )
  }

  #sum(number: number): number {
    return this.#below.reduce((sum, { numbers }) => sum + (numbers[number] as number), 0)
  }
}
