import { hostNumbers } from '../model/host-segment.ts'
import { HOST_COUNT } from '../model/quantities.ts'
import { SchedulePosition } from '../model/schedule-position.ts'
import type { Simulation } from '../simulation.ts'
import { ORIGINS, observedAt, rounded } from './origin.ts'

/** Reads the pressure of the host as its kernel reports it. */
export class HostReader {
  /** Numbers of the last reading, by `HOST`. Unit: seconds. */
  readonly numbers = new Float64Array(HOST_COUNT)
  readonly #simulation: Simulation
  readonly #place = new SchedulePosition()

  constructor(simulation: Simulation) {
    this.#simulation = simulation
  }

  read(t: number): void {
    const out = this.numbers
    hostNumbers(out, this.#simulation.at(this.#place, observedAt(ORIGINS.pressure, t)))
    for (let i = 0; i < out.length; i++) out[i] = rounded(ORIGINS.pressure, out[i] as number)
  }
}
