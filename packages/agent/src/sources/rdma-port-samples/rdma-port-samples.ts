import { rdmaExplain } from '../rdma/explain.ts'
import type { SourceDefinition } from '../source.ts'
import { type RdmaPortSamplesOptions, rdmaPortSamplesOptions } from './config.ts'
import { rdmaPortSampleType, rdmaPortSamplingType } from './type.ts'

/**
 * Registry row of the fast samples of port counters: runs only on request. It is separate from `rdma_samples` because
 * its reads wait for the firmware: in its own worker they do not delay samples of `hw_counters`.
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
