import { rdmaExplain } from '../rdma/explain.ts'
import type { SourceDefinition } from '../source.ts'
import { type RdmaPortSamplesOptions, rdmaPortSamplesOptions } from './config.ts'
import { rdmaPortSampleType, rdmaPortSamplingType } from './type.ts'

/**
 * Registry row of the fast samples of port counters: runs only if it is asked for. It is no part of `rdma_samples`,
 * as its reads wait for the firmware: in a worker of their own they keep no sample of `hw_counters` waiting.
 */
export const rdmaPortSamples: SourceDefinition = {
  name: 'rdma_port_samples',
  summary: 'Traffic and waiting of RDMA ports, sampled many times a second for rules',
  types: [rdmaPortSamplingType, rdmaPortSampleType],
  host: 'worker',
  intervalMs: 1000,
  options: rdmaPortSamplesOptions,
  explain: rdmaExplain,
  isOnRequest: true,
  async load() {
    const { createRdmaPortSamples } = await import('./source.ts')
    return { create: (options, context) => createRdmaPortSamples(options as RdmaPortSamplesOptions, context) }
  },
}
