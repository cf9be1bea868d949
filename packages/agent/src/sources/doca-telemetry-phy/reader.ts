import { wallNs } from '@sonde/sdk'
import { DocaFailure } from '../../native/doca/failure.ts'
import type { LinkCounters, LinkState, ModuleState, PhyPort } from '../../native/doca/phy.ts'
import type { DocaReader } from '../doca/place.ts'
import { orMissing, StructureFields } from '../doca/structure-fields.ts'
import { FieldAbsences, Missing } from '../field-absences.ts'
import type { Duty, SourceContext } from '../source.ts'
import { COUNTER_FIELDS, LINK_FIELDS, MODULE_FIELDS } from './fields.ts'
import type { LinkErrors } from './link-errors.ts'
import { ModuleLaneRow } from './module-lane-row.ts'
import { docaPhyType } from './type.ts'

/** Time between two readings of the module, whose values change slowly. Unit: milliseconds. */
const MODULE_EVERY_MS = 10_000

/** Parts of a {@link PhyReader}. */
export interface PhyParts {
  readonly device: string
  /** A failure if the library or the device has no such calls. */
  readonly port: PhyPort | DocaFailure
  readonly links: LinkErrors
}

/** Reads the port of one device in each interval, and its module less often. */
export class PhyReader implements DocaReader {
  readonly #parts: PhyParts
  readonly #context: SourceContext
  readonly #duties: readonly Duty[]
  readonly #absences: FieldAbsences
  readonly #link: StructureFields<LinkState, keyof typeof LINK_FIELDS>
  readonly #counters: StructureFields<LinkCounters, keyof typeof COUNTER_FIELDS>
  readonly #moduleFields: StructureFields<ModuleState, keyof typeof MODULE_FIELDS>
  readonly #lanes: ModuleLaneRow[] = []
  #module: ModuleState | Missing = new Missing('not_sampled', 'the module has not been read yet')
  #moduleMs = Number.NEGATIVE_INFINITY

  constructor(parts: PhyParts, context: SourceContext) {
    const { device, port } = parts
    this.#parts = parts
    this.#context = context
    this.#absences = new FieldAbsences(context.absences, docaPhyType, { rdma_device: device })
    this.#link = new StructureFields(LINK_FIELDS, this.#absences)
    this.#counters = new StructureFields(COUNTER_FIELDS, this.#absences)
    this.#moduleFields = new StructureFields(MODULE_FIELDS, this.#absences)
    if (port instanceof DocaFailure) this.#absences.absent('', 'unsupported', port.error.message)
    const everyUs = context.intervalMs * 1000
    this.#duties = [{ device, name: 'read', everyUs, paces: 'report', run: () => this.#read() }]
  }

  duties(): readonly Duty[] {
    return this.#duties
  }

  gone(reason: string): void {
    const { device, links } = this.#parts
    for (const lane of this.#lanes.splice(0)) lane.gone(reason)
    links.gone(reason)
    this.#context.absences.gone(docaPhyType, { rdma_device: device }, reason)
    this.#absences.forget()
  }

  async close(): Promise<void> {
    const { port, links } = this.#parts
    links.close()
    if (!(port instanceof DocaFailure)) await port.close()
  }

  async #read(): Promise<void> {
    const { port, links } = this.#parts
    if (port instanceof DocaFailure) {
      await links.report(wallNs(), orMissing(port))
      return
    }
    const link = await port.link()
    const counters = await port.counters()
    await this.#readModule(port)
    const time = wallNs()
    await links.report(time, orMissing(counters))
    const failed = [link, counters].find((answer) => answer instanceof DocaFailure && answer.kind !== 'unsupported')
    if (failed instanceof DocaFailure) throw failed.error
    this.#report(time, orMissing(link), orMissing(counters))
  }

  async #readModule(port: PhyPort): Promise<void> {
    const nowMs = performance.now()
    if (nowMs - this.#moduleMs < MODULE_EVERY_MS) return
    const module = await port.module()
    this.#module = orMissing(module)
    this.#moduleMs = nowMs
    if (module instanceof DocaFailure && module.kind !== 'unsupported')
      this.#context.failed(this.#parts.device, module.error)
  }

  #report(time: bigint, link: LinkState | Missing, counters: LinkCounters | Missing): void {
    const { device } = this.#parts
    const module = this.#module
    const texts = module instanceof Missing ? { vendor: '', partNumber: '', serial: '' } : module
    this.#context.source.report(docaPhyType, {
      time,
      rdma_device: device,
      vendor: texts.vendor,
      part_number: texts.partNumber,
      serial: texts.serial,
      fec: link instanceof Missing ? '' : link.fec,
      ...this.#link.take(link),
      ...this.#counters.take(counters),
      ...this.#moduleFields.take(module),
    } as never)
    this.#reportLanes(time, counters, module)
  }

  /** A link has as many lanes as the counters say, or as the module says. */
  #reportLanes(time: bigint, counters: LinkCounters | Missing, module: ModuleState | Missing): void {
    const lanes = counters instanceof Missing ? module : counters
    const count = lanes instanceof Missing ? 0 : lanes.lanes.length
    for (const lane of this.#lanes.splice(count)) lane.gone('the link has fewer lanes now')
    while (this.#lanes.length < count)
      this.#lanes.push(new ModuleLaneRow(this.#parts.device, this.#lanes.length, this.#context))
    for (const row of this.#lanes) row.report(time, counters, module)
  }
}
