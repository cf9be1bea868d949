import type { Labels } from '@sonde/sdk'
import { NvmlFailure } from '../../native/nvml/failure.ts'
import { GpmSampler } from '../../native/nvml/gpm.ts'
import type { GpuHandle } from '../../native/nvml/gpu.ts'
import { NO_DATA } from '../../native/nvml/layout.ts'
import { type MigDevice, migDevicesOf, migMemory } from '../../native/nvml/mig.ts'
import { FieldAbsences, Missing } from '../field-absences.ts'
import type { SourceContext } from '../source.ts'
import { GPM_APART_MS, GPM_IDS } from './fields.ts'
import type { GpuInstance } from './gpu-processes.ts'
import { nvmlMigInfoType, nvmlMigType } from './type.ts'

const BYTES_PER_MIB = 1_048_576n
const GONE = 'the MIG instance was destroyed'
const NO_GPM = new Missing('unsupported', 'the GPU is older than Hopper: dcgm-exporter can profile its instances')
const FIRST_SAMPLE = new Missing('not_sampled', 'it takes a second sample')
const FIELDS = nvmlMigType.layout.slots.filter(({ field }) => field.optional).map(({ name }) => name)
/** The profiling values that an instance has. */
const GPM_FIELDS = Object.entries(GPM_IDS).filter(([name]) => FIELDS.includes(name))

/** The labels of a GPU, under the names of DCGM and of Sonde. */
export interface GpuLabelSets {
  readonly labels: Labels
  readonly ownLabels: Labels
}

/** Reads the MIG instances of one GPU in each interval, and follows their list. */
export class GpuInstances {
  readonly #gpu: GpuHandle
  readonly #context: SourceContext
  readonly #labels: GpuLabelSets
  readonly #memoryBytes: number | undefined
  /** By identity of the device: its ids are used again for later instances. */
  #instances = new Map<string, Instance>()

  /** @param memoryBytes Memory of the GPU. Unit: bytes; undefined: unknown. */
  constructor(gpu: GpuHandle, context: SourceContext, labels: GpuLabelSets, memoryBytes: number | undefined) {
    this.#gpu = gpu
    this.#context = context
    this.#labels = labels
    this.#memoryBytes = memoryBytes
  }

  /** The instances of the last reading, for the lists of their processes. */
  get present(): GpuInstance[] {
    return Array.from(this.#instances.values(), ({ device }) => ({
      handle: device.handle,
      id: String(device.instance),
    }))
  }

  /** Reads all instances. The series of an instance that left end before those of its successor begin. */
  read(time: bigint): void {
    const devices = migDevicesOf(this.#gpu, this.#memoryBytes)
    if (devices instanceof NvmlFailure) {
      this.leave(devices.error.message)
      this.#context.failed(this.#gpu.device, devices.error)
      return
    }
    const listed = new Map(devices.map((device) => [`${device.instance} ${device.uuid} ${device.profile}`, device]))
    const kept = new Set(devices.map(({ instance, profile }) => `${instance} ${profile}`))
    for (const [key, instance] of this.#instances) {
      const { instance: id, profile } = instance.device
      // The instance stays as long as it has another compute instance.
      if (!listed.has(key)) this.#end(key, instance, GONE, kept.has(`${id} ${profile}`))
    }
    const reported = new Set<number>()
    for (const [key, device] of listed) {
      const instance = this.#instances.get(key) ?? new Instance(this.#gpu, this.#context, this.#labels, device)
      instance.device = device
      this.#instances.set(key, instance)
      instance.describe(time)
      // Memory and activity are those of the instance, also if it has several compute instances.
      if (!reported.has(device.instance)) instance.report(time)
      reported.add(device.instance)
    }
  }

  /** Series of all instances leave the views. */
  leave(reason: string): void {
    for (const [key, instance] of this.#instances) this.#end(key, instance, reason)
  }

  /** Gives the memory of samples back; the series stay. */
  close(): void {
    for (const instance of this.#instances.values()) instance.close()
  }

  /** @param isKept Whether another device has the values of the instance. Default: no. */
  #end(key: string, instance: Instance, reason: string, isKept = false): void {
    this.#instances.delete(key)
    instance.end(reason, isKept)
  }
}

/** One MIG device. */
class Instance {
  device: MigDevice
  readonly #gpu: GpuHandle
  readonly #context: SourceContext
  readonly #info: Labels
  readonly #labels: Labels
  readonly #absences: FieldAbsences
  readonly #gpm: GpmSampler | NvmlFailure | undefined
  #sampledMs = Number.NEGATIVE_INFINITY

  constructor(gpu: GpuHandle, context: SourceContext, { labels, ownLabels }: GpuLabelSets, device: MigDevice) {
    this.#gpu = gpu
    this.#context = context
    this.device = device
    const of = { GPU_I_ID: String(device.instance), GPU_I_PROFILE: device.profile }
    this.#labels = { ...labels, ...of }
    this.#info = { ...ownLabels, ...of, MIG_UUID: device.uuid }
    this.#absences = new FieldAbsences(context.absences, nvmlMigType, this.#labels)
    const ids = GPM_FIELDS.map(([, [id]]) => id)
    this.#gpm = GpmSampler.open(gpu, ids, device.instance)
  }

  describe(time: bigint): void {
    const { instance, slices } = this.device
    const more = slices === undefined ? {} : { slices }
    this.#context.source.report(nvmlMigInfoType, { time, ...this.#info, GPU_I_ID: instance, ...more } as never)
  }

  report(time: bigint): void {
    const values: Record<string, number | Missing> = { ...this.#memory(), ...this.#activity() }
    const record: Record<string, unknown> = { time, ...this.#labels, GPU_I_ID: this.device.instance }
    for (const name of FIELDS) {
      const found = this.#absences.settle(name, values[name] ?? FIRST_SAMPLE)
      if (found !== undefined) record[name] = found
    }
    this.#context.source.report(nvmlMigType, record as never)
  }

  close(): void {
    if (this.#gpm instanceof GpmSampler) this.#gpm.close()
  }

  end(reason: string, isKept: boolean): void {
    this.close()
    if (!isKept) this.#context.absences.gone(nvmlMigType, this.#labels, reason)
    this.#context.absences.gone(nvmlMigInfoType, this.#info, reason)
  }

  #memory(): Record<string, number | Missing> {
    const memory = migMemory(this.#gpu, this.device)
    if (memory instanceof NvmlFailure) {
      const missing = new Missing(memory.kind, memory.error.message)
      return { fb_total: missing, fb_free: missing, fb_used: missing, fb_reserved: missing }
    }
    const mib = (bytes: bigint) => Number(bytes / BYTES_PER_MIB)
    return {
      fb_total: mib(memory.total),
      fb_free: mib(memory.free),
      fb_used: mib(memory.used),
      fb_reserved: mib(memory.reserved),
    }
  }

  #activity(): Record<string, number | Missing> {
    const every = (missing: Missing) => Object.fromEntries(GPM_FIELDS.map(([name]) => [name, missing]))
    const gpm = this.#gpm
    if (gpm === undefined) return every(NO_GPM)
    if (gpm instanceof NvmlFailure) return every(new Missing(gpm.kind, gpm.error.message))
    if (performance.now() - this.#sampledMs < GPM_APART_MS) return every(FIRST_SAMPLE)
    const means = gpm.sample()
    this.#sampledMs = performance.now()
    if (means === undefined) return every(FIRST_SAMPLE)
    if (means instanceof NvmlFailure) return every(new Missing(means.kind, means.error.message))
    return Object.fromEntries(
      GPM_FIELDS.map(([name, [, factor]], at) => {
        const mean = means[at] ?? Number.NaN
        const { kind, error } = new NvmlFailure(this.#gpu.device, 'nvmlGpmMetricsGet', NO_DATA)
        return [name, Number.isNaN(mean) ? new Missing(kind, error.message) : mean * factor]
      }),
    )
  }
}
