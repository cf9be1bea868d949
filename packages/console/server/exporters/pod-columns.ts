import type { Labels } from '@sonde/sdk'
import type { GpuField } from '@sonde/sdk/api'
import { labelSpelling, podAppOf, type SeriesAnswer } from '@sonde/sdk/internal'
import type { RawName } from './expressions.ts'
import {
  addGpuColumn,
  DeviceTable,
  GPU_FIELD_ORIGINS,
  type GpuDeviceColumns,
  type HeldColumns,
  holderCounts,
  isThere,
  numberOfDevice,
  numberOfProcesses,
} from './gpu-columns.ts'
import { type PodWorkload, type Targets, workloadOf } from './workload.ts'

/** A pod over time. */
export interface PodColumns {
  workload: PodWorkload
  readonly gpus: Map<GpuDeviceColumns, HeldColumns>
  /** Numbers of the whole pod, by metric. */
  readonly own: Map<string, Float64Array>
}

/** The pods of series, by namespace and name. */
export class PodColumnsTable {
  readonly pods = new Map<string, PodColumns>()
  readonly devices = new DeviceTable()
  readonly #targets: Targets

  constructor(targets: Targets) {
    this.#targets = targets
  }

  /** Adds the raw series of GPUs. */
  takeGpus(name: RawName, series: readonly SeriesAnswer[]): void {
    for (const { labels, values } of series) {
      const pod = this.#podOf(labels)
      const { held: device, told } = this.devices.of(labels, name)
      addGpuColumn(pod === undefined ? told.own : told.copied, name, values)
      if (pod === undefined) continue
      const held: HeldColumns = pod.gpus.get(device) ?? { device, raws: new Map() }
      pod.gpus.set(device, held)
      device.holders.add(held)
      addGpuColumn(held.raws, name, values)
    }
  }

  /** Adds numbers of pods from kube-state-metrics, which also knows pods without a GPU. */
  takePods(metric: string, series: readonly SeriesAnswer[]): void {
    for (const { labels, values } of series) this.#named(labels).own.set(metric, values)
  }

  /** Keeps the largest of a number that is reported once for each GPU. */
  takeLargest(metric: string, series: readonly SeriesAnswer[]): void {
    for (const { labels, values } of series) {
      const own = this.#podOf(labels)?.own
      const known = own?.get(metric)
      own?.set(metric, known === undefined ? values : known.map((value, i) => Math.max(value, values[i] ?? value)))
    }
  }

  /** Adds app and service from kube-state-metrics if the exporter does not copy labels of pods. */
  takeLabels(series: readonly SeriesAnswer[]): void {
    for (const { labels } of series) {
      const pod = this.#named(labels)
      const { app, service } = podAppOf((name) => labels[`label_${labelSpelling(name)}`] ?? '')
      pod.workload = { ...pod.workload, app: pod.workload.app || app, service: pod.workload.service || service }
    }
  }

  #podOf(labels: Labels): PodColumns | undefined {
    const workload = workloadOf(labels, this.#targets)
    return workload === undefined ? undefined : this.#of(workload)
  }

  #named({ namespace = '', pod = '' }: Labels): PodColumns {
    return this.#of({ namespace, pod, app: '', service: '' })
  }

  #of(workload: PodWorkload): PodColumns {
    const key = JSON.stringify([workload.namespace, workload.pod])
    const known = this.pods.get(key)
    if (known === undefined) {
      const pod: PodColumns = { workload, gpus: new Map(), own: new Map() }
      this.pods.set(key, pod)
      return pod
    }
    const { app, service } = known.workload
    known.workload = { ...known.workload, app: app || workload.app, service: service || workload.service }
    return known
  }
}

/** GPUs of a pod at each time; NaN if the pod does not exist then. */
export function gpuCounts({ gpus, own }: PodColumns, length: number, isOnlyInstances: boolean): Float64Array {
  const isAsking = [...own.values()]
  return Float64Array.from({ length }, (_, i) => {
    let all = 0
    let instances = 0
    for (const [device, held] of gpus) {
      if (!isThere(held, i)) continue
      all++
      if (device.instance !== '') instances++
    }
    const isPod = all > 0 || isAsking.some((values) => values[i] !== undefined && !Number.isNaN(values[i]))
    if (!isPod) return Number.NaN
    return isOnlyInstances ? instances : all
  })
}

/**
 * Number of other pods on the same device at each time: the maximum over the devices of a pod; NaN if it holds none.
 */
export function gpuSharers({ gpus }: PodColumns, length: number): Float64Array {
  return Float64Array.from({ length }, (_, i) => {
    let most = 0
    for (const [device, held] of gpus) if (isThere(held, i)) most = Math.max(most, holderCounts(device, length)[i] ?? 0)
    return most === 0 ? Number.NaN : most - 1
  })
}

/**
 * One of the nine numbers of a pod: ratios are averaged over its GPUs, and a sum needs all of them. For a GPU that
 * other pods hold too, the number covers only the processes of the pod.
 */
export function numberOfPod({ gpus }: PodColumns, field: GpuField, length: number): Float64Array {
  const { within } = GPU_FIELD_ORIGINS[field]
  return Float64Array.from({ length }, (_, i) => {
    let sum = 0
    let count = 0
    let there = 0
    for (const [device, held] of gpus) {
      if (!isThere(held, i)) continue
      there++
      const isAlone = holderCounts(device, length)[i] === 1
      const value = isAlone ? numberOfDevice(device, field, i) : numberOfProcesses(held, field, i)
      if (Number.isNaN(value)) continue
      sum += value
      count++
    }
    if (count === 0) return Number.NaN
    if (within === 'mean') return sum / count
    return count < there ? Number.NaN : sum
  })
}
