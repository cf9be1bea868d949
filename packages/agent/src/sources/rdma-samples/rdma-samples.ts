import { rdmaExplain } from '../rdma/explain.ts'
import type { SourceDefinition } from '../source.ts'
import { type RdmaSamplesOptions, rdmaSamplesOptions } from './config.ts'
import { rdmaSampleType, rdmaSamplingType } from './type.ts'

/** Registry row of the fast samples of RDMA counters: runs only on request. */
export const rdmaSamples: SourceDefinition = {
  name: 'rdma_samples',
  summary: 'Hardware counters of RDMA ports, sampled every few milliseconds for rules',
  types: [rdmaSamplingType, rdmaSampleType],
  host: 'worker',
  intervalMs: 1000,
  options: rdmaSamplesOptions,
  explain: rdmaExplain,
  isOnRequest: true,
  async load() {
    const { createRdmaSamples } = await import('./source.ts')
    return { create: (options, context) => createRdmaSamples(options as RdmaSamplesOptions, context) }
  },
}
