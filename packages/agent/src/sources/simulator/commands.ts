import type { SimulatedNode, StartedScenario } from '@sonde/sdk/api'
import type { NodeState } from './node-state.ts'

/** Commands of a running simulator. */
export type SimulatorCommand =
  | { readonly kind: 'describe' }
  /** The simulator checks `request`, which may come from outside. */
  | ({ readonly kind: 'start'; readonly request: unknown } & Lead)
  | ({ readonly kind: 'stop'; readonly id: string } & Lead)
  /** Returns the state of the node, so that another source can show the same node. */
  | { readonly kind: 'state' }
  | { readonly kind: 'follow'; readonly state: NodeState }

/** Delay before a command takes effect, for informing another source. Unit: milliseconds. Default: 0. */
interface Lead {
  readonly leadMs?: number
}

/** Answers to the commands. */
export interface SimulatorAnswers {
  readonly describe: SimulatedNode
  readonly start: StartedScenario
  readonly stop: null
  readonly state: NodeState
  readonly follow: null
}
