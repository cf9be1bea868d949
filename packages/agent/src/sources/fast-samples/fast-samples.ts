import { SondeError } from '@sonde/sdk'
import { countOf } from '@sonde/sdk/internal'
import { ReadFailure } from '../kernel-file.ts'
import type { Duty, NodeSource, Probe, SourceContext } from '../source.ts'

/** An object that is sampled: a port, a PCI device, a resource of the host. */
export interface Sampler {
  /** Checks again which files and counters the object has. Default: they never change. */
  scan?(): void
  /** Takes a sample; returns whether there was any value. */
  sample(): boolean
  /** Reports statistics of the sampling, if there were samples since the last report. */
  report(): void
  /** Reports that the object is gone, and drops its samples. */
  forget(reason: string): void
  close(): void
}

/** Counts failures and drops. */
export type SampleCounters = Pick<SourceContext, 'failed' | 'dropped'>

/** The objects that a source samples. */
export interface SamplerSet {
  /** Noun for such an object: `port`. */
  readonly noun: string
  /**
   * The present objects by name, each with a function that makes its sampler; or why they could not be listed.
   *
   * @param counts Counts failed checks, and objects beyond a limit. Default: nothing is counted.
   */
  places(counts?: SampleCounters): ReadonlyMap<string, () => Sampler> | ReadFailure
  /** Why there are no objects: the end of a sentence. */
  nothing(): string
  close(): void
}

/**
 * A source that reads files of the kernel more often than it reports. Samples stay in rings of the host, where rules
 * watch them. It lists its objects again at each report, and immediately if nothing can be read.
 */
export class FastSamples implements NodeSource {
  readonly #set: SamplerSet
  readonly #counts: SampleCounters
  readonly #samplers = new Map<string, Sampler>()
  readonly #duties: readonly Duty[]
  #isFollowed = false
  #failure: Error | undefined

  /** @param sampleMs Time between two samples of each object. */
  constructor(set: SamplerSet, sampleMs: number, context: SampleCounters & Pick<SourceContext, 'intervalMs'>) {
    this.#set = set
    this.#counts = context
    const [sampleUs, reportUs] = [sampleMs * 1000, context.intervalMs * 1000]
    this.#duties = [
      { device: '', name: 'sample', everyUs: sampleUs, paces: 'sample', run: () => this.#sample() },
      { device: '', name: 'report', everyUs: reportUs, paces: 'report', run: () => this.#report() },
    ]
  }

  probe(): Probe {
    const places = this.#set.places()
    if (places instanceof ReadFailure) return places.probe
    if (places.size > 0) return { state: 'present', found: countOf(places.size, this.#set.noun) }
    return { state: 'absent', reason: this.#set.nothing() }
  }

  duties(): readonly Duty[] {
    return this.#duties
  }

  close(): void {
    for (const sampler of this.#samplers.values()) sampler.close()
    this.#set.close()
  }

  #sample(): void {
    if (!this.#isFollowed) this.#follow()
    let isAny = false
    for (const sampler of this.#samplers.values()) isAny = sampler.sample() || isAny
    if (isAny) return
    // Nothing can be read any more: the next call lists the objects again.
    this.#isFollowed = false
    throw this.#failure ?? new SondeError('SRC_READ', this.#set.nothing())
  }

  #report(): void {
    this.#follow()
    for (const sampler of this.#samplers.values()) sampler.report()
  }

  /** Updates the list of sampled objects. */
  #follow(): void {
    const found = this.#set.places(this.#counts)
    this.#failure = found instanceof ReadFailure ? found.error : undefined
    const places: ReadonlyMap<string, () => Sampler> = found instanceof ReadFailure ? new Map() : found
    for (const [name, sampler] of this.#samplers) {
      if (places.has(name)) continue
      sampler.close()
      sampler.forget(`${this.#set.noun} ${name} is no longer there`)
      this.#samplers.delete(name)
    }
    for (const [name, make] of places) {
      const sampler = this.#samplers.get(name) ?? make()
      this.#samplers.set(name, sampler)
      sampler.scan?.()
    }
    this.#isFollowed = this.#samplers.size > 0
  }
}
