import { SondeError } from '@sonde/sdk'
import { countOf } from '@sonde/sdk/internal'
import { ReadFailure } from '../kernel-file.ts'
import type { Duty, NodeSource, Probe, SourceContext } from '../source.ts'

/** Something that is sampled: a port, a PCI device, a resource of the host. */
export interface Sampler {
  /** Looks anew at what there is of it. Default: nothing of it changes while it is there. */
  scan?(): void
  /** Takes a sample; whether there was any value. */
  sample(): boolean
  /** Reports how the sampling fares, where there was any sample since the last report. */
  report(): void
  /** Says that it is gone, and its samples with it. */
  forget(reason: string): void
  close(): void
}

/** Where faults and drops are counted. */
export type SampleCounters = Pick<SourceContext, 'failed' | 'dropped'>

/** What a source samples. */
export interface SamplerSet {
  /** A noun for one of them, such as `port`. */
  readonly noun: string
  /**
   * Those that are there, by name, and how a sampler of each is made; or why it could not look.
   *
   * @param counts Where it counts what could not be looked at, and what a limit leaves out. Default: nothing
   * is counted.
   */
  places(counts?: SampleCounters): ReadonlyMap<string, () => Sampler> | ReadFailure
  /** Why there is none: the end of a sentence. */
  nothing(): string
  close(): void
}

/**
 * A source that reads files of the kernel faster than it reports: samples stay in rings of the host, where rules watch
 * them. What there is to sample is looked for at each report, and at once where nothing can be read.
 */
export class FastSamples implements NodeSource {
  readonly #set: SamplerSet
  readonly #counts: SampleCounters
  readonly #samplers = new Map<string, Sampler>()
  readonly #duties: readonly Duty[]
  #isFollowed = false
  #failure: Error | undefined

  /** @param sampleMs Between two samples of each. */
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
    // What was there is not: it is looked for again.
    this.#isFollowed = false
    throw this.#failure ?? new SondeError('SRC_READ', this.#set.nothing())
  }

  #report(): void {
    this.#follow()
    for (const sampler of this.#samplers.values()) sampler.report()
  }

  /** Follows what there is to sample, as it comes and leaves. */
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
