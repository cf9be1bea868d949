import type { LinkCounters, ModuleLane, ModuleState } from '../../native/doca/phy.ts'
import { StructureFields } from '../doca/structure-fields.ts'
import { FieldAbsences, Missing } from '../field-absences.ts'
import type { SourceContext } from '../source.ts'
import { LANE_COUNTER_FIELDS, LANE_MODULE_FIELDS } from './fields.ts'
import { docaPhyLaneType } from './type.ts'

const NO_LANE = new Missing('unsupported', 'the module has fewer lanes')

/** The records of one lane of a link. */
export class ModuleLaneRow {
  readonly #device: string
  readonly #lane: number
  readonly #context: SourceContext
  readonly #counters: StructureFields<LinkCounters['lanes'][number], keyof typeof LANE_COUNTER_FIELDS>
  readonly #module: StructureFields<ModuleLane, keyof typeof LANE_MODULE_FIELDS>

  constructor(device: string, lane: number, context: SourceContext) {
    this.#device = device
    this.#lane = lane
    this.#context = context
    const absences = new FieldAbsences(context.absences, docaPhyLaneType, { rdma_device: device, lane: String(lane) })
    this.#counters = new StructureFields(LANE_COUNTER_FIELDS, absences)
    this.#module = new StructureFields(LANE_MODULE_FIELDS, absences)
  }

  report(time: bigint, counters: LinkCounters | Missing, module: ModuleState | Missing): void {
    this.#context.source.report(docaPhyLaneType, {
      time,
      rdma_device: this.#device,
      lane: this.#lane,
      ...this.#counters.take(laneOf(counters, this.#lane)),
      ...this.#module.take(laneOf(module, this.#lane)),
    } as never)
  }

  gone(reason: string): void {
    const labels = { rdma_device: this.#device, lane: String(this.#lane) }
    this.#context.absences.gone(docaPhyLaneType, labels, reason)
  }
}

function laneOf<L>(group: { readonly lanes: readonly L[] } | Missing, lane: number): L | Missing {
  return group instanceof Missing ? group : (group.lanes[lane] ?? NO_LANE)
}
