import { FastSamples } from '../fast-samples/fast-samples.ts'
import type { NodeSource, SourceContext } from '../source.ts'
import type { PciSamplesOptions } from './config.ts'
import { DeviceSamplers } from './device-samplers.ts'

/** Samples link and errors of PCI devices more often than they are reported. */
export function createPciSamples(options: PciSamplesOptions, context: SourceContext): NodeSource {
  return new FastSamples(new DeviceSamplers(options, context), options.sample_ms, context)
}
