import { type RecordType, wallNs } from '@sonde/sdk'
import { DocaFailure } from '../../native/doca/failure.ts'
import type { PciCounters, PciLatency, PciLink, PciPort } from '../../native/doca/pci.ts'
import type { DocaReader } from '../doca/place.ts'
import { orMissing, StructureFields } from '../doca/structure-fields.ts'
import { FieldAbsences } from '../field-absences.ts'
import type { Duty, SourceContext } from '../source.ts'
import { COUNTER_FIELDS, LINK_FIELDS } from './fields.ts'
import { type LatencyTypes, latencyCounts, latencyEdges } from './latency-buckets.ts'
import { docaPciLatencyType, docaPciType } from './type.ts'

/** Parts of a {@link PciReader}. */
export interface PciParts {
  readonly device: string
  /** The place of the link, as the configuration names it. */
  readonly place: string
  readonly port: PciPort
  readonly types: LatencyTypes
}

/** Reads the PCIe link of one device in each interval. */
export class PciReader implements DocaReader {
  readonly #parts: PciParts
  readonly #context: SourceContext
  readonly #duties: readonly Duty[]
  readonly #absences: FieldAbsences
  readonly #latencyAbsences: FieldAbsences
  readonly #link: StructureFields<PciLink, keyof typeof LINK_FIELDS>
  readonly #counters: StructureFields<PciCounters, keyof typeof COUNTER_FIELDS>
  /** The type of the last histogram. */
  #latencyType: RecordType | undefined

  constructor(parts: PciParts, context: SourceContext) {
    const { device } = parts
    this.#parts = parts
    this.#context = context
    this.#absences = new FieldAbsences(context.absences, docaPciType, { rdma_device: device })
    this.#latencyAbsences = new FieldAbsences(context.absences, docaPciLatencyType, { rdma_device: device })
    this.#link = new StructureFields(LINK_FIELDS, this.#absences)
    this.#counters = new StructureFields(COUNTER_FIELDS, this.#absences)
    const everyUs = context.intervalMs * 1000
    this.#duties = [{ device, name: 'read', everyUs, paces: 'report', run: () => this.#read() }]
  }

  duties(): readonly Duty[] {
    return this.#duties
  }

  gone(reason: string): void {
    const labels = { rdma_device: this.#parts.device }
    const { absences } = this.#context
    absences.gone(this.#latencyType ?? docaPciLatencyType, labels, reason)
    absences.gone(docaPciType, labels, reason)
    this.#absences.forget()
    this.#latencyAbsences.forget()
  }

  async close(): Promise<void> {
    await this.#parts.port.close()
  }

  async #read(): Promise<void> {
    const { device, place, port } = this.#parts
    const link = await port.link()
    const counters = await port.counters()
    const latency = await port.latency()
    const time = wallNs()
    const answers = [link, counters, latency]
    const failed = answers.find((answer) => answer instanceof DocaFailure && answer.kind !== 'unsupported')
    if (failed instanceof DocaFailure) throw failed.error
    this.#context.source.report(docaPciType, {
      time,
      rdma_device: device,
      place,
      ...this.#link.take(orMissing(link)),
      ...this.#counters.take(orMissing(counters)),
    } as never)
    if (latency instanceof DocaFailure) this.#latencyAbsences.absent('', 'unsupported', latency.error.message)
    else this.#reportLatency(time, latency)
  }

  #reportLatency(time: bigint, latency: PciLatency): void {
    const { device, types } = this.#parts
    const type = types.of(latencyEdges(latency))
    if (this.#latencyType !== undefined && type !== this.#latencyType) {
      const reason = 'the device counts in other buckets now'
      this.#context.absences.gone(this.#latencyType, { rdma_device: device }, reason)
    }
    this.#latencyType = type
    this.#latencyAbsences.present('')
    const record = { time, rdma_device: device, seconds: latencyCounts(latency) }
    this.#context.source.report(type, record as never)
  }
}
