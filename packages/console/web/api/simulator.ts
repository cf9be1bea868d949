import { getJson, sendChange } from './client.ts'
import { createPoll, type Resource, usePoll } from './resources.ts'

/** A scenario that the simulator can play. */
export interface ScenarioInfo {
  readonly name: string
  readonly summary: string
  /** Kind of device that it happens to. */
  readonly target: string
  /** Ids of the devices that it can happen to; empty if it happens to the node. */
  readonly targets: readonly string[]
  /** How bad it is; `unit` says what the number means. */
  readonly severity: {
    readonly unit: string
    readonly min: number
    readonly max: number
    readonly default: number
  }
  /** How long it lasts where nothing else is said. */
  readonly durationS: number
}

/** A scenario that runs, or waits for its onset. */
export interface RunningScenario {
  readonly id: string
  readonly name: string
  readonly device: string
  readonly onsetMs: number
  readonly endMs: number | null
  readonly severity: number
  readonly state: string
}

/** Answer of `/api/v1/simulator`. */
export interface SimulatorInfo {
  readonly enabled: boolean
  /** Why the simulated node cannot be started now, as a sentence; empty if it can, or runs. */
  readonly refusal: string
  readonly nodeClass: string
  readonly seed: number
  readonly intervalMs: number
  readonly scenarios: readonly ScenarioInfo[]
  readonly running: readonly RunningScenario[]
}

/** What is sent to start a scenario. What is left out is chosen by the simulator. */
export interface ScenarioRequest {
  readonly name: string
  readonly device?: string
  readonly severity?: number
  readonly delayS?: number
  readonly durationS?: number
}

const simulatorPoll = createPoll(() => getJson<SimulatorInfo>('/api/v1/simulator'), 1_000)

/** The simulator and what it plays, renewed every second. */
export function useSimulator(): Resource<SimulatorInfo> {
  return usePoll(simulatorPoll)
}

/** Starts the simulated node. Throws `ApiError`. */
export async function startSimulatedNode(): Promise<void> {
  await sendChange('POST', '/api/v1/simulator', {})
  await simulatorPoll.refresh()
}

/** Starts a scenario. Throws `ApiError`. */
export async function startScenario(scenario: ScenarioRequest): Promise<void> {
  await sendChange('POST', '/api/v1/simulator/scenarios', scenario)
  await simulatorPoll.refresh()
}

/** Ends a scenario now. Throws `ApiError`. */
export async function stopScenario(id: string): Promise<void> {
  await sendChange('DELETE', `/api/v1/simulator/scenarios/${encodeURIComponent(id)}`)
  await simulatorPoll.refresh()
}
