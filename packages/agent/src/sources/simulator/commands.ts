import type { Scenario } from './scenarios/scenario.ts'

/** What a running simulator is asked. */
export type SimulatorCommand =
  | { readonly kind: 'describe' }
  /** `request` is checked by the simulator: it may come from outside. */
  | { readonly kind: 'start'; readonly request: unknown }
  | { readonly kind: 'stop'; readonly id: string }

/** A scenario that runs or waits, with the times of the wall clock. */
export interface ToldScenario {
  readonly id: string
  readonly name: string
  /** Id of the device; empty where it happens to the node. */
  readonly device: string
  readonly onsetMs: number
  readonly endMs: number
  readonly severity: number
  readonly state: 'waiting' | 'running'
}

/** What it answers. */
export interface SimulatorAnswers {
  readonly describe: {
    readonly nodeClass: string
    readonly seed: number
    /** What can be played, and on which devices. */
    readonly scenarios: readonly (Pick<Scenario, 'name' | 'summary' | 'target' | 'severity' | 'durationS'> & {
      readonly targets: readonly string[]
    })[]
    readonly running: readonly ToldScenario[]
  }
  readonly start: ToldScenario
  readonly stop: null
}
