import { hostname } from 'node:os'
import type { Labels, RecordType } from '@sonde/sdk'
import { FieldAbsences, Missing } from '../field-absences.ts'
import { podDeviceType, podInfoType, podShareType } from '../pods/type.ts'
import type { SourceContext } from '../source.ts'
import type { OwnedProcess } from './process-owners.ts'
import { gpuProcessType } from './type.ts'
import { appOf, type Workload } from './workload.ts'

/** Processes of one GPU that are reported. Policy: further ones are dropped and counted as `process_limit`. */
const PROCESSES_MAX = 1024
const NO_MEMORY = new Missing('unsupported', 'the driver does not say how much memory the process uses')
/** Texts of records that only a device plugin or the API server knows. */
const NO_PLUGIN = { resource: '', device_id: '', doubt: '' }
const NO_LABELS = { app_label: '', service_label: '', phase: '', waiting: '', labels: '', uid: '' }
const ENDED = 'no process of it uses the GPU any more'

/** The use of a GPU or instance by one process. */
export interface ProcessUsage extends OwnedProcess {
  readonly pid: number
  /** Id of the MIG instance; empty for a whole GPU. */
  readonly instance: string
  /** Unit: bytes; undefined if the driver does not know it. */
  readonly memoryBytes: number | undefined
  /** Share of time in which its kernels ran. Range: 0 to 1. */
  readonly util: number | Missing
}

/** A device that a workload holds, as something else than its processes says. */
export interface HeldDevice {
  readonly workload: Workload
  /** Id of the MIG instance; empty for a whole GPU. */
  readonly instance: string
}

interface Row {
  readonly type: RecordType
  readonly labels: Labels
  readonly absences: FieldAbsences
}

/** Reports the processes of one GPU, the use by their owners, and the end of both. */
export class ProcessRows {
  readonly #context: SourceContext
  readonly #uuid: string
  #rows: ReadonlyMap<string, Row> = new Map()
  #next = new Map<string, Row>()

  /** @param uuid UUID of the GPU. */
  constructor(context: SourceContext, uuid: string) {
    this.#context = context
    this.#uuid = uuid
  }

  /** Number of series that are reported now. */
  get count(): number {
    return this.#rows.size
  }

  /** Reports all processes of a reading, and further owners, whose use is unknown. */
  report(usages: readonly ProcessUsage[], held: readonly HeldDevice[], time: bigint): void {
    this.#next = new Map()
    const reported = usages.slice(0, PROCESSES_MAX)
    if (usages.length > reported.length) this.#context.dropped('process_limit', usages.length - reported.length)
    for (const usage of reported) this.#process(usage, time)
    const keyOf = ({ workload, instance }: ProcessUsage) =>
      JSON.stringify([workload?.namespace, workload?.pod, workload?.container, instance])
    for (const [first, ...others] of Map.groupBy(reported, keyOf).values())
      if (first?.workload !== undefined) this.#workload(first.workload, [first, ...others], time)
    for (const { workload, instance } of held) this.#device(workload, instance, time)
    this.#finish(ENDED)
  }

  /** Nobody knows the processes any more: their series leave the views. */
  leave(reason: string): void {
    this.#next = new Map()
    this.#finish(reason)
  }

  #process({ pid, name, workload, instance, memoryBytes, util }: ProcessUsage, time: bigint): void {
    const labels = { ...this.#labels(workload, instance), pid }
    const { absences } = this.#row(gpuProcessType, { ...labels, pid: String(pid) })
    const share = absences.settle('util_ratio', util)
    const memory = absences.settle('memory_used_bytes', memoryBytes ?? NO_MEMORY)
    this.#context.source.report(gpuProcessType, { time, ...labels, process: name, ...present(share, memory) })
  }

  #workload(workload: Workload, usages: readonly ProcessUsage[], time: bigint): void {
    const [{ instance } = { instance: '' }] = usages
    this.#device(workload, instance, time)
    const labels = this.#labels(workload, instance)
    const { absences } = this.#row(podShareType, labels)
    const share = absences.settle('util_ratio', sumOf(usages.map(({ util }) => util)))
    const memory = absences.settle(
      'memory_used_bytes',
      sumOf(usages.map(({ memoryBytes }) => memoryBytes ?? NO_MEMORY)),
    )
    // Samples of several processes overlap a little.
    const util = share === undefined ? undefined : Math.min(1, share)
    this.#context.source.report(podShareType, { time, ...labels, ...present(util, memory) })
  }

  /** Reports that a workload holds a device, once in a reading. */
  #device(workload: Workload, instance: string, time: bigint): void {
    const labels = this.#labels(workload, instance)
    const { namespace, pod, via } = workload
    const { source } = this.#context
    if (this.#next.has(keyOf(podDeviceType, labels))) return
    this.#row(podDeviceType, labels)
    source.report(podDeviceType, { time, ...labels, via, ...NO_PLUGIN, present: 1 })
    const info = { namespace, pod }
    if (this.#next.has(keyOf(podInfoType, info))) return
    this.#row(podInfoType, info)
    const texts = { app: appOf(workload), service: '', node_name: hostname(), via, ...NO_LABELS }
    source.report(podInfoType, { time, ...info, ...texts })
  }

  #labels(workload: Workload | undefined, instance: string) {
    const { namespace = '', pod = '', container = '' } = workload ?? {}
    return { namespace, pod, container, UUID: this.#uuid, GPU_I_ID: instance, Hostname: hostname() }
  }

  #row(type: RecordType, labels: Labels): Row {
    const key = keyOf(type, labels)
    const row = this.#rows.get(key) ?? {
      type,
      labels,
      absences: new FieldAbsences(this.#context.absences, type, labels),
    }
    this.#next.set(key, row)
    return row
  }

  #finish(reason: string): void {
    const before = this.#rows
    this.#rows = this.#next
    for (const [key, { type, labels }] of before)
      if (!this.#rows.has(key)) this.#context.absences.gone(type, labels, reason)
  }
}

function keyOf({ name }: RecordType, labels: Labels): string {
  return `${name} ${JSON.stringify(Object.values(labels))}`
}

function present(util_ratio: number | undefined, memory_used_bytes: number | undefined) {
  return {
    ...(util_ratio === undefined ? {} : { util_ratio }),
    ...(memory_used_bytes === undefined ? {} : { memory_used_bytes }),
  }
}

/** The sum; missing if a part is missing. */
function sumOf(parts: readonly (number | Missing)[]): number | Missing {
  let sum = 0
  for (const part of parts) {
    if (part instanceof Missing) return part
    sum += part
  }
  return sum
}
