import { FastSamples } from '../fast-samples/fast-samples.ts'
import { HW_COUNTERS } from '../rdma/names.ts'
import type { NodeSource, SourceContext } from '../source.ts'
import type { RdmaSamplesOptions } from './config.ts'
import { HwSampler } from './hw-sampler.ts'
import { formsOf } from './port-counters.ts'
import { PortSamplers } from './port-files.ts'

/** Samples hardware counters of RDMA ports more often than they are reported. */
export function createRdmaSamples(options: RdmaSamplesOptions, context: SourceContext): NodeSource {
  const { devices, counters, sample_ms: sampleMs, ring_ms: ringMs } = options
  const folder = 'hw_counters'
  const common = { folder, forms: formsOf(HW_COUNTERS, counters), sampleMs, context } as const
  const ringSamples = Math.ceil(ringMs / sampleMs)
  const ports = new PortSamplers(
    { folder, counters, devices, samplerOf: (place, sysfs) => new HwSampler(place, ringSamples, { ...common, sysfs }) },
    context,
  )
  return new FastSamples(ports, sampleMs, context)
}
