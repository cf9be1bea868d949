import type { NicPlace } from '../simulator/classes/node-class.ts'
import { rxCurve, type StepCurve, stepsAt, txCurve } from '../simulator/model/bursts.ts'
import { packetsPerStep } from '../simulator/model/pace.ts'
import { BASIS, BASIS_COUNT, NIC_FRACTIONS_FROM, NIC_QUANTITIES } from '../simulator/model/quantities.ts'
import { SchedulePosition } from '../simulator/model/schedule-position.ts'
import type { NicSegment } from '../simulator/model/segment.ts'
import { COUNTERS } from '../simulator/observe/nic-reading.ts'
import { readLatencyMaxS } from '../simulator/report/doca-diag.ts'
import type { Simulation } from '../simulator/simulation.ts'

const NS_PER_S = 1e9
/** Notifications per mark, as in {@link NicReading}. */
const CNP_SHARE = 0.75

/** Moments to read a NIC at: multiples of a period since the epoch of the simulation. */
export interface Moments {
  /** Number of the first moment, in periods since the epoch. */
  readonly first: number
  readonly count: number
  /** Unit: nanoseconds. */
  readonly periodNs: number
}

/**
 * Reads some numbers of a NIC at many moments, with exactly the values of {@link NicReading}. Constants of a
 * step are computed once per step, and each number in a loop over the moments, without allocations.
 */
export class NicStretch {
  /** Longest read over PCIe at each moment. Unit: nanoseconds. */
  readonly readLatencyMaxNs: Float64Array
  readonly #simulation: Simulation
  readonly #capacity: number
  /** Requested numbers by {@link COUNTERS}, and their rows. */
  readonly #numbers: readonly number[]
  readonly #rows: readonly Float64Array[]
  readonly #elapsed: Float64Array
  readonly #tx: Float64Array
  readonly #rx: Float64Array
  readonly #place = new SchedulePosition()
  readonly #ahead = new SchedulePosition()

  /**
   * @param numbers Requested numbers, by {@link COUNTERS}.
   * @param capacity Most moments of one reading.
   */
  constructor(simulation: Simulation, numbers: readonly number[], capacity: number) {
    this.#simulation = simulation
    this.#capacity = capacity
    this.#numbers = numbers
    this.#rows = numbers.map(() => new Float64Array(capacity))
    this.#elapsed = new Float64Array(capacity)
    this.#tx = new Float64Array(capacity)
    this.#rx = new Float64Array(capacity)
    this.readLatencyMaxNs = new Float64Array(capacity)
  }

  /** Values of a number at the moments of the last reading. */
  of(number: number): Float64Array {
    return this.#rows[this.#numbers.indexOf(number)] as Float64Array
  }

  /** Reads a NIC at up to `capacity` moments. */
  read(nic: NicPlace, { first, count, periodNs }: Moments): void {
    if (count > this.#capacity) throw new RangeError(`${count} moments; allowed: ${this.#capacity}`)
    const { seed } = this.#simulation
    const place = this.#place
    const packets = packetsPerStep(nic)
    for (let from = 0; from < count; ) {
      this.#simulation.at(place, ((first + from) * periodNs) / NS_PER_S)
      const to = from + this.#stepMoments(place, first + from, count - from, periodNs)
      const segment = place.segment.nics[nic.index] as NicSegment
      this.#locate(place, { first, from, to, periodNs })
      moveAlong(txCurve(seed, nic.index, place, segment, packets), place, this.#elapsed, this.#tx, from, to)
      moveAlong(rxCurve(seed, nic.index, place, segment, packets), place, this.#elapsed, this.#rx, from, to)
      this.#count(segment, from, to)
      this.#readLatency(place, segment, from, to)
      from = to
    }
  }

  /** Number of following moments in the same step, found by bisection; the model itself finds the step of a moment. */
  #stepMoments({ segment, step }: SchedulePosition, first: number, limit: number, periodNs: number): number {
    const ahead = this.#ahead
    const isIn = (moment: number) => {
      this.#simulation.at(ahead, ((first + moment) * periodNs) / NS_PER_S)
      return ahead.segment === segment && ahead.step === step
    }
    if (isIn(limit - 1)) return limit
    let [low, high] = [1, limit - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if (isIn(middle)) low = middle + 1
      else high = middle
    }
    return low
  }

  #locate({ segment }: SchedulePosition, at: { first: number; from: number; to: number; periodNs: number }): void {
    const { fromS, toS } = segment
    const { keptFromS } = this.#simulation
    for (let i = at.from; i < at.to; i++) {
      const t = Math.max(keptFromS, ((at.first + i) * at.periodNs) / NS_PER_S)
      this.#elapsed[i] = Math.min(t, toS) - fromS
    }
  }

  #count({ base, growth }: NicSegment, from: number, to: number): void {
    this.#numbers.forEach((number, at) => {
      const row = this.#rows[at] as Float64Array
      const isSent = number === COUNTERS.cnpSent
      const counted = isSent ? NIC_QUANTITIES.marked : number
      const by = counted * BASIS_COUNT
      const elapsed = growth[by + BASIS.elapsedS] as number
      const tx = growth[by + BASIS.txSteps] as number
      const rx = growth[by + BASIS.rxSteps] as number
      grow(row, this.#elapsed, this.#tx, this.#rx, base[counted] as number, elapsed, tx, rx, from, to)
      if (counted < NIC_FRACTIONS_FROM) floor(row, 1, from, to)
      if (isSent) floor(row, CNP_SHARE, from, to)
    })
  }

  #readLatency({ segment, startS, lengthS }: SchedulePosition, { effect }: NicSegment, from: number, to: number): void {
    const calm = Math.round(readLatencyMaxS(effect, false) * NS_PER_S)
    const busy = Math.round(readLatencyMaxS(effect, true) * NS_PER_S)
    const { windowStart, windowEnd } = segment
    for (let i = from; i < to; i++) {
      const theta = lengthS === 0 ? -1 : ((this.#elapsed[i] as number) - startS) / lengthS
      this.readLatencyMaxNs[i] = theta >= windowStart && theta < windowEnd ? busy : calm
    }
  }
}

/** Writes the bytes, in steps' worth, at each moment. */
function moveAlong(
  curve: StepCurve,
  { startS, lengthS }: SchedulePosition,
  elapsed: Float64Array,
  steps: Float64Array,
  from: number,
  to: number,
): void {
  for (let i = from; i < to; i++) {
    const theta = lengthS === 0 ? 0 : ((elapsed[i] as number) - startS) / lengthS
    steps[i] = stepsAt(curve, theta)
  }
}

/**
 * Writes a number at each moment. Its parts are added in the same order as in `nicNumbers`, so that the bits are equal.
 */
function grow(
  row: Float64Array,
  elapsed: Float64Array,
  tx: Float64Array,
  rx: Float64Array,
  base: number,
  byElapsed: number,
  byTx: number,
  byRx: number,
  from: number,
  to: number,
): void {
  for (let i = from; i < to; i++) {
    row[i] = base + byElapsed * (elapsed[i] as number) + byTx * (tx[i] as number) + byRx * (rx[i] as number)
  }
}

function floor(row: Float64Array, share: number, from: number, to: number): void {
  for (let i = from; i < to; i++) row[i] = Math.floor(share * (row[i] as number))
}
