import { routeAddress, type ScenarioRequest, type SimulatorAnswer } from '@sonde/sdk/api'
import { getAnswer, sendChange } from './client.ts'
import { createPoll, type Resource, usePoll } from './resources.ts'

const simulatorPoll = createPoll(() => getAnswer('/api/v1/simulator'), 1_000)

/** The simulator and its scenarios, polled every second. */
export function useSimulator(): Resource<SimulatorAnswer> {
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
  await sendChange('DELETE', routeAddress('/api/v1/simulator/scenarios/:id', { id }))
  await simulatorPoll.refresh()
}
