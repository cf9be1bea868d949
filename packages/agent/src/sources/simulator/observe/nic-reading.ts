import type { NicPlace } from '../classes/node-class.ts'
import type { NicEffect, NicEventKind } from '../effects.ts'
import { bitErrorRate } from '../model/bit-errors.ts'
import { deviceKey, STREAM, uniform } from '../model/hash.ts'
import { NIC_COUNT, NIC_FRACTIONS_FROM, NIC_QUANTITIES } from '../model/quantities.ts'
import { rareEvents } from '../model/rare-events.ts'
import { SchedulePosition } from '../model/schedule-position.ts'
import type { NicSegment } from '../model/segment.ts'
import { nicNumbers } from '../model/values.ts'
import { vectorOf } from '../model/vector.ts'
import type { Simulation } from '../simulation.ts'
import { observedAt, type ReadingOrigin } from './origin.ts'

const DAY_S = 86_400

/**
 * Counters of a NIC: the numbers of {@link NIC_QUANTITIES}, the congestion notifications that it has sent, and elapsed
 * time.
 */
export const COUNTERS = { ...NIC_QUANTITIES, ...vectorOf(['cnpSent', 'elapsedMs'], NIC_COUNT) }
/** Name of one of {@link COUNTERS}. */
export type Counter = keyof typeof COUNTERS
const COUNTERS_COUNT = Object.keys(COUNTERS).length

/** One NIC at the moment that an origin of counters shows. */
export class NicReading {
  readonly nic: NicPlace
  /** By {@link COUNTERS}; whole numbers except for the seconds. */
  readonly counters = new Float64Array(COUNTERS_COUNT)
  /** Position of the moment in the schedule. */
  readonly place = new SchedulePosition()
  segment!: NicSegment
  /** The moment. Unit: seconds. */
  atS = 0
  readonly #simulation: Simulation
  readonly #key: number
  readonly #origin: ReadingOrigin
  readonly #phaseS: number

  constructor(simulation: Simulation, nic: NicPlace, origin: ReadingOrigin) {
    this.nic = nic
    this.#simulation = simulation
    this.#key = deviceKey('nic', nic.index)
    this.#origin = origin
    // Each device has its own phase, so that devices do not change at the same time.
    this.#phaseS = origin.updateS * this.own(5)
  }

  /** Reads what the origin shows at `t`. */
  read(t: number): void {
    const { counters, place, nic } = this
    const { seed } = this.#simulation
    this.atS = observedAt(this.#origin, t, this.#phaseS)
    this.segment = this.#simulation.at(place, this.atS).segment.nics[nic.index] as NicSegment
    nicNumbers(counters, seed, nic, place)
    for (let i = 0; i < NIC_FRACTIONS_FROM; i++) counters[i] = Math.floor(counters[i] as number)
    counters[COUNTERS.cnpSent] = Math.floor(0.75 * this.count(NIC_QUANTITIES.marked))
    counters[COUNTERS.elapsedMs] = Math.floor(this.atS * 1000)
  }

  /** A number by {@link COUNTERS}. */
  count(number: number): number {
    return this.counters[number] as number
  }

  get effect(): NicEffect {
    return this.segment.effect
  }

  get isUp(): boolean {
    return this.effect.link !== 'down'
  }

  /** Speed of the link when it is up. Unit: bytes per second. */
  get trainedBytesPerS(): number {
    return this.nic.model.speedBytesPerS * (this.effect.speedShare ?? 1)
  }

  /** Speed of the link; NaN if it is down. Unit: bytes per second. */
  get speedBytesPerS(): number {
    return this.isUp ? this.trainedBytesPerS : Number.NaN
  }

  /** Bit error rate before correction; NaN if the link is down. */
  get rawBer(): number {
    return this.isUp ? bitErrorRate(this.#simulation.seed, this.nic.index, this.effect) : Number.NaN
  }

  /** Number of events of the NIC. */
  events(kind: NicEventKind): number {
    return this.#simulation.events.ofNic(this.nic.index, kind, this.atS)
  }

  /** Count of rare events that happen this many times a day, on average over all NICs. */
  rare(stream: number, perDay: number): number {
    const share = 0.3 + 1.4 * this.own(30 + stream)
    return rareEvents(this.#simulation.seed, this.#key * 16 + stream, (share * perDay) / DAY_S, this.atS)
  }

  /** A constant random number in [0, 1), different for each NIC. */
  own(stream: number): number {
    return uniform(this.#simulation.seed, STREAM.device, this.#key, stream)
  }

  /** A constant random number in [0, 1), different for each lane. */
  ownOfLane(lane: number, stream: number): number {
    return uniform(this.#simulation.seed, STREAM.device, this.#key * 8 + lane, stream)
  }
}
