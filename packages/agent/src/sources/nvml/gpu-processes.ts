import { wallNs } from '@sonde/sdk'
import { NvmlFailure } from '../../native/nvml/failure.ts'
import type { GpuHandle } from '../../native/nvml/gpu.ts'
import { processesOf, processUse } from '../../native/nvml/processes.ts'
import { Missing } from '../field-absences.ts'
import { podShareType } from '../pods/type.ts'
import { JobFiles } from '../processes/job-files.ts'
import { PodNames } from '../processes/pod-names.ts'
import { ProcFiles } from '../processes/proc-files.ts'
import { ProcessOwners } from '../processes/process-owners.ts'
import { ProcessRows, type ProcessUsage } from '../processes/process-rows.ts'
import { gpuProcessType } from '../processes/type.ts'
import { jobWorkload, VIA } from '../processes/workload.ts'
import type { SourceContext } from '../source.ts'
import type { NvmlOptions } from './config.ts'

const FIRST_READING = new Missing('not_sampled', 'it takes a second reading')
const NOT_ON_MIG = new Missing('unsupported', 'NVML has no utilisation of processes on a GPU that MIG has split')
const NOT_ASKED = 'process_owners is off'
const BLIND =
  'Sonde sees only the processes of its own PID namespace: in a pod, set hostPID: true; if the machine is a container ' +
  'itself, as with kind, set process_owners: always'

/** What the processes of all GPUs have in common: procfs, the names of pods, and the files of jobs. */
export class ProcessView {
  readonly files: ProcFiles
  readonly names: PodNames
  readonly jobs: JobFiles
  readonly #mode: NvmlOptions['process_owners']
  readonly #absences: SourceContext['absences']

  constructor({ process_owners, log_folder, job_folder }: NvmlOptions, { paths, absences }: SourceContext) {
    this.files = new ProcFiles(paths.procfs)
    this.names = new PodNames(log_folder, () => performance.now())
    this.jobs = new JobFiles(job_folder)
    this.#mode = process_owners
    this.#absences = absences
  }

  /** Whether pids of the driver lead to processes. Reports the reason if not. */
  async isClear(): Promise<boolean> {
    const isOff = this.#mode === 'off'
    const isClear = !isOff && (this.#mode === 'always' || (await this.files.seesAll()) !== false)
    for (const type of [gpuProcessType, podShareType]) {
      if (isClear) this.#absences.clear(type, undefined, '')
      else this.#absences.set(type, undefined, '', isOff ? 'not_sampled' : 'denied', isOff ? NOT_ASKED : BLIND)
    }
    return isClear
  }
}

/** A MIG instance of a GPU. */
export interface GpuInstance {
  /** Handle of NVML. */
  readonly handle: bigint
  /** Id of the instance in its GPU. */
  readonly id: string
}

/** Reads the processes of one GPU and their owners in each interval. */
export class GpuProcesses {
  readonly #gpu: GpuHandle
  readonly #view: ProcessView
  readonly #owners: ProcessOwners
  readonly #rows: ProcessRows
  #newestUs = 0n
  #isClosed = false

  constructor(gpu: GpuHandle, context: SourceContext, view: ProcessView) {
    this.#gpu = gpu
    this.#view = view
    this.#owners = new ProcessOwners(view.files, view.names)
    this.#rows = new ProcessRows(context, gpu.names.uuid)
  }

  /**
   * @param instances The MIG instances of the GPU. Default: it has none.
   * @throws SondeError if the driver refuses.
   */
  async read(instances: readonly GpuInstance[] = []): Promise<void> {
    const usages = (await this.#view.isClear()) ? await this.#usages(instances) : []
    if (usages instanceof NvmlFailure) {
      this.leave(usages.error.message)
      throw usages.error
    }
    const jobs = await this.#view.jobs.jobsOf(this.#gpu.names.index)
    if (this.#isClosed) return
    const held = jobs.map(({ job, instance }) => ({ workload: jobWorkload(job, VIA.jobFiles), instance }))
    this.#rows.report(usages, held, wallNs())
  }

  async #usages(instances: readonly GpuInstance[]): Promise<ProcessUsage[] | NvmlFailure> {
    const listedTicks = await this.#view.files.nowTicks()
    const devices = instances.length === 0 ? [{ handle: this.#gpu.handle, id: '' }] : instances
    const listed: Omit<ProcessUsage, 'name' | 'workload' | 'util'>[] = []
    for (const { handle, id } of devices) {
      const found = await processesOf(this.#gpu, handle)
      if (found instanceof NvmlFailure) return found
      for (const { pid, memoryBytes } of found) listed.push({ pid, memoryBytes, instance: id })
    }
    const utilOf = instances.length === 0 ? await this.#utilOf() : () => NOT_ON_MIG
    const owners = await this.#owners.find([...new Set(listed.map(({ pid }) => pid))], listedTicks)
    return listed.flatMap((process): ProcessUsage[] => {
      const owned = owners.get(process.pid)
      return owned === undefined ? [] : [{ ...process, ...owned, util: utilOf(process.pid) }]
    })
  }

  /** Series of its processes leave the views. */
  leave(reason: string): void {
    this.#rows.leave(reason)
  }

  /** A reading that is still open reports nothing more. */
  close(): void {
    this.#isClosed = true
  }

  async #utilOf(): Promise<(pid: number) => number | Missing> {
    const isFirst = this.#newestUs === 0n
    const sinceUs = isFirst ? wallNs() / 1000n : this.#newestUs
    const use = await processUse(this.#gpu, sinceUs)
    if (use instanceof NvmlFailure) return () => new Missing(use.kind, use.error.message)
    this.#newestUs = use.newestUs
    if (isFirst) return () => FIRST_READING
    return (pid) => (use.smPercent.get(pid) ?? 0) / 100
  }
}
