// Requests and answers of `/api/v1/simulator` and its children.

/** A scenario that the simulator can play. */
export interface ListedScenario {
  readonly name: string
  /** One sentence without a full stop. */
  readonly summary: string
  /** What it happens to. */
  readonly target: 'gpu' | 'nic' | 'node'
  /** Ids of the devices that it can happen to; empty where it happens to the node. */
  readonly targets: readonly string[]
  /** How bad it can be. Where a scenario has one degree only, all three numbers are 1. */
  readonly severity: {
    readonly unit: string
    readonly min: number
    readonly max: number
    readonly default: number
  }
  /** How long it lasts by default. Unit: seconds. */
  readonly durationS: number
}

/** A scenario that runs, or waits for its start. Times are milliseconds since the Unix epoch. */
export interface StartedScenario {
  readonly id: string
  readonly name: string
  /** Id of the device; empty where it happens to the node. */
  readonly device: string
  readonly onsetMs: number
  readonly endMs: number
  readonly severity: number
  readonly state: 'waiting' | 'running'
}

/** A simulated node: its available and running scenarios. */
export interface SimulatedNode {
  readonly nodeClass: string
  readonly seed: number
  readonly scenarios: readonly ListedScenario[]
  readonly running: readonly StartedScenario[]
}

/** What `GET /api/v1/simulator` answers. */
export interface SimulatorAnswer extends SimulatedNode {
  readonly enabled: boolean
  /** Why the simulated node cannot be started now, as a sentence; empty where it can, or runs. */
  readonly refusal: string
  /** Time between two samples. Unit: milliseconds. */
  readonly intervalMs: number
}

/** Body of `POST /api/v1/simulator/scenarios`. The scenario chooses defaults for missing members. */
export interface ScenarioRequest {
  readonly name: string
  /** Id of the device, such as `sim-nic-mlx5_3-1`. */
  readonly device?: string
  readonly severity?: number
  /** Time until it starts. Unit: seconds. Range: 0 to 86 400. Default: 0. */
  readonly delayS?: number
  /** How long it lasts. Unit: seconds. Range: 1 to 86 400. */
  readonly durationS?: number
}
