import { hostname } from 'node:os'
import { type RecordType, wallNs } from '@sonde/sdk'
import { NvmlFailure } from '../../native/nvml/failure.ts'
import { GpmSampler } from '../../native/nvml/gpm.ts'
import type { GpuHandle } from '../../native/nvml/gpu.ts'
import { NO_DATA } from '../../native/nvml/layout.ts'
import { XidEvents } from '../../native/nvml/xid-events.ts'
import { FieldAbsences, Missing } from '../field-absences.ts'
import { beyondLink } from '../ranges/pcie-throughput.ts'
import { impossible } from '../ranges/quantities.ts'
import { type RangedField, rangesOf } from '../ranges/range-of.ts'
import type { SourceContext } from '../source.ts'
import { type FieldReading, GPM_APART_MS, GPM_IDS, readGpu } from './fields.ts'
import { GpuFabric } from './gpu-fabric.ts'
import { GpuInstances } from './gpu-instances.ts'
import { GpuProcesses, type ProcessView } from './gpu-processes.ts'
import { GpuVgpus } from './gpu-vgpus.ts'
import { type GpuInfo, infoOf } from './info.ts'
import { ownGpuLabels } from './labels.ts'
import { nvmlGpuInfoType, nvmlGpuType, nvmlProfileType, nvmlXidType } from './type.ts'

const KIB_PER_MIB = 1024
const NOT_READ = 'it takes a second reading, or is not asked for yet'
const NO_GPM = 'the GPU is older than Hopper, or MIG has split it: dcgm-exporter can profile it'
const NO_LICENCE = new Missing('unsupported', 'NVML is not asked for licences: dcgm-exporter reports it')
const GPM_FIELDS = Object.entries(GPM_IDS)
const PCIE_FIELDS = ['pcie_tx_bytes', 'pcie_rx_bytes']

/** Reads one GPU in each interval. */
export class NvmlGpu {
  readonly gpu: GpuHandle
  readonly #context: SourceContext
  /** Labels of metrics with names of DCGM. */
  readonly #labels: Readonly<Record<string, string>>
  /** Labels of metrics with names of Sonde. */
  readonly #ownLabels: Readonly<Record<string, string>>
  readonly #info: GpuInfo
  readonly #gpm: GpmSampler | NvmlFailure | undefined
  readonly #events: XidEvents | NvmlFailure
  readonly #xids = new Map<number, bigint>()
  readonly #absences = new Map<RecordType, FieldAbsences>()
  readonly #processes: GpuProcesses
  readonly #instances: GpuInstances
  readonly #fabric: GpuFabric
  readonly #vgpus: GpuVgpus
  /** Whether its series have left the views. */
  #isGone = false
  #isClosed = false
  /** Number of the last XID error. */
  #lastXid = 0
  #gpmMs = Number.NEGATIVE_INFINITY
  #links: { readonly kib: bigint; readonly ms: number } | undefined

  constructor(gpu: GpuHandle, context: SourceContext, view: ProcessView) {
    const { index, uuid, pciBusId, model, minor } = gpu.names
    this.gpu = gpu
    this.#context = context
    const labels = {
      gpu: String(index),
      UUID: uuid,
      device: minor === undefined ? '' : `nvidia${minor}`,
      modelName: model,
      Hostname: hostname(),
      pci_bus_id: pciBusId,
    }
    this.#labels = labels
    this.#ownLabels = ownGpuLabels(labels)
    this.#info = infoOf(gpu)
    const ids = GPM_FIELDS.map(([, [id]]) => id)
    this.#gpm = GpmSampler.open(gpu, ids)
    this.#events = XidEvents.open(gpu)
    this.#processes = new GpuProcesses(gpu, context, view)
    const memoryBytes = this.#info.values.memory_bytes
    const totalBytes = typeof memoryBytes === 'bigint' ? Number(memoryBytes) : undefined
    this.#instances = new GpuInstances(gpu, context, { labels, ownLabels: this.#ownLabels }, totalBytes)
    this.#fabric = new GpuFabric(gpu, context, this.#ownLabels)
    this.#vgpus = new GpuVgpus(gpu, context, this.#ownLabels)
  }

  /** @throws SondeError if the GPU does not answer. */
  async read(): Promise<void> {
    const read = await readGpu(this.gpu)
    // The GPU may leave the list during a call. After that, no call may use its handle.
    if (this.#isClosed) return
    if (read instanceof NvmlFailure) {
      if (read.kind === 'gone') this.gone(read.error.message)
      throw read.error
    }
    this.#isGone = false
    const time = wallNs()
    const { values } = read
    this.#takeXids(time)
    values.xid_errors = this.#events instanceof NvmlFailure ? this.#events : this.#lastXid
    const bandwidth = this.#bandwidth(read.linkKib)
    if (bandwidth !== undefined) values.nvlink_bandwidth_total = bandwidth
    this.#report(nvmlGpuType, time, {}, { ...values, vgpu_license_status: NO_LICENCE })
    this.#report(nvmlGpuInfoType, time, this.#info.texts, this.#info.values)
    this.#sample(time)
    this.#fabric.read(time)
    if (values.mig_mode === 1) this.#instances.read(time)
    else this.#instances.leave('MIG is off')
    await this.#vgpus.read()
  }

  /**
   * Reads its processes and their owners.
   *
   * @throws SondeError if the driver refuses.
   */
  async readProcesses(): Promise<void> {
    if (!this.#isGone && !this.#isClosed) await this.#processes.read(this.#instances.present)
  }

  /** Removes its series from the views. Repeated calls have no effect. */
  gone(reason: string): void {
    // A call that was stuck may have reported these series since the GPU was reported as gone.
    this.#processes.leave(reason)
    this.#vgpus.leave(reason)
    if (this.#isGone) return
    this.#isGone = true
    this.#instances.leave(reason)
    this.#fabric.leave(reason)
    const { absences } = this.#context
    for (const type of [nvmlGpuType, nvmlGpuInfoType, nvmlProfileType]) {
      this.#absencesOf(type).forget()
      absences.gone(type, this.#labelsOf(type), reason)
    }
    for (const xid of this.#xids.keys()) absences.gone(nvmlXidType, { ...this.#ownLabels, xid: String(xid) }, reason)
  }

  close(): void {
    this.#isClosed = true
    this.#processes.close()
    this.#instances.close()
    this.#vgpus.close()
    if (this.#gpm instanceof GpmSampler) this.#gpm.close()
    if (this.#events instanceof XidEvents) this.#events.close()
  }

  #takeXids(time: bigint): void {
    if (this.#events instanceof NvmlFailure) return
    for (const xid of this.#events.take()) {
      this.#lastXid = xid
      this.#xids.set(xid, (this.#xids.get(xid) ?? 0n) + 1n)
    }
    for (const [xid, events_total] of this.#xids)
      this.#context.source.report(nvmlXidType, { time, ...this.#ownLabels, xid, events_total } as never)
  }

  /** Throughput of all links since the previous reading, in MiB per second; undefined at the first reading. */
  #bandwidth(kib: bigint | NvmlFailure): FieldReading | undefined {
    if (kib instanceof NvmlFailure) return kib
    const now = { kib, ms: performance.now() }
    const before = this.#links
    this.#links = now
    if (before === undefined || now.kib < before.kib || now.ms <= before.ms) return undefined
    return BigInt(Math.round(Number(now.kib - before.kib) / KIB_PER_MIB / ((now.ms - before.ms) / 1000)))
  }

  #sample(time: bigint): void {
    const gpm = this.#gpm
    if (!(gpm instanceof GpmSampler)) {
      const absences = this.#absencesOf(nvmlProfileType)
      absences.absent('', gpm?.kind ?? 'unsupported', gpm?.error.message ?? NO_GPM)
      return
    }
    if (performance.now() - this.#gpmMs < GPM_APART_MS) return
    const means = gpm.sample()
    // Taken after the call: on a busy machine the library may sample long after the call began.
    this.#gpmMs = performance.now()
    if (means === undefined) return
    if (means instanceof NvmlFailure) {
      this.#context.failed(this.gpu.device, means.error)
      return
    }
    const values: Record<string, FieldReading | Missing> = {}
    for (const [at, [name, [, factor]]] of GPM_FIELDS.entries()) {
      const mean = means[at] ?? Number.NaN
      values[name] = Number.isNaN(mean) ? new NvmlFailure(this.gpu.device, 'nvmlGpmMetricsGet', NO_DATA) : mean * factor
    }
    const { pcie_generation_max: generation, pcie_width_max_lanes: lanes } = this.#info.values
    for (const name of PCIE_FIELDS) {
      const found = values[name]
      if (typeof found === 'number') values[name] = beyondLink(found, known(generation), known(lanes)) ?? found
    }
    this.#report(nvmlProfileType, time, {}, values)
  }

  /** Reports the available values, and the reasons for the others. */
  #report(
    type: RecordType,
    time: bigint,
    texts: Readonly<Record<string, string>>,
    values: Readonly<Record<string, FieldReading | Missing>>,
  ): void {
    const absences = this.#absencesOf(type)
    const record: Record<string, unknown> = { time, ...this.#labelsOf(type), ...texts }
    const ranges = rangesOf(type)
    for (const { name, field } of type.layout.slots) {
      if (!field.optional) continue
      const found = absences.settle(name, lackOr(values[name], ranges.get(name)))
      if (found !== undefined) record[name] = typeof found === 'bigint' && field.kind !== 'u64' ? Number(found) : found
    }
    this.#context.source.report(type, record as never)
  }

  #labelsOf(type: RecordType): Readonly<Record<string, string>> {
    return type === nvmlGpuInfoType ? this.#ownLabels : this.#labels
  }

  #absencesOf(type: RecordType): FieldAbsences {
    let absences = this.#absences.get(type)
    if (absences === undefined) {
      absences = new FieldAbsences(this.#context.absences, type, this.#labelsOf(type))
      this.#absences.set(type, absences)
    }
    return absences
  }
}

/** A value, or why it is missing. Values of a library are always checked, its counters too. */
function lackOr(found: FieldReading | Missing | undefined, range: RangedField | undefined): number | bigint | Missing {
  if (found === undefined) return new Missing('not_sampled', NOT_READ)
  if (found instanceof Missing) return found
  if (found instanceof NvmlFailure) return new Missing(found.kind, found.error.message)
  return (range && impossible(range.quantity, found)) ?? found
}

function known(found: FieldReading | undefined): number | undefined {
  return typeof found === 'number' ? found : undefined
}
