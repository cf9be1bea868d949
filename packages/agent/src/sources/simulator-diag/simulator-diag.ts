import { docaDiagSampleType, docaDiagSamplingType } from '../doca-telemetry-diag/type.ts'
import type { SourceDefinition } from '../source.ts'
import { type SimulatorDiagOptions, simulatorDiagOptions } from './config.ts'

/** Registry row of the full-rate samples of simulated NICs: runs only on request. */
export const simulatorDiag: SourceDefinition = {
  name: 'simulator_diag',
  summary: 'The diagnostic counters of simulated NICs at full rate',
  types: [docaDiagSamplingType, docaDiagSampleType],
  host: 'worker',
  intervalMs: 1000,
  options: simulatorDiagOptions,
  labels: { simulated: 'true' },
  isOnRequest: true,
  async refuse(options) {
    const [{ rehearse }, { simulatedIds }] = await Promise.all([
      import('../simulator/scenario-play.ts'),
      import('./columns.ts'),
    ])
    const { counters, ...node } = options as SimulatorDiagOptions
    simulatedIds(counters)
    rehearse(node)
  },
  async load() {
    const { SimulatorDiag } = await import('./source.ts')
    return { create: (options, context) => new SimulatorDiag(options as SimulatorDiagOptions, context) }
  },
}
