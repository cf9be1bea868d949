import { SchedulePosition } from '../model/schedule-position.ts'
import type { Simulation } from '../simulation.ts'

/** A time window of growing numbers: their values at its end, and their growth. */
export class Window {
  readonly #simulation: Simulation
  readonly #place = new SchedulePosition()
  readonly #fill: (out: Float64Array, place: SchedulePosition) => void
  readonly #from: Float64Array
  readonly #to: Float64Array
  #windowS = 0

  /** `fill` writes `count` numbers for a position. */
  constructor(simulation: Simulation, count: number, fill: (out: Float64Array, place: SchedulePosition) => void) {
    this.#simulation = simulation
    this.#fill = fill
    this.#from = new Float64Array(count)
    this.#to = new Float64Array(count)
  }

  /** Reads the `windowS` seconds before `t`; 0 reads only the end. */
  look(t: number, windowS = 0): void {
    this.#windowS = windowS
    this.#fill(this.#from, this.#simulation.at(this.#place, t - windowS))
    if (windowS > 0) this.#fill(this.#to, this.#simulation.at(this.#place, t))
    else this.#to.set(this.#from)
  }

  /** A number at the end of the window. */
  end(number: number): number {
    return this.#to[number] as number
  }

  /** Mean growth of a number in the window, per second. */
  mean(number: number): number {
    return ((this.#to[number] as number) - (this.#from[number] as number)) / this.#windowS
  }
}
