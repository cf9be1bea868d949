import type { SampleCounters, Sampler, SamplerSet } from '../fast-samples/fast-samples.ts'
import { ATTRIBUTE_BYTES_LIMIT, KernelFiles, ReadFailure } from '../kernel-file.ts'
import { PciBus } from '../pci/bus.ts'
import { chooseDevices, glanceAt, type PciGlance } from '../pci/glance.ts'
import type { SourceContext } from '../source.ts'
import { inTurn } from '../turns.ts'
import type { PciSamplesOptions } from './config.ts'
import { DeviceSampler } from './device-sampler.ts'

/** A file is opened again regularly, because its device may have been replaced. */
const READS_PER_OPEN = 1024
/** Known devices that are checked again in each scan, in turn, because they may have been replaced. */
const AGAIN = 4
/** Files of a device that can be sampled. */
const FILES = ['current_link_speed', 'aer_dev_correctable']

/** The sampled PCI devices, and the bridges between them and the root. */
export class DeviceSamplers implements SamplerSet {
  readonly noun = 'device'
  readonly #options: PciSamplesOptions
  readonly #context: SourceContext
  readonly #sysfs: KernelFiles
  readonly #bus: PciBus
  readonly #ringSamples: number
  /** Listed devices that could be checked. Bounded by the address space of PCI. */
  readonly #glances = new Map<string, PciGlance>()
  #look = 0

  constructor(options: PciSamplesOptions, context: SourceContext) {
    this.#options = options
    this.#context = context
    this.#ringSamples = Math.ceil(options.ring_ms / options.sample_ms)
    const limits = { fileBytesLimit: ATTRIBUTE_BYTES_LIMIT, links: 'refuse', readsPerOpen: READS_PER_OPEN } as const
    this.#sysfs = new KernelFiles(context.paths.sysfs, limits)
    this.#bus = new PciBus(this.#sysfs)
  }

  places(counts?: SampleCounters): ReadonlyMap<string, () => Sampler> | ReadFailure {
    const addresses = this.#bus.addresses()
    if (addresses instanceof ReadFailure) return addresses
    const failure = this.#follow(addresses, counts)
    const sampled = [...this.#glances].filter(
      ([, { physicalFunction, names }]) => physicalFunction === '' && FILES.some((name) => names.has(name)),
    )
    const { chosen, leftOut } = chooseDevices(new Map(sampled), this.#options)
    if (leftOut > 0) counts?.dropped('device_limit', leftOut)
    if (chosen.length === 0 && failure !== undefined && failure.kind !== 'missing') return failure
    return new Map(chosen.map(({ place: { address } }) => [address, () => this.#samplerOf(address)]))
  }

  nothing(): string {
    return `no device of ${this.#bus.listing} is both wanted and has a link or counts errors`
  }

  close(): void {
    this.#sysfs.close()
  }

  /** Checks new devices and some of the others. Returns why a device could not be checked. */
  #follow(addresses: readonly string[], counts: SampleCounters | undefined): ReadFailure | undefined {
    const listed = new Set(addresses)
    for (const address of this.#glances.keys()) if (!listed.has(address)) this.#glances.delete(address)
    const again = inTurn([...this.#glances.keys()], AGAIN, ++this.#look)
    const fresh = addresses.filter((address) => !this.#glances.has(address))
    let failure: ReadFailure | undefined
    for (const address of [...fresh, ...again]) {
      const glance = glanceAt(address, this.#bus, this.#sysfs)
      if (!(glance instanceof ReadFailure)) {
        this.#glances.set(address, glance)
        continue
      }
      failure ??= glance
      counts?.failed(address, glance.error)
      // A device that is temporarily unreadable keeps its known properties.
      if (glance.kind === 'missing') this.#glances.delete(address)
    }
    return failure
  }

  #samplerOf(address: string): Sampler {
    const parts = { sysfs: this.#sysfs, context: this.#context, ringSamples: this.#ringSamples }
    return new DeviceSampler(address, () => this.#glances.get(address), parts)
  }
}
