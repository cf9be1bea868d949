import { FastSamples, type Sampler, type SamplerSet } from '../fast-samples/fast-samples.ts'
import { ATTRIBUTE_BYTES_LIMIT, KernelFiles, ReadFailure } from '../kernel-file.ts'
import type { NodeSource, SourceContext } from '../source.ts'
import type { PressureSamplesOptions } from './config.ts'
import { ResourceSampler } from './resource-sampler.ts'

const READS_PER_OPEN = 1024

/** Samples the pressure of the host more often than it is reported. */
export function createPressureSamples(options: PressureSamplesOptions, context: SourceContext): NodeSource {
  return new FastSamples(new ResourceSamplers(options, context), options.sample_ms, context)
}

/** The resources with sampled pressure. */
class ResourceSamplers implements SamplerSet {
  readonly noun = 'resource'
  readonly #options: PressureSamplesOptions
  readonly #context: SourceContext
  readonly #procfs: KernelFiles

  constructor(options: PressureSamplesOptions, context: SourceContext) {
    this.#options = options
    this.#context = context
    const limits = { fileBytesLimit: ATTRIBUTE_BYTES_LIMIT, readsPerOpen: READS_PER_OPEN }
    this.#procfs = new KernelFiles(context.paths.procfs, limits)
  }

  places(): ReadonlyMap<string, () => Sampler> | ReadFailure {
    const names = this.#procfs.list('pressure')
    if (names instanceof ReadFailure) return names
    const { resources, ring_ms: ringMs, sample_ms: sampleMs } = this.#options
    // If only some files are missing, the samplers of these resources report why.
    if (!resources.some((resource) => names.includes(resource))) return new Map()
    const ringSamples = Math.ceil(ringMs / sampleMs)
    const samplerOf = (resource: string) => new ResourceSampler(resource, ringSamples, this.#procfs, this.#context)
    return new Map(resources.map((resource) => [resource, () => samplerOf(resource)]))
  }

  nothing(): string {
    return `no wanted resource of ${this.#procfs.root}/pressure tells its pressure`
  }

  close(): void {
    this.#procfs.close()
  }
}
