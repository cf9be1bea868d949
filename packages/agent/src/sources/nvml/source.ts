import { SondeError } from '@sonde/sdk'
import { NvmlFailure } from '../../native/nvml/failure.ts'
import type { NvmlLibrary } from '../../native/nvml/library.ts'
import { type GpuList, GpuRoster } from '../../native/nvml/roster.ts'
import { deviceFilter } from '../device-filter.ts'
import type { Duty, NodeSource, Probe, SourceContext } from '../source.ts'
import type { NvmlOptions } from './config.ts'
import { NvmlGpu } from './gpu.ts'
import { ProcessView } from './gpu-processes.ts'

/** Time between two listings of the GPUs. Unit: microseconds. */
const LIST_EVERY_US = 10_000_000

const NONE = 'the driver lists no requested GPU'

/** Reads GPUs with NVIDIA's management library, and follows the list of GPUs. */
export class NvmlSource implements NodeSource {
  readonly #options: NvmlOptions
  readonly #context: SourceContext
  readonly #roster: GpuRoster
  readonly #view: ProcessView
  readonly #isWanted: (name: string) => boolean
  /** By UUID. */
  readonly #gpus = new Map<string, NvmlGpu>()
  readonly #list: Duty
  #duties: readonly Duty[]

  constructor(options: NvmlOptions, context: SourceContext) {
    this.#options = options
    this.#context = context
    this.#isWanted = deviceFilter(options.devices)
    this.#view = new ProcessView(options, context)
    const { stuck_ms: limitMs } = options
    // Half the limit: the remaining GPUs are listed before the call for the list itself counts as stuck.
    this.#roster = new GpuRoster(context.library as NvmlLibrary, limitMs / 2)
    this.#list = {
      ...{ device: '', name: 'list', everyUs: LIST_EVERY_US, limitMs, limitKey: 'stuck_ms' },
      run: () => this.#follow(),
    }
    this.#duties = [this.#list]
  }

  async probe(): Promise<Probe> {
    const list = await this.#listed()
    if (list instanceof NvmlFailure) return { state: 'absent', reason: list.error.message }
    if (list.gpus.length > 0) return { state: 'present', found: namesOf(list.gpus) }
    const [silent] = list.silent
    if (silent !== undefined) return { state: 'failed', reason: silenceOf(silent).message }
    return { state: 'absent', reason: NONE }
  }

  found(): string {
    return namesOf(Array.from(this.#gpus.values(), ({ gpu }) => gpu))
  }

  duties(): readonly Duty[] {
    return this.#duties
  }

  /**
   * Takes the names of pods, by which the owners of processes are named.
   *
   * @throws SondeError `AGT_COMMAND` if the command is malformed.
   */
  command(command: unknown): object {
    this.#view.names.take(command)
    return {}
  }

  stuck(device: string, reason: string): void {
    for (const known of this.#gpus.values()) if (known.gpu.device === device) known.gone(reason)
  }

  close(): void {
    for (const known of this.#gpus.values()) known.close()
    this.#gpus.clear()
    this.#duties = [this.#list]
  }

  /** The GPUs that the configuration selects. Missing ones are reported. */
  async #listed(): Promise<GpuList | NvmlFailure> {
    const list = await this.#roster.list([...this.#gpus.values()].map(({ gpu }) => gpu))
    if (list instanceof NvmlFailure) return list
    for (const [index, { error }] of list.refused) this.#context.failed(`GPU ${index}`, error)
    for (const index of list.silent) this.#context.failed(`GPU ${index}`, silenceOf(index))
    return { ...list, gpus: list.gpus.filter(({ device }) => this.#isWanted(device)) }
  }

  /** Updates the list: new GPUs are read, and GPUs that left are reported as gone. */
  async #follow(): Promise<void> {
    const list = await this.#listed()
    if (list instanceof NvmlFailure) throw list.error
    const { gpus, refused, silent } = list
    const present = new Set(gpus.map(({ names }) => names.uuid))
    // A GPU that did not report its name this time may be one of the missing GPUs.
    const isWhole = silent.length === 0 && [...refused.values()].every(({ kind }) => kind === 'gone')
    const left = isWhole ? [...this.#gpus].filter(([uuid]) => !present.has(uuid)) : []
    const fresh = gpus.filter(({ names }) => !this.#gpus.has(names.uuid))
    for (const [uuid, known] of left) this.#leave(uuid, known, 'the GPU is no longer there')
    for (const handle of fresh) this.#gpus.set(handle.names.uuid, new NvmlGpu(handle, this.#context, this.#view))
    if (left.length + fresh.length > 0) this.#follows()
    if (this.#gpus.size > 0) return
    throw silent[0] === undefined ? new SondeError('SRC_READ', NONE) : silenceOf(silent[0])
  }

  #leave(uuid: string, known: NvmlGpu, reason: string): void {
    known.gone(reason)
    known.close()
    this.#gpus.delete(uuid)
  }

  #follows(): void {
    const { stuck_ms: limitMs } = this.#options
    const everyUs = this.#context.intervalMs * 1000
    const duties = [...this.#gpus.values()].flatMap((known): Duty[] => {
      const of = { device: known.gpu.device, everyUs, limitMs, limitKey: 'stuck_ms' }
      const processes: Duty = { ...of, name: 'processes', run: () => known.readProcesses() }
      return [{ ...of, name: 'read', paces: 'report', run: () => known.read() }, processes]
    })
    this.#duties = [...duties, this.#list]
  }
}

function namesOf(gpus: readonly { readonly device: string; readonly names: { readonly model: string } }[]): string {
  return gpus.map(({ device, names }) => `${device} ${names.model}`).join(', ')
}

function silenceOf(index: number): SondeError {
  return new SondeError('SRC_CALL', `GPU ${index}: the driver does not come back with its name`)
}
