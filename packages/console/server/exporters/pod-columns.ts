import type { Labels, SeriesAnswer } from '@sonde/sdk'
import type { GpuField } from '@sonde/sdk/internal'
import type { RawName } from './expressions.ts'
import { type Targets, type Workload, workloadOf } from './workload.ts'

const MIB = 2 ** 20

/** One of the nine: the raw series that add up to it, how it is joined over GPUs, whether MIG instances have it. */
export interface Origin {
  readonly raws: readonly RawName[]
  /** Those of a MIG instance; none: it has no such number of its own. */
  readonly ofInstance: readonly RawName[]
  readonly factor: number
  readonly within: 'mean' | 'sum'
}

const ratio = (raw: RawName, ofInstance: readonly RawName[] = []): Origin => {
  return { raws: [raw], ofInstance, factor: 100, within: 'mean' }
}

/** Where each of the nine comes from; as the rows of an agent are made. */
export const ORIGINS: Readonly<Record<GpuField, Origin>> = {
  'gpu-util': { raws: ['util'], ofInstance: [], factor: 1, within: 'mean' },
  'gpu-mem-used': { raws: ['used'], ofInstance: ['used'], factor: MIB, within: 'sum' },
  'gpu-mem-total': { raws: ['used', 'free', 'reserved'], ofInstance: ['used', 'free'], factor: MIB, within: 'sum' },
  'gpu-tensor-active': ratio('tensor', ['tensor']),
  'gpu-sm-active': ratio('sm', ['sm']),
  'gpu-dram-active': ratio('dram', ['dram']),
  'gpu-fp16-active': ratio('fp16'),
  'gpu-fp32-active': ratio('fp32'),
  'gpu-power-w': { raws: ['power'], ofInstance: [], factor: 1, within: 'sum' },
}

/** One GPU of a pod, or an instance of one, over time. */
interface GpuColumns {
  readonly isInstance: boolean
  readonly raws: Map<RawName, Float64Array>
}

/** A pod over time. */
export interface PodColumns {
  workload: Workload
  readonly gpus: Map<string, GpuColumns>
  /** Numbers of the pod as a whole by their metric. */
  readonly own: Map<string, Float64Array>
}

/** Pods of series, by namespace and name. */
export class PodTable {
  readonly pods = new Map<string, PodColumns>()
  readonly #targets: Targets

  constructor(targets: Targets) {
    this.#targets = targets
  }

  /** Takes the series of a raw of GPUs. */
  takeGpus(name: RawName, series: readonly SeriesAnswer[]): void {
    for (const { labels, values } of series) {
      const pod = this.#podOf(labels)
      if (pod === undefined) continue
      const { GPU_I_ID: instance = '' } = labels
      const key = `${labels.UUID ?? labels.uuid ?? ''}/${instance}`
      const gpu: GpuColumns = pod.gpus.get(key) ?? { isInstance: instance !== '', raws: new Map() }
      pod.gpus.set(key, gpu)
      const known = gpu.raws.get(name)
      // Two jobs may scrape the same exporter, and one that restarted has another instance.
      gpu.raws.set(
        name,
        known === undefined ? values : known.map((value, i) => (value >= 0 ? value : (values[i] ?? value))),
      )
    }
  }

  /** Takes numbers of pods that kube-state-metrics knows: their pods are there without a GPU too. */
  takePods(metric: string, series: readonly SeriesAnswer[]): void {
    for (const { labels, values } of series) this.#named(labels).own.set(metric, values)
  }

  /** Takes the largest of a number that is told of each GPU. */
  takeLargest(metric: string, series: readonly SeriesAnswer[]): void {
    for (const { labels, values } of series) {
      const own = this.#podOf(labels)?.own
      const known = own?.get(metric)
      own?.set(metric, known === undefined ? values : known.map((value, i) => Math.max(value, values[i] ?? value)))
    }
  }

  /** Takes app and service of kube-state-metrics where the exporter does not copy labels of pods. */
  takeLabels(series: readonly SeriesAnswer[]): void {
    for (const { labels } of series) {
      const pod = this.#named(labels)
      const app = pod.workload.app || labels.label_app || labels.label_app_kubernetes_io_name || ''
      pod.workload = { ...pod.workload, app, service: pod.workload.service || labels.label_service || '' }
    }
  }

  #podOf(labels: Labels): PodColumns | undefined {
    const workload = workloadOf(labels, this.#targets)
    return workload === undefined ? undefined : this.#of(workload)
  }

  #named({ namespace = '', pod = '' }: Labels): PodColumns {
    return this.#of({ namespace, pod, app: '', service: '' })
  }

  #of(workload: Workload): PodColumns {
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

/** GPUs of a pod at each time; NaN where the pod is not there. */
export function gpuCounts({ gpus, own }: PodColumns, length: number, isOnlyInstances: boolean): Float64Array {
  const isAsking = [...own.values()]
  return Float64Array.from({ length }, (_, i) => {
    let all = 0
    let instances = 0
    for (const gpu of gpus.values()) {
      if (!isThere(gpu, i)) continue
      all++
      if (gpu.isInstance) instances++
    }
    const isPod = all > 0 || isAsking.some((values) => values[i] !== undefined && !Number.isNaN(values[i]))
    if (!isPod) return Number.NaN
    return isOnlyInstances ? instances : all
  })
}

/** One of the nine of a pod: ratios are averaged over its GPUs, and a sum needs those of all. */
export function numberOfPod({ gpus }: PodColumns, field: GpuField, length: number): Float64Array {
  const origin = ORIGINS[field]
  return Float64Array.from({ length }, (_, i) => {
    let sum = 0
    let count = 0
    let there = 0
    for (const gpu of gpus.values()) {
      if (!isThere(gpu, i)) continue
      there++
      const value = numberOfGpu(gpu, origin, i)
      if (Number.isNaN(value)) continue
      sum += value
      count++
    }
    if (count === 0) return Number.NaN
    if (origin.within === 'mean') return sum / count
    return count < there ? Number.NaN : sum
  })
}

function numberOfGpu({ isInstance, raws }: GpuColumns, origin: Origin, i: number): number {
  const names = isInstance ? origin.ofInstance : origin.raws
  if (names.length === 0) return Number.NaN
  return names.reduce((sum, name) => sum + (raws.get(name)?.[i] ?? Number.NaN), 0) * origin.factor
}

function isThere({ raws }: GpuColumns, i: number): boolean {
  for (const values of raws.values()) if ((values[i] ?? Number.NaN) >= 0) return true
  return false
}
