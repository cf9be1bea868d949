import type { PciPlace } from '../classes/node-class.ts'
import { RECEIVED_ERRORS, RECEIVER_ERRORS } from '../model/aer.ts'
import { rareEvents } from '../model/rare-events.ts'
import type { SchedulePosition } from '../model/schedule-position.ts'
import type { AerSegment } from '../model/segment.ts'
import { aerNumbers } from '../model/values.ts'
import type { Simulation } from '../simulation.ts'

/** Lanes of every link of a simulated node. */
export const PCI_LANES = 16
const DAY_S = 86_400
/** Random stream of the rare errors of a healthy link. */
const HEALTHY_STREAM = 5

/** Known state of a link. */
interface LinkState {
  readonly pcieGeneration?: number
  readonly pcieWidth?: number
}

/** Errors by severity. */
export interface Errors {
  correctable: number
  nonfatal: number
  fatal: number
}

/** One end of a PCIe link, as of its last reading. */
export interface LinkEnd {
  /** Speed of the link; NaN if the device does not answer. */
  readonly generation: number
  readonly lanes: number
  /** Errors that this end has counted. */
  readonly errors: Errors
}

/**
 * Direction of a bad link: either the device receives broken packets, or it sends them and the port above counts the
 * errors.
 */
export type BadDirection = 'receiving' | 'sending'

/** Reads the PCIe link of one device: its speed, and the errors that each end has counted. */
export class PciReader implements LinkEnd {
  generation = Number.NaN
  lanes = Number.NaN
  readonly errors: Errors = { correctable: 0, nonfatal: 0, fatal: 0 }
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

  /** Speed of the link; unknown if the device does not answer. */
  readLink({ pcieGeneration = this.#generation, pcieWidth = PCI_LANES }: LinkState, isThere = true): void {
    this.generation = isThere ? pcieGeneration : Number.NaN
    this.lanes = isThere ? pcieWidth : Number.NaN
  }

  /** Errors at a position. A healthy link has rare receiver errors, a given number per day. */
  readErrors(aer: AerSegment, place: SchedulePosition, healthyPerDay: number): void {
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
    sumErrors(this.errors, aerNames, (name) => this.aerOf(name))
  }

  /** PCIe errors that the device counted up to the last {@link readErrors}, by the names of the simulation. */
  aerOf(name: number): number {
    return Math.floor(this.#counts[name] ?? 0)
  }

  /** PCIe errors that the port above counted. */
  aerAbove(name: number): number {
    return Math.floor(this.#above[name] ?? 0)
  }

  /** PCIe errors of both ends, by name. */
  countOf(name: string): number {
    const index = this.#simulation.aerNames.indexOf(name)
    return this.aerOf(index) + this.aerAbove(index)
  }

  /** Moves errors of received packets to the other end, which counts them. */
  #moveReceived(): void {
    this.#simulation.aerNames.forEach((name, index) => {
      if (!RECEIVED_ERRORS.has(name)) return
      this.#above[index] = this.#counts[index] ?? 0
      this.#counts[index] = 0
    })
  }
}

/** Writes the sums of errors by their severity. */
export function sumErrors(out: Errors, names: readonly string[], countOf: (name: number) => number): void {
  out.correctable = 0
  out.nonfatal = 0
  out.fatal = 0
  names.forEach((name, index) => {
    if (name.startsWith('correctable/')) out.correctable += countOf(index)
    else if (name.startsWith('nonfatal/')) out.nonfatal += countOf(index)
    else out.fatal += countOf(index)
  })
}
