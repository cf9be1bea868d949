import { FastSamples } from '../fast-samples/fast-samples.ts'
import { PORT_COUNTERS } from '../rdma/names.ts'
import { formsOf } from '../rdma-samples/port-counters.ts'
import { PortSamplers } from '../rdma-samples/port-files.ts'
import type { NodeSource, SourceContext } from '../source.ts'
import type { RdmaPortSamplesOptions } from './config.ts'
import { PortSampler } from './port-sampler.ts'

/** Samples counters of RDMA ports more often than they are reported. */
export function createRdmaPortSamples(options: RdmaPortSamplesOptions, context: SourceContext): NodeSource {
  const { devices, counters, sample_ms: sampleMs, ring_ms: ringMs } = options
  const folder = 'counters'
  const common = { folder, forms: formsOf(PORT_COUNTERS, counters), sampleMs, context } as const
  const ringSamples = Math.ceil(ringMs / sampleMs)
  const ports = new PortSamplers(
    {
      ...{ folder, counters, devices },
      samplerOf: (place, sysfs) => new PortSampler(place, ringSamples, { ...common, sysfs }),
    },
    context,
  )
  return new FastSamples(ports, sampleMs, context)
}
