import { GIGATRANSFERS } from '../../pci/bandwidth.ts'
import type { PciPlace } from '../classes/node-class.ts'
import { RECEIVED_ERRORS, RECEIVER_ERRORS } from '../model/aer.ts'
import { pcieBytesPerS } from '../model/pace.ts'
import type { Place } from '../model/place.ts'
import { rareEvents } from '../model/rare-events.ts'
import type { AerSegment } from '../model/segment.ts'
import { aerNumbers } from '../model/values.ts'
import type { Simulation } from '../simulation.ts'
import { PCI_READ, PCI_READ_COUNT } from './readings.ts'

/** Lanes of every link of a simulated node. */
export const LANES = 16
const DAY_S = 86_400
/** Stream of the rare errors of a healthy link. */
const HEALTHY_STREAM = 5

/** What is known of a link. */
interface LinkState {
  readonly pcieGeneration?: number
  readonly pcieWidth?: number
}

/** Which way a link goes bad: what the device receives is broken, or what it sends, which the port above it counts. */
export type BadDirection = 'receiving' | 'sending'

/** Reads the PCIe link of one device: how it runs, and the errors that each end has counted. */
export class PciReader {
  /** What was last read, by {@link PCI_READ}; NaN is absent. */
  readonly numbers = new Float64Array(PCI_READ_COUNT)
  readonly #simulation: Simulation
  readonly #key: number
  readonly #generation: number
  readonly #bad: BadDirection
  #counts = new Float64Array(0)
  #above = new Float64Array(0)

  constructor(
    simulation: Simulation,
    { model }: PciPlace & { readonly model: { readonly pcieGeneration: number } },
    key: number,
    bad: BadDirection,
  ) {
    this.#simulation = simulation
    this.#generation = model.pcieGeneration
    this.#key = key
    this.#bad = bad
  }

  /** How the link runs; of a device that does not answer nothing is known. */
  readLink({ pcieGeneration = this.#generation, pcieWidth = LANES }: LinkState, isThere = true): void {
    const out = this.numbers
    out[PCI_READ.generation] = isThere ? pcieGeneration : Number.NaN
    out[PCI_READ.width] = isThere ? pcieWidth : Number.NaN
    out[PCI_READ.gigatransfers] = isThere ? (GIGATRANSFERS[pcieGeneration - 1] ?? Number.NaN) : Number.NaN
    out[PCI_READ.bandwidth] = isThere ? pcieBytesPerS(pcieGeneration, pcieWidth) : Number.NaN
  }

  /** Errors at a place; a healthy link has a receiver error now and then, so many a day. */
  readErrors(aer: AerSegment, place: Place, healthyPerDay: number): void {
    const out = this.numbers
    const { seed, aerNames } = this.#simulation
    if (this.#counts.length !== aerNames.length) {
      this.#counts = new Float64Array(aerNames.length)
      this.#above = new Float64Array(aerNames.length)
    }
    const counts = this.#counts
    aerNumbers(counts, this.#key, aer, place)
    if (this.#bad === 'sending') this.#moveReceived()
    const t = place.segment.fromS + place.elapsedS
    const healthy = rareEvents(seed, this.#key * 16 + HEALTHY_STREAM, healthyPerDay / DAY_S, t)
    counts[RECEIVER_ERRORS] = (counts[RECEIVER_ERRORS] ?? 0) + healthy
    sumErrors(out, aerNames, (name) => this.aerOf(name))
  }

  /** PCIe errors that the device counted, by the names of the simulation, as {@link readErrors} last saw them. */
  aerOf(name: number): number {
    return Math.floor(this.#counts[name] ?? 0)
  }

  /** Those that the port above it counted. */
  aerAbove(name: number): number {
    return Math.floor(this.#above[name] ?? 0)
  }

  /** Those of both ends, by name. */
  countOf(name: string): number {
    const index = this.#simulation.aerNames.indexOf(name)
    return this.aerOf(index) + this.aerAbove(index)
  }

  /** What the other end receives, the other end counts. */
  #moveReceived(): void {
    this.#simulation.aerNames.forEach((name, index) => {
      if (!RECEIVED_ERRORS.has(name)) return
      this.#above[index] = this.#counts[index] ?? 0
      this.#counts[index] = 0
    })
  }
}

/** Writes the sums of errors by their severity. */
export function sumErrors(out: Float64Array, names: readonly string[], countOf: (name: number) => number): void {
  out[PCI_READ.correctable] = 0
  out[PCI_READ.nonfatal] = 0
  out[PCI_READ.fatal] = 0
  for (let name = 0; name < names.length; name++) {
    const sum = sumOf(names[name] as string)
    out[sum] = (out[sum] as number) + countOf(name)
  }
}

/** The number that sums errors of a severity. */
function sumOf(name: string): number {
  if (name.startsWith('correctable/')) return PCI_READ.correctable
  return name.startsWith('nonfatal/') ? PCI_READ.nonfatal : PCI_READ.fatal
}
