import { pressureExplain } from '../host/explain.ts'
import type { SourceDefinition } from '../source.ts'
import { type PressureSamplesOptions, pressureSamplesOptions } from './config.ts'
import { hostPressureSampleType, hostPressureSamplingType } from './type.ts'

/** Registry row of the fast samples of pressure: runs only on request. */
export const pressureSamples: SourceDefinition = {
  name: 'pressure_samples',
  summary: 'Pressure of CPU, memory and disks, sampled many times a second for rules',
  types: [hostPressureSamplingType, hostPressureSampleType],
  host: 'worker',
  intervalMs: 1000,
  options: pressureSamplesOptions,
  explain: pressureExplain,
  isOnRequest: true,
  async load() {
    const { createPressureSamples } = await import('./source.ts')
    return { create: (options, context) => createPressureSamples(options as PressureSamplesOptions, context) }
  },
}
