import { SondeError } from '@sonde/sdk'
import { countOf } from '@sonde/sdk/internal'
import { deviceFilter } from '../device-filter.ts'
import { ATTRIBUTE_BYTES_LIMIT, KernelFiles, ReadFailure } from '../kernel-file.ts'
import { HW_COUNTERS } from '../rdma/names.ts'
import type { Duty, NodeSource, Probe, SourceContext } from '../source.ts'
import type { RdmaSamplesOptions } from './config.ts'
import { PortSampler, type PortSamplerParts } from './port-sampler.ts'

/** A file is opened anew now and then: its device may be another by now. */
const READS_PER_OPEN = 1024
const FOLDER = ['class', 'infiniband'] as const
const PORT = /^[1-9]\d{0,8}$/

/** A port by its place. */
interface Place {
  readonly device: string
  readonly port: number
}

/** Hardware counters of RDMA ports, sampled faster than they are reported: samples stay in rings of the host. */
export class RdmaSamples implements NodeSource {
  readonly #wanted: (device: string) => boolean
  readonly #parts: PortSamplerParts
  readonly #sysfs: KernelFiles
  readonly #ports = new Map<string, PortSampler>()
  readonly #duties: readonly Duty[]
  #isFollowed = false
  #failure: Error | undefined

  constructor({ devices, counters, sample_ms: sampleMs, ring_ms: ringMs }: RdmaSamplesOptions, context: SourceContext) {
    this.#wanted = deviceFilter(devices)
    const limits = { fileBytesLimit: ATTRIBUTE_BYTES_LIMIT, readsPerOpen: READS_PER_OPEN }
    this.#sysfs = new KernelFiles(context.paths.sysfs, limits)
    const ringSamples = Math.ceil(ringMs / sampleMs)
    this.#parts = { counters, sampleMs, ringSamples, sysfs: this.#sysfs, context }
    const [sampleUs, reportUs] = [sampleMs * 1000, context.intervalMs * 1000]
    this.#duties = [
      { device: '', name: 'sample', everyUs: sampleUs, paces: 'sample', run: () => this.#sample() },
      { device: '', name: 'report', everyUs: reportUs, paces: 'report', run: () => this.#report() },
    ]
  }

  probe(): Probe {
    const places = this.#places()
    if (places instanceof ReadFailure) return places.probe
    if (places.length > 0) return { state: 'present', found: countOf(places.length, 'port') }
    const folder = `${this.#sysfs.root}/${FOLDER.join('/')}`
    return { state: 'absent', reason: `no port of a wanted device of ${folder} has a hardware counter that is sampled` }
  }

  duties(): readonly Duty[] {
    return this.#duties
  }

  close(): void {
    this.#sysfs.close()
  }

  #sample(): void {
    if (!this.#isFollowed) this.#follow()
    let isAny = false
    for (const port of this.#ports.values()) isAny = port.sample() || isAny
    if (isAny) return
    // What was there is not: it is looked for again.
    this.#isFollowed = false
    throw this.#failure ?? new SondeError('SRC_READ', `no hardware counter below ${this.#sysfs.root} can be read`)
  }

  #report(): void {
    this.#follow()
    for (const port of this.#ports.values()) port.report()
  }

  /** Follows devices and their ports as they come and leave. */
  #follow(): void {
    this.#isFollowed = true
    const places = this.#places()
    this.#failure = places instanceof ReadFailure ? places.error : undefined
    const there = new Map(places instanceof ReadFailure ? [] : places.map((place) => [keyOf(place), place]))
    for (const [key, port] of this.#ports) {
      if (there.has(key)) continue
      port.forget(`port ${key} is no longer there`)
      this.#ports.delete(key)
    }
    for (const [key, { device, port }] of there) {
      const sampler = this.#ports.get(key) ?? new PortSampler(device, port, this.#parts)
      this.#ports.set(key, sampler)
      sampler.scan()
    }
  }

  /** Ports that have a counter which is sampled. */
  #places(): Place[] | ReadFailure {
    const listed = this.#sysfs.list(...FOLDER)
    if (listed instanceof ReadFailure) return listed
    const isSampled = (name: string) => HW_COUNTERS.has(name) && this.#parts.counters.includes(name)
    let failure: ReadFailure | undefined
    const namesIn = (...path: readonly string[]) => {
      const names = this.#sysfs.list(...FOLDER, ...path)
      if (!(names instanceof ReadFailure)) return names
      // That a driver has no such folder is the rule for many.
      if (names.kind !== 'missing') failure = names
      return []
    }
    const places = listed.filter(this.#wanted).flatMap((device) =>
      namesIn(device, 'ports')
        .filter((port) => PORT.test(port) && namesIn(device, 'ports', port, 'hw_counters').some(isSampled))
        .map((port) => ({ device, port: Number(port) })),
    )
    return places.length === 0 && failure !== undefined ? failure : places
  }
}

function keyOf({ device, port }: Place): string {
  return `${device}/${port}`
}
