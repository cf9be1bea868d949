import { wallNs } from '@sonde/sdk'
import { AttributeReader } from '../attribute-reader.ts'
import type { Sampler } from '../fast-samples/fast-samples.ts'
import { SampledSeries } from '../fast-samples/sampled-series.ts'
import { FieldAbsences } from '../field-absences.ts'
import { parsePressure } from '../host/parse.ts'
import { explainPressure } from '../host/pressure.ts'
import type { KernelFile, KernelFiles } from '../kernel-file.ts'
import type { SourceContext } from '../source.ts'
import { hostPressureSampleType, hostPressureSamplingType } from './type.ts'

/** Samples the pressure of one resource. No sample is a repeat, because the kernel updates its sums at each read. */
export class ResourceSampler implements Sampler {
  readonly #resource: string
  readonly #context: SourceContext
  readonly #series: SampledSeries<typeof hostPressureSampleType>
  readonly #attributes: AttributeReader
  readonly #file: KernelFile
  #isReported = false

  /** @throws SondeError `AGT_TAP` if the rings of the source exceed their limit. */
  constructor(resource: string, ringSamples: number, procfs: KernelFiles, context: SourceContext) {
    this.#resource = resource
    this.#context = context
    this.#series = new SampledSeries(hostPressureSampleType, { resource }, ringSamples, context)
    const absences = new FieldAbsences(context.absences, hostPressureSampleType, { resource })
    this.#attributes = new AttributeReader(context, absences, explainPressure)
    this.#file = procfs.file('pressure', resource)
  }

  sample(): boolean {
    const monoNs = process.hrtime.bigint()
    const found = this.#attributes.read('', this.#file, (bytes) => {
      const parsed = parsePressure(bytes)
      return typeof parsed === 'string' ? undefined : parsed
    })
    if (found === undefined) return false
    this.#attributes.absences.tell(found, `${this.#file.path} does not say`)
    const { record } = this.#series
    record.waiting_seconds_total = found.waiting_seconds_total
    record.stalled_seconds_total = found.stalled_seconds_total
    this.#series.put(monoNs)
    return true
  }

  report(): void {
    // The first sample of a new resource is taken now.
    if (this.#series.samples === 0 && !this.sample()) return
    const { samples } = this.#series.takeCounts()
    this.#context.source.report(hostPressureSamplingType, { time: wallNs(), resource: this.#resource, samples })
    this.#isReported = true
  }

  forget(reason: string): void {
    this.#attributes.absences.forget()
    this.#series.forget(reason)
    if (this.#isReported) this.#context.absences.gone(hostPressureSamplingType, { resource: this.#resource }, reason)
  }

  close(): void {
    this.#file.close()
  }
}
