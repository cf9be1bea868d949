import { wallNs } from '@sonde/sdk'
import type { Sampler } from '../fast-samples/fast-samples.ts'
import { SampledSeries } from '../fast-samples/sampled-series.ts'
import type { PortField } from '../rdma/names.ts'
import { PortCounters, type PortCountersParts } from '../rdma-samples/port-counters.ts'
import type { PortPlace } from '../rdma-samples/port-files.ts'
import type { SourceContext } from '../source.ts'
import { rdmaPortSampleType, rdmaPortSamplingType } from './type.ts'

/** Samples the counters of one port in `counters`. No sample is a repeat, because each read asks the firmware. */
export class PortSampler implements Sampler {
  readonly #place: PortPlace
  readonly #context: SourceContext
  readonly #series: SampledSeries<typeof rdmaPortSampleType>
  readonly #counters: PortCounters<PortField>
  #isReported = false

  /** @throws SondeError `AGT_TAP` if the rings of the source exceed their limit. */
  constructor(place: PortPlace, ringSamples: number, parts: PortCountersParts<PortField>) {
    this.#place = place
    this.#context = parts.context
    this.#series = new SampledSeries(rdmaPortSampleType, { ...place }, ringSamples, parts.context)
    this.#counters = new PortCounters(place, rdmaPortSampleType, this.#series.record, parts)
  }

  scan(): void {
    this.#counters.scan()
  }

  sample(): boolean {
    const monoNs = process.hrtime.bigint()
    const { isAny } = this.#counters.read()
    if (isAny) this.#series.put(monoNs)
    return isAny
  }

  report(): void {
    // The first sample of a new port is taken now.
    if (this.#series.samples === 0 && !this.sample()) return
    const { samples } = this.#series.takeCounts()
    const { saturated } = this.#counters
    const { device: rdma_device, port } = this.#place
    this.#context.source.report(rdmaPortSamplingType, {
      ...{ time: wallNs(), rdma_device, port, samples },
      ...{ saturated_counters: saturated.length, saturated: saturated.join(' ') },
    })
    this.#isReported = true
  }

  forget(reason: string): void {
    this.#counters.forget()
    this.#series.forget(reason)
    const labels = { rdma_device: this.#place.device, port: String(this.#place.port) }
    if (this.#isReported) this.#context.absences.gone(rdmaPortSamplingType, labels, reason)
  }

  close(): void {
    this.#counters.close()
  }
}
