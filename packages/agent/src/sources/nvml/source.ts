import { SondeError } from '@sonde/sdk'
import { NvmlFailure } from '../../native/nvml/failure.ts'
import { GpuHandle } from '../../native/nvml/gpu.ts'
import type { NvmlLibrary } from '../../native/nvml/library.ts'
import { deviceFilter } from '../device-filter.ts'
import type { Duty, NodeSource, Probe, SourceContext } from '../source.ts'
import type { NvmlOptions } from './config.ts'
import { NvmlGpu } from './gpu.ts'

/** GPUs are listed again so often. Unit: microseconds. */
const LIST_EVERY_US = 10_000_000
/** GPUs of one node at most. */
const GPUS_MAX = 256

/** GPUs by NVIDIA's management library: follows which there are, and reads each. */
export class NvmlSource implements NodeSource {
  readonly #options: NvmlOptions
  readonly #context: SourceContext
  readonly #library: NvmlLibrary
  readonly #isWanted: (name: string) => boolean
  /** By UUID. */
  readonly #gpus = new Map<string, NvmlGpu>()
  readonly #list: Duty
  #duties: readonly Duty[]

  constructor(options: NvmlOptions, context: SourceContext) {
    this.#options = options
    this.#context = context
    this.#library = context.library as NvmlLibrary
    this.#isWanted = deviceFilter(options.devices)
    const { stuck_ms: limitMs } = options
    this.#list = {
      ...{ device: '', name: 'list', everyUs: LIST_EVERY_US, limitMs, limitKey: 'stuck_ms' },
      run: () => this.#follow(),
    }
    this.#duties = [this.#list]
  }

  async probe(): Promise<Probe> {
    const handles = await this.#listed()
    if (handles instanceof NvmlFailure) return { state: 'absent', reason: handles.error.message }
    if (handles.length === 0) return { state: 'absent', reason: 'the driver lists no GPU that is wanted' }
    return { state: 'present', found: handles.map(({ device, names }) => `${device} ${names.model}`).join(', ') }
  }

  duties(): readonly Duty[] {
    return this.#duties
  }

  stuck(device: string, reason: string): void {
    for (const known of this.#gpus.values()) if (known.gpu.device === device) known.gone(reason)
  }

  close(): void {
    for (const known of this.#gpus.values()) known.close()
    this.#gpus.clear()
    this.#duties = [this.#list]
  }

  async #listed(): Promise<GpuHandle[] | NvmlFailure> {
    const count = await GpuHandle.count(this.#library)
    if (count instanceof NvmlFailure) return count
    const handles: GpuHandle[] = []
    const known = [...this.#gpus.values()].map(({ gpu }) => gpu)
    for (let index = 0; index < Math.min(count, GPUS_MAX); index++) {
      const handle = await GpuHandle.at(this.#library, index, known)
      if (handle instanceof NvmlFailure) this.#context.failed(`GPU ${index}`, handle.error)
      else if (this.#isWanted(handle.device)) handles.push(handle)
    }
    return handles
  }

  /** Follows the list: a new GPU is read, one that left is said to be gone. */
  async #follow(): Promise<void> {
    const handles = await this.#listed()
    if (handles instanceof NvmlFailure) throw handles.error
    const present = new Set(handles.map(({ names }) => names.uuid))
    const left = [...this.#gpus].filter(([uuid]) => !present.has(uuid))
    const fresh = handles.filter(({ names }) => !this.#gpus.has(names.uuid))
    for (const [uuid, known] of left) this.#leave(uuid, known, 'the GPU is no longer there')
    for (const handle of fresh) this.#gpus.set(handle.names.uuid, new NvmlGpu(handle, this.#context))
    if (left.length + fresh.length > 0) this.#follows()
    if (handles.length === 0) throw new SondeError('SRC_READ', 'the driver lists no GPU that is wanted')
  }

  #leave(uuid: string, known: NvmlGpu, reason: string): void {
    known.gone(reason)
    known.close()
    this.#gpus.delete(uuid)
  }

  #follows(): void {
    const { stuck_ms: limitMs } = this.#options
    const everyUs = this.#context.intervalMs * 1000
    const duties = [...this.#gpus].map(([, known]): Duty => {
      const { device } = known.gpu
      return { device, name: 'read', everyUs, paces: 'report', limitMs, limitKey: 'stuck_ms', run: () => known.read() }
    })
    this.#duties = [...duties, this.#list]
  }
}
