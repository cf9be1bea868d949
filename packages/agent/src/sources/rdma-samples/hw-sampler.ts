import { wallNs } from '@sonde/sdk'
import { AttributeReader } from '../attribute-reader.ts'
import type { Sampler } from '../fast-samples/fast-samples.ts'
import { SampledSeries } from '../fast-samples/sampled-series.ts'
import { FieldAbsences } from '../field-absences.ts'
import type { KernelFile } from '../kernel-file.ts'
import type { HwField } from '../rdma/names.ts'
import { parseLifespan } from '../rdma/parse.ts'
import type { SourceContext } from '../source.ts'
import { LIFESPAN_MS, Lifespan } from './lifespan.ts'
import { PortCounters, type PortCountersParts } from './port-counters.ts'
import { type PortPlace, pathOf } from './port-files.ts'
import { rdmaSampleType, rdmaSamplingType } from './type.ts'

/** Samples the counters of one port in `hw_counters`. The driver repeats their values for a lifespan. */
export class HwSampler implements Sampler {
  readonly #place: PortPlace
  readonly #context: SourceContext
  readonly #series: SampledSeries<typeof rdmaSampleType>
  readonly #counters: PortCounters<HwField>
  readonly #sampling: AttributeReader
  readonly #lifespanFile: KernelFile
  readonly #lifespan = new Lifespan()
  /** Lifespan that the driver reports. Unit: milliseconds. */
  #lifespanMs: number | undefined
  #isReported = false

  /** @throws SondeError `AGT_TAP` if the rings of the source exceed their limit. */
  constructor(place: PortPlace, ringSamples: number, parts: PortCountersParts<HwField>) {
    const { context, sysfs, folder } = parts
    this.#place = place
    this.#context = context
    this.#series = new SampledSeries(rdmaSampleType, { ...place }, ringSamples, context)
    this.#counters = new PortCounters(place, rdmaSampleType, this.#series.record, parts)
    const labels = { rdma_device: place.device, port: String(place.port) }
    this.#sampling = new AttributeReader(context, new FieldAbsences(context.absences, rdmaSamplingType, labels))
    this.#lifespanFile = sysfs.file(...pathOf(place), folder, 'lifespan')
  }

  /** Checks which counters exist, and the driver's lifespan. */
  scan(): void {
    this.#counters.scan()
    this.#lifespanMs = this.#sampling.read('lifespan_seconds', this.#lifespanFile, parseLifespan)
    this.#lifespan.ms = this.#lifespanMs ?? LIFESPAN_MS
  }

  sample(): boolean {
    const monoNs = process.hrtime.bigint()
    const { isAny, isChanged } = this.#counters.read()
    if (!isAny) {
      this.#lifespan.restart()
      return false
    }
    const isRepeat = this.#lifespan.isRepeat(monoNs, isChanged)
    this.#series.record.repeat = isRepeat ? 1 : 0
    this.#series.put(monoNs, isRepeat)
    return true
  }

  report(): void {
    // The first sample of a new port is taken now.
    if (this.#series.samples === 0 && !this.sample()) return
    const { device: rdma_device, port } = this.#place
    this.#context.source.report(rdmaSamplingType, {
      ...{ time: wallNs(), rdma_device, port, ...this.#series.takeCounts() },
      lifespan_seconds: this.#lifespanMs === undefined ? undefined : this.#lifespanMs / 1000,
    })
    this.#isReported = true
  }

  forget(reason: string): void {
    this.#counters.forget()
    this.#series.forget(reason)
    this.#sampling.absences.forget()
    const labels = { rdma_device: this.#place.device, port: String(this.#place.port) }
    if (this.#isReported) this.#context.absences.gone(rdmaSamplingType, labels, reason)
  }

  close(): void {
    this.#counters.close()
    this.#lifespanFile.close()
  }
}
