import { cutEffects, type Simulation } from '../simulation.ts'
import { randomOf } from './random.ts'
import { SCENARIOS } from './scenarios.ts'

/** The last part of the past has no fault, so that the node is healthy when it starts. Unit: seconds. */
const HEALTHY_S = 120
/** A shorter past has no fault. Unit: seconds. */
const FAULTS_LEAST_S = 60
/** After these a GPU needs a reset: the node would not be healthy when it starts. */
const LASTING: ReadonlySet<string> = new Set(['ecc-burst', 'gpu-lost'])

/** The time before the start of a simulated node. Unit: seconds since the epoch of the simulation. */
export interface PastSpan {
  readonly fromS: number
  readonly toS: number
}

/**
 * Plays one fault after the other in the time before the start, as `random` does; the seed chooses them. Faults that
 * last until a reset are left out.
 */
export function playPast(simulation: Simulation, { fromS, toS }: PastSpan): void {
  const endS = toS - HEALTHY_S
  if (endS - fromS < FAULTS_LEAST_S) return
  const { node, seed } = simulation
  const { effects, severity } = randomOf(SCENARIOS.filter(({ name }) => name !== 'random' && !LASTING.has(name)))
  const device = { kind: 'gpu', index: 0 } as const
  const strike = { node, seed, device, sinceS: fromS, onsetS: fromS, endS, severity: severity.default }
  simulation.setEffects([cutEffects(effects(strike), endS)])
}
