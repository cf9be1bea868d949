import { nvmlXidType } from '../../nvml/type.ts'
import type { SourceContext } from '../../source.ts'
import type { GpuPlace } from '../classes/node-class.ts'
import { jobsEnded } from '../observe/gpu-reader.ts'
import type { Simulation } from '../simulation.ts'
import { whole } from './column.ts'
import { gpuLabels } from './gpu-facts.ts'
import { Rows } from './rows.ts'

/** The XID of a job that was ended: no fault, and on most nodes there already. */
const JOB_ENDED = 45

/** Records of XID errors by number: of each GPU those that it has told. */
export class XidRows {
  readonly #simulation: Simulation
  readonly #rows: Rows
  readonly #of: readonly { readonly gpu: GpuPlace; readonly xid: number }[]
  readonly #one = new Float64Array(1)

  constructor(simulation: Simulation, context: SourceContext) {
    const { node, events, seed } = simulation
    this.#simulation = simulation
    this.#of = node.gpus.flatMap((gpu) => {
      return [...new Set([JOB_ENDED, ...events.xidsOf(gpu.index)])].map((xid) => ({ gpu, xid }))
    })
    const facts = this.#of.map(({ gpu, xid }) => ({ labels: { ...gpuLabels(seed, gpu), xid } }))
    this.#rows = new Rows(context, nvmlXidType, { events_total: whole(0) }, facts)
  }

  /** Reports what was told up to `t`. */
  sample(time: bigint, t: number): void {
    this.#of.forEach(({ gpu, xid }, row) => {
      const told = this.#simulation.events.ofGpu(gpu.index, 'xid', t, xid)
      this.#one[0] = told + (xid === JOB_ENDED ? jobsEnded(gpu) : 0)
      this.#rows.write(row, this.#one)
      if (this.#one[0] === 0) this.#rows.skip(row)
    })
    this.#rows.report(time)
  }
}
