import type { Labels } from '@sonde/sdk'
import { fabricOf } from '../../native/nvml/fabric.ts'
import { NvmlFailure } from '../../native/nvml/failure.ts'
import type { GpuHandle } from '../../native/nvml/gpu.ts'
import { FABRIC_CONDITIONS } from '../../native/nvml/layout.ts'
import { FieldAbsences, Missing } from '../field-absences.ts'
import type { SourceContext } from '../source.ts'
import { nvmlFabricType } from './type.ts'

const NO_FABRIC = 'the GPU belongs to no NVLink domain: only GPUs behind NVSwitches do'
const NOT_SAID = new Missing('unsupported', 'the driver does not say it for this GPU')
const NOT_COMPLETED = new Missing('not_sampled', 'the registration is not completed')

/** Reports the registration of one GPU with its NVLink domain. */
export class GpuFabric {
  readonly #gpu: GpuHandle
  readonly #context: SourceContext
  readonly #labels: Labels
  readonly #absences: FieldAbsences
  #isReported = false

  /** @param labels Labels of metrics with names of Sonde. */
  constructor(gpu: GpuHandle, context: SourceContext, labels: Labels) {
    this.#gpu = gpu
    this.#context = context
    this.#labels = labels
    this.#absences = new FieldAbsences(context.absences, nvmlFabricType, labels)
  }

  read(time: bigint): void {
    const found = fabricOf(this.#gpu)
    const isFailed = found instanceof NvmlFailure
    if (isFailed || found.state === 0) {
      this.leave('the driver does not report the registration any more')
      this.#absences.absent('', isFailed ? found.kind : 'unsupported', isFailed ? found.error.message : NO_FABRIC)
      return
    }
    this.#isReported = true
    this.#absences.present('')
    const { cluster, clique, state, status, conditions, summary } = found
    const values: Record<string, number | Missing> = {
      status: status ?? NOT_COMPLETED,
      summary: summary ?? NOT_SAID,
      ...Object.fromEntries(
        FABRIC_CONDITIONS.map((name) => {
          const isTrue = conditions.get(name)
          return [name, isTrue === undefined ? NOT_SAID : Number(isTrue)]
        }),
      ),
    }
    const record: Record<string, unknown> = { time, ...this.#labels, cluster, clique, state }
    for (const [name, value] of Object.entries(values)) {
      const settled = this.#absences.settle(name, value)
      if (settled !== undefined) record[name] = settled
    }
    this.#context.source.report(nvmlFabricType, record as never)
  }

  /** Its series leaves the views. */
  leave(reason: string): void {
    if (!this.#isReported) return
    this.#isReported = false
    this.#absences.forget()
    this.#context.absences.gone(nvmlFabricType, this.#labels, reason)
  }
}
