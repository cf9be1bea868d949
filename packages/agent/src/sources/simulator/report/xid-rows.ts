import { ownGpuLabels } from '../../nvml/labels.ts'
import { nvmlXidType } from '../../nvml/type.ts'
import type { SourceContext } from '../../source.ts'
import type { GpuPlace } from '../classes/node-class.ts'
import { JOB_ENDED, jobsEnded } from '../observe/gpu-reader.ts'
import type { Simulation } from '../simulation.ts'
import { gpuLabels } from './nvml-gpu-info.ts'
import { ReportRows } from './report-rows.ts'

/** Records of XID errors by number; a GPU has a record for each number that it has reported. */
export class XidRows {
  readonly #simulation: Simulation
  readonly #rows: ReportRows<number>
  readonly #of: readonly { readonly gpu: GpuPlace; readonly xid: number }[]

  constructor(simulation: Simulation, context: SourceContext) {
    const { node, events, seed } = simulation
    this.#simulation = simulation
    this.#of = node.gpus.flatMap((gpu) => {
      return [...new Set([JOB_ENDED, ...events.xidsOf(gpu.index)])].map((xid) => ({ gpu, xid }))
    })
    const facts = this.#of.map(({ gpu, xid }) => ({ labels: { ...ownGpuLabels(gpuLabels(seed, gpu)), xid } }))
    this.#rows = new ReportRows(context, nvmlXidType, { events_total: (told: number) => told }, facts)
  }

  /** Reports the errors up to `t`. */
  sample(time: bigint, t: number): void {
    this.#of.forEach(({ gpu, xid }, row) => {
      const ended = xid === JOB_ENDED ? jobsEnded(gpu) : 0
      const told = ended + this.#simulation.events.ofGpu(gpu.index, 'xid', t, xid)
      this.#rows.write(row, told)
      if (told === 0) this.#rows.skip(row)
    })
    this.#rows.report(time)
  }
}
