import { type Labels, wallNs } from '@sonde/sdk'
import { NvmlFailure } from '../../native/nvml/failure.ts'
import type { GpuHandle } from '../../native/nvml/gpu.ts'
import {
  isVgpuHost,
  type Vgpu,
  type VgpuKind,
  type VgpuUse,
  vgpuKind,
  vgpuMemoryUsed,
  vgpusOf,
  vgpuUse,
} from '../../native/nvml/vgpus.ts'
import { FieldAbsences, Missing } from '../field-absences.ts'
import { impossible } from '../ranges/quantities.ts'
import { rangesOf } from '../ranges/range-of.ts'
import type { SourceContext } from '../source.ts'
import { nvmlVgpuType } from './type.ts'

const NO_MANAGER = new Missing(
  'unsupported',
  "the driver gives no virtual GPUs to virtual machines: only NVIDIA's vGPU manager does",
)
const ENDED = 'the virtual GPU ended'
const NO_SAMPLE = new Missing(
  'not_sampled',
  'the driver has no sample of it since the last reading, or this is the first',
)
const RANGES = rangesOf(nvmlVgpuType)

/** The use of a GPU by its virtual GPUs, or why it is missing. */
type Uses = ReadonlyMap<number, VgpuUse> | Missing

/** Reads the virtual GPUs of one GPU in each interval, and follows their list. */
export class GpuVgpus {
  readonly #gpu: GpuHandle
  readonly #context: SourceContext
  readonly #labels: Labels
  readonly #absences: FieldAbsences
  /** Whether the driver is a vGPU manager. It is one from its start to its end. Undefined: it did not say so far. */
  #isHost: boolean | undefined
  /** By identity: numbers are used again for later ones. */
  readonly #vgpus = new Map<string, VgpuSeries>()
  #newestUs = 0n
  #isClosed = false

  /** @param labels Labels of metrics with names of Sonde. */
  constructor(gpu: GpuHandle, context: SourceContext, labels: Labels) {
    this.#gpu = gpu
    this.#context = context
    this.#labels = labels
    this.#absences = new FieldAbsences(context.absences, nvmlVgpuType, labels)
  }

  /** Reads all virtual GPUs. If one ended, its series end before those of its successor begin. */
  async read(): Promise<void> {
    this.#isHost ??= this.#askHost()
    if (this.#isHost !== true) return
    const vgpus = await vgpusOf(this.#gpu)
    const uses = this.#isClosed ? undefined : await this.#uses()
    if (this.#isClosed || uses === undefined) return
    if (vgpus instanceof NvmlFailure) {
      this.leave(vgpus.error.message)
      this.#context.failed(this.#gpu.device, vgpus.error)
      return
    }
    const listed = new Map(vgpus.map((vgpu) => [JSON.stringify(vgpu), vgpu]))
    for (const [key, series] of this.#vgpus) if (!listed.has(key)) this.#end(key, series, ENDED)
    const time = wallNs()
    for (const [key, vgpu] of listed) {
      const series = this.#vgpus.get(key) ?? new VgpuSeries(this.#gpu, this.#context, this.#labels, vgpu)
      this.#vgpus.set(key, series)
      series.report(time, uses)
    }
  }

  /** Series of all virtual GPUs leave the views. */
  leave(reason: string): void {
    for (const [key, series] of this.#vgpus) this.#end(key, series, reason)
  }

  /** A reading that is still open reports nothing more. */
  close(): void {
    this.#isClosed = true
  }

  #askHost(): boolean | undefined {
    const found = isVgpuHost(this.#gpu)
    if (found === true) {
      this.#absences.present('')
      return true
    }
    const { code, reason } = found === false ? NO_MANAGER : missing(found)
    this.#absences.absent('', code, reason)
    return found === false ? false : undefined
  }

  async #uses(): Promise<Uses> {
    const isFirst = this.#newestUs === 0n
    const found = await vgpuUse(this.#gpu, isFirst ? wallNs() / 1000n : this.#newestUs)
    if (found instanceof NvmlFailure) return missing(found)
    this.#newestUs = found.newestUs
    return isFirst ? NO_SAMPLE : found.uses
  }

  #end(key: string, series: VgpuSeries, reason: string): void {
    this.#vgpus.delete(key)
    series.end(reason)
  }
}

/** The series of one virtual GPU. */
class VgpuSeries {
  readonly #gpu: GpuHandle
  readonly #context: SourceContext
  readonly #vgpu: Vgpu
  readonly #kind: VgpuKind
  readonly #labels: Labels
  readonly #absences: FieldAbsences

  constructor(gpu: GpuHandle, context: SourceContext, labels: Labels, vgpu: Vgpu) {
    this.#gpu = gpu
    this.#context = context
    this.#vgpu = vgpu
    this.#kind = vgpuKind(gpu, vgpu.type)
    const { id, uuid, machine } = vgpu
    this.#labels = { ...labels, vgpu_id: String(id), vgpu_uuid: uuid, vgpu_type: this.#kind.name, vm_id: machine }
    this.#absences = new FieldAbsences(context.absences, nvmlVgpuType, this.#labels)
  }

  report(time: bigint, uses: Uses): void {
    const used = vgpuMemoryUsed(this.#gpu, this.#vgpu)
    const use = uses instanceof Missing ? uses : (uses.get(this.#vgpu.id) ?? NO_SAMPLE)
    const ratio = (part: keyof VgpuUse) => (use instanceof Missing ? use : use[part] / 100)
    const values: Record<string, number | bigint | NvmlFailure | Missing> = {
      memory_bytes: this.#kind.memoryBytes,
      memory_used_bytes: used,
      util_ratio: ratio('sm'),
      memory_util_ratio: ratio('memory'),
      encoder_util_ratio: ratio('encoder'),
      decoder_util_ratio: ratio('decoder'),
    }
    const record: Record<string, unknown> = { time, ...this.#labels, vgpu_id: this.#vgpu.id }
    for (const [name, found] of Object.entries(values)) {
      const value = this.#absences.settle(name, believed(name, found))
      if (value !== undefined) record[name] = value
    }
    this.#context.source.report(nvmlVgpuType, record as never)
  }

  end(reason: string): void {
    this.#context.absences.gone(nvmlVgpuType, this.#labels, reason)
  }
}

/** A value, or why it is missing. */
function believed(name: string, found: number | bigint | NvmlFailure | Missing): number | bigint | Missing {
  if (found instanceof NvmlFailure) return missing(found)
  if (found instanceof Missing) return found
  const range = RANGES.get(name)
  return (range && impossible(range.quantity, found)) ?? found
}

function missing({ kind, error }: NvmlFailure): Missing {
  return new Missing(kind, error.message)
}
