import { wallNs } from '@sonde/sdk'
import type { Sampler } from '../fast-samples/fast-samples.ts'
import { SampledSeries } from '../fast-samples/sampled-series.ts'
import type { KernelFiles } from '../kernel-file.ts'
import { PciAttributes } from '../pci/attributes.ts'
import type { PciGlance } from '../pci/glance.ts'
import { PciState, type PciStateField } from '../pci/state.ts'
import type { SourceContext } from '../source.ts'
import { pciSampleType, pciSamplingType } from './type.ts'

const FIELDS = pciSampleType.layout.slots.flatMap(({ name, field }) => (field.optional ? [name as PciStateField] : []))

/** Parts that all devices share. */
export interface DeviceSamplerParts {
  readonly sysfs: KernelFiles
  readonly context: SourceContext
  /** Capacity of the ring. */
  readonly ringSamples: number
}

/**
 * Samples link and errors of one device. No sample is a repeat, because the kernel asks the device or counts itself.
 */
export class DeviceSampler implements Sampler {
  readonly #address: string
  readonly #glance: () => PciGlance | undefined
  readonly #sysfs: KernelFiles
  readonly #context: SourceContext
  readonly #series: SampledSeries<typeof pciSampleType>
  readonly #state: PciState
  #attributes: PciAttributes | undefined
  #folder = ''
  #isReported = false

  /**
   * @param glance Returns the known properties of the device.
   * @throws SondeError `AGT_TAP` if the rings of the source exceed their limit.
   */
  constructor(address: string, glance: () => PciGlance | undefined, parts: DeviceSamplerParts) {
    const { sysfs, context, ringSamples } = parts
    this.#address = address
    this.#glance = glance
    this.#sysfs = sysfs
    this.#context = context
    this.#series = new SampledSeries(pciSampleType, { pci_address: address }, ringSamples, context)
    this.#state = new PciState(this.#series.record)
  }

  /** Checks which files the device has; it may be plugged in elsewhere now. */
  scan(): void {
    const glance = this.#glance()
    if (glance === undefined) return
    const folder = glance.place.folder.join('/')
    if (this.#attributes === undefined || folder !== this.#folder) {
      this.#attributes?.close()
      this.#attributes = new PciAttributes(glance.place, this.#sysfs, this.#context, pciSampleType)
      this.#folder = folder
    }
    this.#attributes.names = glance.names
  }

  sample(): boolean {
    const attributes = this.#attributes
    if (attributes === undefined) return false
    const monoNs = process.hrtime.bigint()
    this.#state.readLink(attributes)
    this.#state.readErrors(attributes, monoNs)
    const { record } = this.#series
    if (FIELDS.every((field) => record[field] === undefined)) return false
    this.#series.put(monoNs)
    return true
  }

  report(): void {
    // The first sample of a new device is taken now.
    if (this.#series.samples === 0 && !this.sample()) return
    const { samples } = this.#series.takeCounts()
    this.#context.source.report(pciSamplingType, { time: wallNs(), pci_address: this.#address, samples })
    this.#isReported = true
  }

  forget(reason: string): void {
    this.#attributes?.absences.forget()
    this.#series.forget(reason)
    if (this.#isReported) this.#context.absences.gone(pciSamplingType, { pci_address: this.#address }, reason)
  }

  close(): void {
    this.#attributes?.close()
  }
}
