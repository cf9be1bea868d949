import { SondeError } from '@sonde/sdk'
import type { ScenarioRequest } from '@sonde/sdk/api'
import type { Effects } from '../effects.ts'
import { RUNNING_LIMIT } from '../names.ts'
import { cutEffects, type Simulation } from '../simulation.ts'
import { deviceId } from './devices.ts'
import { type ChosenScenario, chooseScenario } from './request.ts'

/** Most spans of all present and recent scenarios. Each kept span takes about 40 kB. */
export const SPANS_LIMIT = 384
/**
 * How long a finished scenario is kept, because values look back over an interval. Unit: seconds. Default of {@link
 * ScenarioBook}.
 */
const PAST_S = 60

/** A scenario that runs or waits for its onset. */
export interface RunningScenario {
  readonly id: string
  readonly name: string
  /** Id of the device; empty if it affects the whole node. */
  readonly device: string
  /** Unit: seconds since the epoch of the simulation. */
  readonly onsetS: number
  readonly endS: number
  readonly severity: number
}

/** Target of the scenarios: a simulation, or its replacement in a test. */
export type Played = Pick<Simulation, 'node' | 'seed' | 'setEffects' | 'forget'>

interface ScenarioEntry extends RunningScenario {
  readonly effects: Effects
}

/**
 * The scenarios of a simulated node in the order of their start: the complete state of a simulation. The same starts at
 * the same times give the same effects. The caller passes the time with each call.
 */
export class ScenarioBook {
  readonly node: Simulation['node']
  readonly #simulation: Played
  readonly #pastS: number
  #entries: ScenarioEntry[] = []
  #started = 0

  /** `pastS` is how far values look back, in seconds; default: 60. */
  constructor(simulation: Played, pastS = PAST_S) {
    this.node = simulation.node
    this.#simulation = simulation
    this.#pastS = pastS
  }

  /** Scenarios that have not ended, in the order of their start. */
  running(nowS: number): readonly RunningScenario[] {
    return this.#entries.filter(({ endS }) => endS > nowS)
  }

  /**
   * Starts a scenario.
   *
   * @throws SondeError `SIM_UNKNOWN`, `SIM_FORM`, `SIM_OVERLAP` if the same scenario affects the device at that time,
   * `SIM_LIMIT` if there are too many running or recent scenarios.
   */
  start(request: ScenarioRequest, nowS: number): RunningScenario {
    const isTaken = (id: string, delayS: number, durationS: number) => {
      return this.#isTaken(id, nowS + delayS, nowS + delayS + durationS)
    }
    const chosen = chooseScenario(this.node, request, {
      seed: this.#simulation.seed,
      started: this.#started,
      isTaken,
    })
    const onsetS = nowS + chosen.delayS
    const entry = this.#entryOf(chosen, nowS, onsetS)
    this.#refuseOverlap(entry, chosen.scenario.target)
    this.#forget(nowS - this.#pastS)
    this.#refuseLimits(entry, nowS)
    this.#started++
    this.#entries.push(entry)
    this.#changed()
    return entry
  }

  /**
   * Ends a scenario now; its effects on counters remain.
   *
   * @throws SondeError `SIM_UNKNOWN` if no scenario with this id runs.
   */
  stop(id: string, nowS: number): void {
    const entry = this.#entries.find((each) => each.id === id)
    if (entry === undefined || entry.endS <= nowS) {
      const ids = this.running(nowS).map(({ id: one }) => one)
      const offer = ids.length === 0 ? 'none runs' : `running: ${ids.join(', ')}`
      throw new SondeError('SIM_UNKNOWN', `no scenario with the id ${JSON.stringify(id.slice(0, 40))} runs; ${offer}`)
    }
    const ended: ScenarioEntry = { ...entry, endS: nowS, effects: cutEffects(entry.effects, nowS) }
    this.#entries = this.#entries.map((each) => (each === entry ? ended : each))
    this.#changed()
  }

  #entryOf({ scenario, device, severity, durationS }: ChosenScenario, nowS: number, onsetS: number): ScenarioEntry {
    const { node } = this
    const { seed } = this.#simulation
    const endS = onsetS + durationS
    const struck = device ?? { kind: 'gpu' as const, index: 0 }
    const effects = scenario.effects({ node, seed, device: struck, sinceS: nowS, onsetS, endS, severity })
    return {
      id: String(this.#started + 1),
      name: scenario.name,
      device: device === undefined ? '' : deviceId(node, device),
      onsetS,
      endS,
      severity,
      effects: cutEffects(effects, endS),
    }
  }

  #isTaken(id: string, fromS: number, toS: number): boolean {
    return this.#entries.some(({ device, onsetS, endS }) => device === id && onsetS < toS && endS > fromS)
  }

  #refuseOverlap({ name, device, onsetS, endS }: ScenarioEntry, target: string): void {
    const other = this.#entries.find((each) => {
      return each.name === name && each.device === device && each.onsetS < endS && each.endS > onsetS
    })
    if (other === undefined) return
    const place = target === 'node' ? 'the node' : device
    const ways = 'end it first, or start the new one after it'
    throw new SondeError(
      'SIM_OVERLAP',
      `${name} is set for ${place} at that time already, with the id ${other.id}; ${ways}`,
    )
  }

  #refuseLimits({ effects }: ScenarioEntry, nowS: number): void {
    const spans = this.#entries.reduce((sum, each) => sum + each.effects.spans.length, effects.spans.length)
    const fault =
      this.running(nowS).length >= RUNNING_LIMIT
        ? `${RUNNING_LIMIT} scenarios run or wait; end one first`
        : spans > SPANS_LIMIT
          ? `scenarios make ${SPANS_LIMIT} changes at most, those of the last ${this.#pastS} s included; end one, or wait`
          : ''
    if (fault !== '') throw new SondeError('SIM_LIMIT', fault)
  }

  /** Moves finished effects into the simulation, which keeps their counts. */
  #forget(beforeS: number): void {
    const keptFromS = this.#simulation.forget(beforeS)
    this.#entries = this.#entries.filter(({ endS }) => endS > keptFromS)
  }

  #changed(): void {
    this.#simulation.setEffects(this.#entries.map(({ effects }) => effects))
  }
}
