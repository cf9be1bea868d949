import type { SimulatedNode, StartedScenario } from '@sonde/sdk/api'
import type { NodeState } from './node-state.ts'

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

/** What it answers. */
export interface SimulatorAnswers {
  readonly describe: SimulatedNode
  readonly start: StartedScenario
  readonly stop: null
  readonly state: NodeState
  readonly follow: null
}
