import type { NodeState } from './node-state.ts'
import type { Scenario } from './scenarios/scenario.ts'

/** What a running simulator is asked. */
export type SimulatorCommand =
  | { readonly kind: 'describe' }
  /** `request` is checked by the simulator: it may come from outside. */
  | ({ readonly kind: 'start'; readonly request: unknown } & Lead)
  | ({ readonly kind: 'stop'; readonly id: string } & Lead)
  /** What happens to the node, so that another source can show the same. */
  | { readonly kind: 'state' }
  | { readonly kind: 'follow'; readonly state: NodeState }

/** Time before a command takes effect, in which another source is told of it. Unit: milliseconds. Default: 0. */
interface Lead {
  readonly leadMs?: number
}

/** A scenario that runs or waits, with the times of the wall clock. */
export interface ToldScenario {
  readonly id: string
  readonly name: string
  /** Id of the device; empty if it happens to the node. */
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
  readonly state: NodeState
  readonly follow: null
}
